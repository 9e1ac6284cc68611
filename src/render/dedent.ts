/**
 * A text without indentation that is an accident, such as that of a comment in code or of a file that
 * was indented once more: what all of its lines share, or all but the first. In the second case the
 * second line must continue the first, since an indented line after a blank one is code.
 */
export function dedent(text: string): string {
  const [first = '', ...rest] = text.replace(/^(?:[ \t]*\r?\n)+/, '').split('\n');
  if (/^[ \t]/.test(first)) return without(sharedBy([first, ...rest]), [first, ...rest]) ?? text;
  const shared = /^[ \t]+\S/.test(rest[0] ?? '') && !isItem(first) ? sharedBy(rest) : '';
  // Less is not code, and may be what keeps a line in a list.
  if (shared.length < 4 && !shared.includes('\t')) return text;
  return `${first}\n${without(shared, rest)}`;
}

function isItem(line: string): boolean {
  return /^ {0,3}(?:[-*+>]|\d{1,9}[.)])(?:\s|$)/.test(line);
}

/** The indentation that all lines begin with, but those that are blank. */
function sharedBy(lines: readonly string[]): string {
  let shared: string | null = null;
  for (const line of lines) {
    const indent = /^[ \t]*/.exec(line)![0];
    if (indent.length === line.trimEnd().length || line.trim() === '') continue;
    if (shared === null) shared = indent;
    while (!indent.startsWith(shared)) shared = shared.slice(0, -1);
    if (shared === '') break;
  }
  return shared ?? '';
}

function without(indent: string, lines: readonly string[]): string | null {
  if (indent === '') return null;
  return lines.map((line) => (line.startsWith(indent) ? line.slice(indent.length) : line)).join('\n');
}
