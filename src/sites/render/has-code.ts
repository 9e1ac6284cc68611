/** Whether a page has code in a language, for which the highlighter is needed. */
export function hasCode(bytes: Uint8Array): boolean {
  return /(?:^|\n)[ \t>*+-]*(?:```|~~~)[ \t]*[A-Za-z]/.test(Buffer.from(bytes).toString('latin1'));
}
