import type { MarkdownIt } from 'markdown-it';
import { parseCoordinate } from '../../model/address.ts';

/** What a line `::reference @acme/apis/payments` or `::operation @acme/apis/payments GET /payments` names. */
export interface EmbedLine {
  coordinate: string;
  operation: string | null;
}

/** Parses a line that embeds a reference. Null for any other text. */
function parseEmbedLine(line: string): EmbedLine | null {
  const [, kind, coordinate, operation] =
    /^::(reference|operation)[ \t]+(\S{1,400})(?:[ \t]+(\S.{0,999}))?$/.exec(line.trimEnd()) ?? [];
  if (coordinate === undefined || parseCoordinate(coordinate) === null) return null;
  if ((kind === 'operation') !== (operation !== undefined)) return null;
  return { coordinate, operation: operation?.trim() ?? null };
}

/**
 * Makes a token `embed` of such a line, if it stands alone outside of lists and quotes; its `meta`
 * is the EmbedLine. Elsewhere it stays text.
 */
export function addEmbeds(markdown: MarkdownIt): void {
  markdown.block.ruler.before(
    'fence',
    'embed',
    (state, start, _end, silent) => {
      if (state.level > 0 || state.sCount[start]! - state.blkIndent >= 4) return false;
      const line = state.src.slice(state.bMarks[start]! + state.tShift[start]!, state.eMarks[start]!);
      const embed = line.startsWith('::') ? parseEmbedLine(line) : null;
      if (embed === null) return false;
      if (silent) return true;
      const token = state.push('embed', '', 0);
      token.map = [start, start + 1];
      token.meta = { ...embed };
      state.line = start + 1;
      return true;
    },
    { alt: ['paragraph'] },
  );
}
