/**
 * A row of a map: the source (`~` marks an expression) and its value, in which `$name` is a
 * variable.
 */
export type Row = readonly [string, string];

/** A `map` block. The default value is empty. */
export function map(source: string, variable: string, rows: readonly Row[]): string {
  const from = source.startsWith('"') ? source : `"${source}"`;
  const lines = rows.map(
    ([key, value]) => `  ${key === 'default' ? key : quoteForNginx(key)} ${quoteForNginx(value)};`,
  );
  return [`map ${from} ${variable} {`, ...lines, '}'].join('\n');
}

/** Empty if this is empty, which is looked up; else what `…_if` is. */
export function unless(source: string, variable: string): string {
  return map(source, variable, [
    ['', ''],
    ['default', `${variable}_if`],
  ]);
}

/** Quotes a text for nginx. */
export function quoteForNginx(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}

/** Quotes a text without variables. nginx has no escape for a dollar sign. */
export function literal(text: string): string {
  return text.replaceAll('$', '${stele_dollar}');
}

/** An expression that matches exactly this text. */
export function exactly(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&');
}
