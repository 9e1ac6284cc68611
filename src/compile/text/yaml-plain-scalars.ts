import { CST } from 'yaml';

/** Thrown where a text needs the library (`yaml-plain.ts`). */
export const needsLibrary = new Error('This YAML needs the library.');

/** Ends the quick reading of a text. */
export function giveUp(): never {
  throw needsLibrary;
}

const maybeTyped = /^[-+.\d~nNtTfF]/;
const integer = /^[-+]?\d+$/;
const decimal = /^[-+]?(?:\.\d+|\d+\.\d*)$/;
/** What the core schema reads in a way of its own: octal, hexadecimal, exponents, infinity. */
const unusualNumber =
  /^(?:0[ox][\da-fA-F]+|[-+]?(?:\.\d+|\d+(?:\.\d*)?)[eE][-+]?\d+|[-+]?\.(?:inf|Inf|INF)|\.nan|\.NaN|\.NAN)$/;
const words: ReadonlyMap<string, boolean | null> = new Map([
  ...['true', 'True', 'TRUE'].map((word) => [word, true] as const),
  ...['false', 'False', 'FALSE'].map((word) => [word, false] as const),
  ...['', '~', 'null', 'Null', 'NULL'].map((word) => [word, null] as const),
]);

/** The value of a plain scalar on one line (YAML 1.2 §10.3, core schema). */
export function plainValue(source: string): string | number | boolean | null {
  if (source !== '' && !maybeTyped.test(source)) return source;
  const word = words.get(source);
  if (word !== undefined) return word;
  // Longer ones may not fit a double.
  if (integer.test(source) || decimal.test(source)) return source.length > 15 ? giveUp() : Number(source);
  return unusualNumber.test(source) ? giveUp() : source;
}

/** The value of a quoted scalar, with its quotes. */
export function quotedValue(source: string): string {
  if (source.includes('\n')) return foldedValue(source);
  if (source.startsWith("'")) return source.slice(1, -1).replaceAll("''", "'");
  if (!source.includes('\\')) return source.slice(1, -1);
  // The escapes of JSON mean the same in YAML, which has more.
  try {
    const value = JSON.parse(source) as string;
    return value.isWellFormed() ? value : giveUp();
  } catch {
    return giveUp();
  }
}

/** The value of a plain or quoted scalar on several lines. */
export function foldedValue(source: string): string {
  const quotes = { "'": 'single-quoted-scalar', '"': 'double-quoted-scalar' } as const;
  const type = quotes[source[0] as keyof typeof quotes] ?? 'scalar';
  const { value } = CST.resolveAsScalar({ type, offset: 0, indent: 0, source }, true, giveUp);
  return value.isWellFormed() ? value : giveUp();
}

/** The value of a block scalar: `header` is such as `|-`, `source` the lines below it. */
export function blockValue(header: string, source: string, indent: number): string {
  const props: CST.SourceToken[] = [{ type: 'block-scalar-header', offset: 0, indent, source: header }];
  return CST.resolveAsScalar({ type: 'block-scalar', offset: 0, indent, props, source }, true, giveUp).value;
}
