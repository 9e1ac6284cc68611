const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Escapes text and quoted attributes of HTML. Characters that HTML forbids (NUL, lone surrogates) become U+FFFD. */
export function escapeHtml(value: string): string {
  return value.replace(/[&<>"'\0\p{Surrogate}]/gu, escapeCharacter);
}

/** Escapes text of HTML only. Keeps quotes, which examples are full of. */
export function escapeText(value: string): string {
  return value.replace(/[&<>\0\p{Surrogate}]/gu, escapeCharacter);
}

/** Escapes text and quoted attributes of XML 1.0. Characters that XML forbids (§2.2) become U+FFFD. */
export function escapeXml(value: string): string {
  return value
    .replace(/[&<>"']|[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, escapeCharacter)
    .replaceAll('\r', '&#13;');
}

function escapeCharacter(character: string): string {
  return entities[character] ?? '\uFFFD';
}

/** Rows as CSV (RFC 4180). */
export function csvText(rows: readonly (readonly (string | number)[])[]): string {
  return rows.map((row) => `${row.map(cellOf).join(',')}\r\n`).join('');
}

/** A value as a cell. Spreadsheets run what begins like a formula, so such a text begins with an apostrophe. */
export function cellOf(value: string | number): string {
  if (typeof value === 'number') return String(value);
  const text = /^[=+\-@\t\r\n|%]/.test(value) ? `'${value}` : value;
  return /[",\r\n']/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/**
 * Makes untrusted text safe for a terminal: control characters and characters that reorder a line
 * (Unicode UAX #9) become `\u{…}`, so they cannot move the cursor or hide text. Line breaks are
 * escaped too unless `lines` is true.
 */
export function visible(text: string, { lines = false }: { lines?: boolean } = {}): string {
  return text.replace(/[\p{Cc}\u2028-\u202E\u2066-\u2069]/gu, (character) =>
    (lines && character === '\n') || character === '\t' ? character : `\\u{${character.codePointAt(0)!.toString(16)}}`,
  );
}

/** At most `max` characters of a text; `…` marks a cut. */
export function cut(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

/** A text in one line of at most `max` characters, cut between words; `…` marks a cut. */
export function oneLine(text: string, max: number): string {
  const line = text
    .slice(0, max * 2 + 200)
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .toWellFormed();
  const end = line.slice(0, max).lastIndexOf(' ');
  return line.length > max && end > max / 2 ? `${line.slice(0, end)}…` : cut(line, max);
}

/** The same without characters that nobody sees, such as those that turn the direction of a line. */
export function visibleLine(text: string, max: number): string {
  return oneLine(text.replace(/\p{Cf}+/gu, ' '), max);
}

const longestUrl = 2000;

/**
 * A URL from a document that a page or a report may link to: absolute, https, without a name or
 * password. Null for anything else.
 */
export function httpsUrl(text: unknown): string | null {
  const url = typeof text === 'string' && text.length <= longestUrl ? URL.parse(text) : null;
  return url?.protocol === 'https:' && url.username === '' && url.password === '' ? url.href : null;
}

/** Percent-encoded text, decoded (RFC 3986 §2.1). Null if an escape is invalid. */
export function decodePercent(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

/** A segment of a path, decoded. Null if that is impossible, or gives a slash or control character. */
export function decodeSegment(segment: string): string | null {
  const text = decodePercent(segment);
  return text === null || /[/\\\p{Cc}]/u.test(text) ? null : text;
}

/** A template with these values in it: a text in place of its name, `{{name}}`, or lines in place of the line that names them. */
export function fillText(text: string, values: Readonly<Record<string, string | readonly string[]>>): string {
  return text.replaceAll(/\{\{(\w+)\}\}(\n?)/g, (_, key: string, end: string) => {
    const value = values[key]!;
    return typeof value === 'string' ? value + end : value.map((line) => `${line}\n`).join('');
  });
}
