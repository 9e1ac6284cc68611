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
