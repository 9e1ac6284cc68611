import type { MarkdownIt } from 'markdown-it';
import { folds } from './tags-to-markdown.ts';

type State = Parameters<Parameters<InstanceType<typeof MarkdownIt>['core']['ruler']['push']>[1]>[0];
type Tokens = State['tokens'];

const deepest = 8;

/** Makes plain cells of headers of tables that are empty: they say nothing of their column. */
export function clearEmptyHeaders({ tokens }: State): void {
  for (const [at, token] of tokens.entries())
    if (token.type === 'th_open' && tokens[at + 1]!.content === '') token.tag = tokens[at + 2]!.tag = 'td';
}

/**
 * Makes `<details>` of the paragraphs that `tagsToMarkdown` left for them. An unclosed one ends
 * with the text; a closing mark without an opening one, or one in a list or quote, is dropped.
 */
export function foldTokens(state: State): void {
  if (!state.tokens.some(({ content }) => /[\uE001-\uE003]/.test(content))) return;
  const html = (content: string) => Object.assign(new state.Token('html_block', '', 0), { content });
  const folded: Tokens = [];
  let depth = 0;
  for (let at = 0; at < state.tokens.length; at++) {
    const token = state.tokens[at]!;
    const mark = token.type === 'paragraph_open' ? markOf(state.tokens[at + 1]) : null;
    if (mark === null) {
      folded.push(token);
      continue;
    }
    const isTop = token.level === 0;
    if (mark === folds.summary) {
      folded.push(token, state.tokens[at + 1]!, state.tokens[at + 2]!);
    } else if (mark === folds.close && isTop && depth > 0) {
      depth -= 1;
      folded.push(html('</details>'));
    } else if (mark === folds.open && isTop && depth < deepest) {
      depth += 1;
      const next = state.tokens[at + 4];
      const isNamed = state.tokens[at + 3]?.type === 'paragraph_open' && markOf(next) === folds.summary;
      if (isNamed) folded.push(html('<details><summary>'), next!, html('</summary>'));
      else folded.push(html('<details><summary>Details</summary>'));
      if (isNamed) at += 3;
    }
    at += 2;
  }
  state.tokens = [...folded, ...Array.from({ length: depth }, () => html('</details>'))];
}

/** The mark of a paragraph's content, which is taken out of it. */
function markOf(inline: Tokens[number] | undefined): string | null {
  if (inline === undefined) return null;
  const { content } = inline;
  if (content === folds.open || content === folds.close) return content;
  if (!content.startsWith(folds.summary)) return null;
  const first = inline.children?.[0];
  if (first) first.content = first.content.replace(folds.summary, '');
  return folds.summary;
}

/** Writes tables and numbered lists as pages show them. */
export function addBlockRules({ renderer: { rules } }: MarkdownIt): void {
  // Words stay whole on a narrow screen: a table that is too wide scrolls in its box, which the keyboard must reach.
  rules['table_open'] = () => '<div class="table" tabindex="0"><table>\n';
  rules['table_close'] = () => '</table></div>\n';
  rules['ordered_list_open'] = (tokens, at) => {
    const start = Number(tokens[at]!.attrGet('start') ?? 1);
    return start === 1 ? '<ol>\n' : `<ol start="${Math.trunc(start)}">\n`;
  };
}

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
