import type MarkdownIt from 'markdown-it';
import { folds } from './tags-to-markdown.ts';

type State = Parameters<Parameters<InstanceType<typeof MarkdownIt>['core']['ruler']['push']>[1]>[0];
type Tokens = State['tokens'];

const deepest = 8;

/**
 * Makes `<details>` of the paragraphs that `tagsToMarkdown` left for them. What is not closed ends with the
 * text; what closes nothing, or stands in a list or a quote, is left out.
 */
export function foldTokens(state: State): void {
  if (!/[\uE001-\uE003]/.test(state.src)) return;
  const html = (content: string) => Object.assign(new state.Token('html_block', '', 0), { content });
  const made: Tokens = [];
  let depth = 0;
  for (let at = 0; at < state.tokens.length; at++) {
    const token = state.tokens[at]!;
    const mark = token.type === 'paragraph_open' ? markOf(state.tokens[at + 1]) : null;
    if (mark === null) {
      made.push(token);
      continue;
    }
    const isTop = token.level === 0;
    if (mark === folds.summary) {
      made.push(token, state.tokens[at + 1]!, state.tokens[at + 2]!);
    } else if (mark === folds.close && isTop && depth > 0) {
      depth -= 1;
      made.push(html('</details>'));
    } else if (mark === folds.open && isTop && depth < deepest) {
      depth += 1;
      const next = state.tokens[at + 4];
      const isNamed = state.tokens[at + 3]?.type === 'paragraph_open' && markOf(next) === folds.summary;
      if (isNamed) made.push(html('<details><summary>'), next!, html('</summary>'));
      else made.push(html('<details><summary>Details</summary>'));
      if (isNamed) at += 3;
    }
    at += 2;
  }
  state.tokens = [...made, ...Array.from({ length: depth }, () => html('</details>'))];
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
