/** Lines shown before and after the line of a finding. */
const around = 1;
/** The longest piece of a line that is shown: with what stands before it, 80 columns. */
const widest = 68;

/**
 * The lines of a text around a place, with a mark under it: what a compiler prints below an error.
 * Long lines are cut to what is near the place. Empty if the text has no such line, or is in another
 * encoding.
 */
export function codeFrame(lines: readonly string[], { line, column }: { line: number; column: number }): string {
  if (line < 1 || line > lines.length || /[\0\uFFFD]/.test(lines[line - 1]!)) return '';
  const first = Math.max(1, line - around);
  const last = Math.min(lines.length, line + around);
  const width = String(last).length;
  const from = Math.max(0, column - 1 - widest / 2);
  const shown: string[] = [];
  for (let number = first; number <= last; number++) {
    const piece = cut(lines[number - 1]!, number === line ? from : 0);
    const gutter = `${number === line ? '>' : ' '} ${String(number).padStart(width)} |`;
    shown.push(`  ${gutter} ${piece}`.trimEnd());
    if (number === line)
      shown.push(`    ${' '.repeat(width)} | ${' '.repeat(column - 1 - from + (from > 0 ? 1 : 0))}^`);
  }
  return shown.join('\n');
}

function cut(line: string, from: number): string {
  const piece = line.slice(from, from + widest);
  // A tab is as wide as the terminal likes, so the mark would be elsewhere.
  const shown = piece.replaceAll('\t', ' ').replace(/\r$/, '');
  return `${from > 0 ? '…' : ''}${shown}${from + widest < line.length ? '…' : ''}`;
}
