/** A row of a map: what the source is (`~` before an expression), and what it becomes. In a value `$name` is a variable. */
export type Row = readonly [string, string];

/** A `map` block. What no row takes in becomes empty. */
export function map(source: string, variable: string, rows: readonly Row[]): string {
  const from = source.startsWith('"') ? source : `"${source}"`;
  const lines = rows.map(([key, value]) => `  ${key === 'default' ? key : quote(key)} ${quote(value)};`);
  return [`map ${from} ${variable} {`, ...lines, '}'].join('\n');
}

/** A text as nginx reads it between quotes. */
export function quote(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}

/** A text in which nothing is a variable: nginx has no escape for a dollar sign. */
export function literal(text: string): string {
  return text.replaceAll('$', '${stele_dollar}');
}

/** An expression that matches the text alone. */
export function exactly(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&');
}
