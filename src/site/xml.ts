/**
 * Escapes text for XML 1.0 content and quoted attributes. Removes characters that XML forbids (XML
 * 1.0 §2.2).
 */
export function escapeXml(text: string): string {
  return text
    .toWellFormed()
    .replace(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, '')
    .replace(/[&<>"'\r]/g, (character) => `&#${character.charCodeAt(0)};`);
}
