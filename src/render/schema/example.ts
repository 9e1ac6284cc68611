import { createOnce, entriesOf } from '../json-value.ts';
import { markup, nothing, type Html, outsideLink } from '../html.ts';

const once = createOnce();

/** Longest example, in characters. */
const longest = 6000;

/**
 * An example as text: a string as it is, other values as indented JSON. `left`: at least how many
 * characters were cut.
 */
export function exampleText(value: unknown): { text: string; left: number } {
  if (typeof value === 'string') return cut(value);
  // Many operations may share an example.
  return typeof value === 'object' && value !== null ? once(value, 'text', () => jsonText(value)) : jsonText(value);
}

function jsonText(value: unknown): { text: string; left: number } {
  const lines: string[] = [];
  const size = write(value, '', '', lines, 0, 0);
  return size > longest * 4 ? { text: cut(lines.join('\n')).text, left: size - longest } : cut(lines.join('\n'));
}

function cut(text: string): { text: string; left: number } {
  const shown = text.length <= longest + 500 ? text : text.slice(0, longest);
  return { text: shown.toWellFormed(), left: text.length - shown.length };
}

/** Writes JSON line by line and stops at the limit. Returns the number of characters. */
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
  const members: readonly (readonly [string | number, unknown])[] = isList
    ? (value as unknown[]).slice(0, longest * 4).map((member, at) => [at, member])
    : entriesOf(value);
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

/**
 * A value as text: a string as it is, other values as JSON on one line. Cut after `length`
 * characters and marked with `…`.
 */
export function valueText(value: unknown, length = 1000): string {
  const text = typeof value === 'string' ? value.slice(0, length + 1) : lineOf(value, length, 0);
  return (text.length > length ? `${text.slice(0, length)}…` : text).toWellFormed();
}

/** JSON without spaces, cut soon after `left` characters. */
function lineOf(value: unknown, left: number, depth: number): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, left + 1));
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? '';
  if (depth > 50) return '…';
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  let text = open!;
  for (const [name, member] of Array.isArray(value) ? value.slice(0, left).entries() : entriesOf(value)) {
    if (text.length > left) return text;
    if (text.length > 1) text += ',';
    if (typeof name === 'string') text += `${lineOf(name, left, depth)}:`;
    text += lineOf(member, left - text.length, depth + 1);
  }
  return text + close!;
}

/** An example in a document. */
export interface Example {
  /** Its summary or name; may be empty. */
  name: string;
  value: unknown;
  /** Whether the value is only the address of the example. */
  isElsewhere?: true;
  /** Media type of the body that it is an example of. */
  type?: string;
}

/** Folded examples; short ones are on one line. Long ones are cut and marked. */
export function examplesHtml(examples: readonly Example[]): Html {
  const short = examples.filter(
    ({ name, value, isElsewhere }) => isElsewhere !== true && name === '' && isShort(value),
  );
  const long = examples.filter((example) => !short.includes(example)).slice(0, 10);
  const line =
    short.length === 0
      ? nothing
      : markup`<p class="values">Example${short.map(({ value }) => markup` <code>${exampleText(value).text}</code>`)}</p>`;
  return markup`${line}${long.map(({ name, value, isElsewhere }) => {
    if (isElsewhere) return markup`<p class="values">Example ${outsideLink(String(value), name)}</p>`;
    const { text, left } = exampleText(value);
    const more = left === 0 ? nothing : markup`<p class="more">${left} more characters not shown.</p>`;
    return markup`<details class="example">
      <summary>Example${name === '' ? '' : `: ${name.slice(0, 300)}`}</summary>
      <pre><code>${text}</code></pre>
      ${more}
    </details>`;
  })}`;
}

function isShort(value: unknown): boolean {
  return typeof value === 'object' && value !== null ? false : String(value).length <= 100;
}
