/**
 * Whether a path is plain, as git's own are: relative, `/` between segments, no segment empty, `.` or `..`, no NUL. Such a path
 * cannot lead out of the tree it is looked up in.
 */
export function isPlainPath(path: string): boolean {
  return !path.includes('\0') && path.isWellFormed() && path.split('/').every(isPlainSegment);
}

/** Whether a name may stand between two slashes. */
export function isPlainSegment(name: string): boolean {
  return name !== '' && name !== '.' && name !== '..';
}

const formats = ['.yaml', '.yml', '.json'];

/**
 * Which of these names a person probably meant: the one that differs only in letter case or Unicode form, else the one that differs only
 * in which of `.yaml`, `.yml`, `.json` it ends in; null where there is none.
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
