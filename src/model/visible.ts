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

/** The longest URL that a page links to. */
const longestUrl = 2000;

/**
 * A URL from a document that a page or a report may link to: absolute, https, without a name or
 * password. Null for anything else.
 */
export function httpsUrl(text: unknown): string | null {
  const url = typeof text === 'string' && text.length <= longestUrl ? URL.parse(text) : null;
  return url?.protocol === 'https:' && url.username === '' && url.password === '' ? url.href : null;
}
