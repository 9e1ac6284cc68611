/** The longest URL that a page links to. */
const longest = 2000;

/**
 * A URL from a document that a page or a report may link to: absolute, https, without a name or
 * password. Null for anything else.
 */
export function httpsUrl(text: unknown): string | null {
  const url = typeof text === 'string' && text.length <= longest ? URL.parse(text) : null;
  return url?.protocol === 'https:' && url.username === '' && url.password === '' ? url.href : null;
}
