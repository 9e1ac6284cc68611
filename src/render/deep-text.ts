import type { MarkdownIt } from 'markdown-it';

/**
 * Keeps what is nested deeper than `maxNesting` as text. markdown-it would leave it out, and with it
 * all that follows a list that is so deep. `found` gets each such place: what the page is parsed
 * with, and its first line, counted from 0.
 */
export function keepDeepText(markdown: MarkdownIt, found: (env: object, line: number) => void = () => undefined): void {
  const { block, options } = markdown;
  const tokenize = block.tokenize.bind(block);
  block.tokenize = (state, startLine, endLine) => {
    if (state.level < options.maxNesting!) return tokenize(state, startLine, endLine);
    const start = state.skipEmptyLines(startLine);
    let end = start;
    while (end < endLine && (state.isEmpty(end) || state.sCount[end]! >= state.blkIndent)) end++;
    state.line = Math.min(end, endLine);
    if (end <= start) return;
    found(state.env, start);
    state.push('paragraph_open', 'p', 1).map = [start, end];
    const inline = state.push('inline', '', 0);
    inline.content = state.getLines(start, end, state.blkIndent, false).trim();
    inline.map = [start, end];
    inline.children = [];
    state.push('paragraph_close', 'p', -1);
  };
}
