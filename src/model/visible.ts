/**
 * Text of others for a terminal: control characters and those that reorder a line (Unicode UAX #9) are written as `\u{…}`, so that they can
 * neither move the cursor nor hide anything. A line break is one of them unless `lines` is true.
 */
export function visible(text: string, { lines = false }: { lines?: boolean } = {}): string {
  return text.replace(/[\p{Cc}\u2028-\u202E\u2066-\u2069]/gu, (character) =>
    (lines && character === '\n') || character === '\t' ? character : `\\u{${character.codePointAt(0)!.toString(16)}}`,
  );
}
