/** A part of a Markdown text: a code span with its backticks, or the text between code spans. */
export interface Piece {
  isCode: boolean;
  text: string;
}

/**
 * Splits a text at its code spans (CommonMark §6.1). Unpaired backticks belong to the text. Takes
 * one pass.
 */
export function splitCode(text: string): Piece[] {
  if (!text.includes('`')) return [{ isCode: false, text }];
  const runs = [...text.matchAll(/`+/g)].map(({ 0: { length }, index }) => ({ length, index }));
  // The next run of the same length after each run, filled in from the end.
  const following = new Map<number, number>();
  const partners = runs.map(() => -1);
  for (let at = runs.length - 1; at >= 0; at--) {
    partners[at] = following.get(runs[at]!.length) ?? -1;
    following.set(runs[at]!.length, at);
  }
  const pieces: Piece[] = [];
  let done = 0;
  for (let at = 0; at < runs.length; at++) {
    const { index } = runs[at]!;
    const partner = runs[partners[at]!];
    if (partner === undefined || isEscaped(text, index, done)) continue;
    if (index > done) pieces.push({ isCode: false, text: text.slice(done, index) });
    done = partner.index + partner.length;
    pieces.push({ isCode: true, text: text.slice(index, done) });
    at = partners[at]!;
  }
  if (done < text.length) pieces.push({ isCode: false, text: text.slice(done) });
  return pieces;
}

/**
 * Whether an odd number of backslashes precedes the index. Those of a code span before it do not
 * count.
 */
function isEscaped(text: string, index: number, from: number): boolean {
  let count = 0;
  while (index - count > from && text[index - count - 1] === '\\') count++;
  return count % 2 === 1;
}
