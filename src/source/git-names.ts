/**
 * Whether a path is plain, as in git: relative, with `/` between segments, no segment empty, `.` or
 * `..`, and no NUL. Such a path cannot lead out of its tree.
 */
export function isPlainPath(path: string): boolean {
  return !path.includes('\0') && path.isWellFormed() && path.split('/').every(isPlainSegment);
}

/** Whether a name may be a segment of a plain path. */
export function isPlainSegment(name: string): boolean {
  return name !== '' && name !== '.' && name !== '..';
}

/** A folder as records have it: without `./` before and `/` behind it. `''`: the whole tree. */
export function plainFolder(folder: string): string {
  return folder.replace(/^(?:\.?\/)+|\/+$/g, '').replace(/^\.$/, '');
}

const formats = ['.yaml', '.yml', '.json'];

/**
 * The name that was probably meant: one that differs only in case or Unicode form, or else only in
 * its ending (`.yaml`, `.yml`, `.json`). Null when there is none.
 */
export function nearestName(wanted: string, names: readonly string[]): string | null {
  const folded = fold(wanted);
  const exact = names.find((name) => fold(name) === folded);
  if (exact !== undefined) return exact;
  const ending = formats.find((format) => folded.endsWith(format));
  if (ending === undefined) return null;
  const stem = folded.slice(0, -ending.length);
  return names.find((name) => formats.some((format) => fold(name) === stem + format)) ?? null;
}

function fold(name: string): string {
  return name.normalize('NFKC').toLowerCase();
}

/** Whether a text is a revision and a path, as git writes it: `origin/main:openapi.yaml`. */
export function isRevision(text: string): boolean {
  return /^[^:\s-][^:\s]*:(?!\/)./.test(text);
}

/**
 * Whether the text is a valid branch name: the rules of git-check-ref-format(1) for
 * `refs/heads/<name>`, and no leading `-`, like `git branch`. Check it before passing
 * `refs/heads/<name>` to git.
 */
export function isBranchName(name: string): boolean {
  return (
    name.length > 0 &&
    Buffer.byteLength(name) <= 1000 &&
    name.isWellFormed() &&
    !name.startsWith('-') &&
    name !== '@' &&
    !/[\p{Cc} ~^:?*[\\]/u.test(name) &&
    !name.includes('..') &&
    !name.includes('@{') &&
    !name.endsWith('.') &&
    name.split('/').every((part) => part !== '' && !part.startsWith('.') && !part.endsWith('.lock'))
  );
}

/** Whether the text is `HEAD` or the full name of a valid ref: `refs/heads/main`, `refs/pull/7/head`. */
export function isRefName(name: string): boolean {
  return name === 'HEAD' || (/^refs\/[a-z-]+\//.test(name) && isBranchName(name.replace(/^refs\/[a-z-]+\//, '')));
}
