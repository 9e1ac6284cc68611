/** A header field, its value as Caddy reads it. */
export type Field = readonly [string, string];

/** A `map` of what a path names. */
export function mapLines(
  variable: string,
  rows: readonly (readonly [string, string])[],
  source = '{vars.stele_name}',
): string[] {
  const lines = rows.map(([from, to]) => `\t\t${from.startsWith('~') ? pattern(from) : quote(from)} ${quote(to)}`);
  return [`\tmap ${source} {${variable}} {`, ...lines, '\t\tdefault ""', '\t}'];
}

/** Fields that are set when the answer is written, and so of no error. */
export function deferred(matcher: string, fields: readonly Field[]): string[] {
  return [`\theader ${matcher} {`, '\t\tdefer', ...fields.map(([name, value]) => `\t\t${name} ${value}`), '\t}'];
}

/** A text as Caddy reads it, in which nothing is a placeholder. Only quotes are escaped there: a backslash, which no field of ours needs, is left out. */
export function quote(text: string): string {
  return `"${text.replaceAll('\\', '').replaceAll('"', '\\"').replaceAll('{', '\\{')}"`;
}

/** An expression as Caddy reads it: between backticks nothing is escaped. */
export function pattern(text: string): string {
  return `\`${text}\``;
}
