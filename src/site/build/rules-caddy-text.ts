/** A header field with its value in Caddy's syntax. */
export type Field = readonly [string, string];

/** A `map` by path. */
export function mapLines(
  variable: string,
  rows: readonly (readonly [string, string])[],
  source = '{vars.stele_name}',
): string[] {
  const lines = rows.map(
    ([from, to]) => `\t\t${from.startsWith('~') ? pattern(from) : quoteForCaddy(from)} ${quoteForCaddy(to)}`,
  );
  return [`\tmap ${source} {${variable}} {`, ...lines, '\t\tdefault ""', '\t}'];
}

/** Deferred fields: set when the response is written, so errors do not have them. None: no line, since Caddy 2.6 dies of an empty block. */
export function deferred(matcher: string, fields: readonly Field[]): string[] {
  if (fields.length === 0) return [];
  return [`\theader ${matcher} {`, '\t\tdefer', ...fields.map(([name, value]) => `\t\t${name} ${value}`), '\t}'];
}

/**
 * Quotes a text for Caddy, without placeholders. Caddy escapes only quotes, so backslashes, which
 * our fields do not need, are removed.
 */
export function quoteForCaddy(text: string): string {
  return `"${text.replaceAll('\\', '').replaceAll('"', '\\"').replaceAll('{', '\\{')}"`;
}

/** Quotes an expression for Caddy. Nothing is escaped between backticks. */
export function pattern(text: string): string {
  return `\`${text}\``;
}

/** The content type of a kind of files, with its parameters. */
export function contentTypeOf(kind: string, type: string): string {
  if (kind === 'catalog') return `${type}; profile="https://www.rfc-editor.org/info/rfc9727"`;
  return /^text\/|atom/.test(type) && !type.includes(';') ? `${type}; charset=utf-8` : type;
}
