/** Characters after which an example is cut. */
const longest = 6000;

/** An example as text: a string as it is, everything else as indented JSON. `left`: characters that were cut, at least. */
export function exampleText(value: unknown): { text: string; left: number } {
  if (typeof value === 'string') return cut(value);
  const lines: string[] = [];
  const size = write(value, '', '', lines, 0, 0);
  return size > longest * 4 ? { text: cut(lines.join('\n')).text, left: size - longest } : cut(lines.join('\n'));
}

function cut(text: string): { text: string; left: number } {
  const shown = text.length <= longest + 500 ? text : text.slice(0, longest);
  return { text: shown.toWellFormed(), left: text.length - shown.length };
}

/** Writes JSON line by line, and stops where nobody reads on. Gives the characters written. */
function write(value: unknown, before: string, after: string, lines: string[], depth: number, size: number): number {
  const indent = '  '.repeat(Math.min(depth, 30));
  const put = (text: string): number => {
    lines.push(indent + text);
    return size + indent.length + text.length + 1;
  };
  if (size > longest * 4) return size;
  const isList = Array.isArray(value);
  if (typeof value !== 'object' || value === null) return put(before + (JSON.stringify(value) ?? 'null') + after);
  const [open, close] = isList ? ['[', ']'] : ['{', '}'];
  const members = Object.entries(value);
  if (members.length === 0) return put(before + open + close + after);
  if (depth > 100) return put(`${before}${open}…${close}${after}`);
  size = put(before + open);
  for (const [at, [name, member]] of members.entries()) {
    if (size > longest * 4) return size;
    const comma = at < members.length - 1 ? ',' : '';
    size = write(member, isList ? '' : `${JSON.stringify(name)}: `, comma, lines, depth + 1, size);
  }
  return put(close + after);
}

/** A value as a reader reads it: text as it is, everything else as JSON in one line. */
export function valueText(value: unknown): string {
  if (typeof value === 'string') return value.slice(0, 1000);
  const json = isTooDeep(value, 20) ? '…' : (JSON.stringify(value) ?? '');
  return json.length > 1000 ? `${json.slice(0, 1000)}…` : json;
}

function isTooDeep(value: unknown, left: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return left === 0 || Object.values(value).some((child) => isTooDeep(child, left - 1));
}
