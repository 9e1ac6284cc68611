import { entriesOf, once } from '../json-value.ts';
import { markup, nothing, type Html, outsideLink } from '../html.ts';

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
  const text = upTo(longest * 4, jsonOf(value, longest * 4, true));
  return text.length > longest * 4 ? { text: cut(text).text, left: text.length - longest } : cut(text);
}

function cut(text: string): { text: string; left: number } {
  const shown = text.length <= longest + 500 ? text : text.slice(0, longest);
  return { text: shown.toWellFormed(), left: text.length - shown.length };
}

/** JSON piece by piece: on lines with indentation, or on one without spaces. Strings are cut soon after `max` characters. */
function* jsonOf(value: unknown, max: number, isOnLines: boolean, depth = 0): Generator<string> {
  if (typeof value !== 'object' || value === null)
    return yield JSON.stringify(typeof value === 'string' ? value.slice(0, max + 1) : value) ?? 'null';
  const [open, close] = Array.isArray(value) ? (['[', ']'] as const) : (['{', '}'] as const);
  if (depth > deepest) return yield `${open}…${close}`;
  const line = isOnLines ? `\n${'  '.repeat(Math.min(depth, 30))}` : '';
  let before: string = open;
  for (const [name, member] of Array.isArray(value) ? value.slice(0, max).entries() : entriesOf(value)) {
    yield isOnLines ? `${before}${line}  ` : before;
    if (typeof name === 'string') yield JSON.stringify(name.slice(0, max + 1)) + (isOnLines ? ': ' : ':');
    yield* jsonOf(member, max, isOnLines, depth + 1);
    before = ',';
  }
  yield before === open ? open + close : line + close;
}

const deepest = 100;

/** The pieces up to the one that goes beyond so many characters. */
function upTo(max: number, pieces: Iterable<string>): string {
  let text = '';
  for (const piece of pieces) if ((text += piece).length > max) break;
  return text;
}

/**
 * A value as text: a string as it is, other values as JSON on one line. Cut after `length`
 * characters and marked with `…`.
 */
export function valueText(value: unknown, length = 1000): string {
  const text = typeof value === 'string' ? value.slice(0, length + 1) : upTo(length, jsonOf(value, length, false));
  return (text.length > length ? `${text.slice(0, length)}…` : text).toWellFormed();
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
  const short = examples.filter(({ name, value, isElsewhere }) => !isElsewhere && name === '' && isShort(value));
  const long = examples.filter((example) => !short.includes(example)).slice(0, 10);
  const line =
    short.length === 0
      ? nothing
      : markup`<p class="values">Example${short.map(({ value }) => markup` <code>${exampleText(value).text}</code>`)}</p>`;
  return markup`${line}${long.map(({ name, value, isElsewhere }) => {
    if (isElsewhere) return markup`<p class="values">Example ${outsideLink(String(value), name)}</p>`;
    const title = markup`Example${name === '' ? '' : `: ${name.slice(0, 300)}`}`;
    return markup`<details class="example">${exampleHtml(title, { value })}</details>`;
  })}`;
}

/** The inside of a fold with an example; null: a body that is empty. */
export function exampleHtml(title: Html, example: Pick<Example, 'value' | 'isElsewhere'> | null): Html {
  if (example === null) return markup`<summary>${title}</summary><p class="more">No body.</p>`;
  const { value, isElsewhere } = example;
  if (isElsewhere) return markup`<summary>${title}</summary><p>${outsideLink(String(value), '')}</p>`;
  const { text, left } = exampleText(value);
  const more = left === 0 ? nothing : markup`<p class="more">${left} more characters not shown.</p>`;
  // It scrolls in its box, which the keyboard must reach.
  return markup`<summary>${title}</summary><pre tabindex="0"><code>${text}</code></pre>${more}`;
}

function isShort(value: unknown): boolean {
  return typeof value === 'object' && value !== null ? false : String(value).length <= 100;
}
