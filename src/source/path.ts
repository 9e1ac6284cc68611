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
