import type { MarkdownIt } from 'markdown-it';
import { clearEmptyHeaders, foldTokens } from '../../render/markdown-tokens.ts';
import { isEverydayTag, tagsToMarkdown } from '../../render/tags-to-markdown.ts';
import { parseCoordinate } from '../../model/address.ts';
import type { Embed } from '../model/source-page.ts';

/** What may be rendered as HTML: the folds that `foldTokens` makes. */
const ownHtml = /^(?:<details><summary>(?:Details<\/summary>)?|<\/summary>|<\/details>)$/;

/** What is collected of a page's markup: `PageState`. */
interface MarkupState {
  before: number;
  unknown: Map<string, number>;
}

const tag = /<!--|<\/?([A-Za-z][\w.:-]*)(?:\s[^<>]*)?>/g;

/** Elements whose content is no text. */
export const programs = new Set(['script', 'style', 'template']);

/**
 * HTML in a page: everyday tags become Markdown, and so what Markdown may have. Components of other
 * site generators, players, frames and scripts are left out and noted; what stands between them stays.
 */
export function addMarkup(markdown: MarkdownIt): void {
  const { ruler } = markdown.core;
  // They mark folds below, and nothing else.
  ruler.after('normalize', 'marks', (state) => {
    state.src = state.src.replace(/[\uE001-\uE003]/g, ' ');
  });
  ruler.before('inline', 'blocks', (state) => {
    const page = state.env as unknown as MarkupState;
    state.tokens = state.tokens.flatMap((token) => {
      if (token.type !== 'html_block') return [token];
      const line = page.before + token.map![0] + 1;
      const inside: typeof state.tokens = [];
      markdown.block.parse(tagsToMarkdown(withoutOthers(token.content, page, line)), markdown, state.env, inside);
      for (const each of inside) Object.assign(each, { level: each.level + token.level, map: each.map && token.map });
      return inside.filter(({ type }) => type !== 'html_block');
    });
    // Each page has its contents beside it.
    const isContents = (at: number) => /^\[\[_?toc_?\]\]$/i.test(state.tokens[at]?.content ?? '');
    state.tokens = state.tokens.filter((_, at) => ![at - 1, at, at + 1].some(isContents));
  });
  ruler.after('inline', 'tags', (state) => {
    const page = state.env as unknown as MarkupState;
    let line = page.before;
    for (const token of state.tokens) {
      if (token.map) line = page.before + token.map[0] + 1;
      if (token.type !== 'inline') continue;
      token.children = (token.children ?? []).flatMap((child) => {
        if (child.type !== 'html_inline') return [child];
        if (/^<br\b/i.test(child.content)) return [new state.Token('hardbreak', 'br', 0)];
        const [image] = /^<img\s/i.test(child.content)
          ? markdown.parseInline(tagsToMarkdown(child.content), state.env)
          : [];
        withoutOthers(child.content, page, line);
        return image?.children ?? [];
      });
    }
    foldTokens(state);
    clearEmptyHeaders(state);
  });
  markdown.renderer.rules['html_block'] = (tokens, at) =>
    ownHtml.test(tokens[at]!.content) ? tokens[at]!.content : '';
  markdown.renderer.rules['html_inline'] = () => '';
}

/** The text without what no page can have, which is noted once for each name, with its first line. */
function withoutOthers(html: string, { unknown }: MarkupState, line: number): string {
  const lower = html.toLowerCase();
  let left = '';
  let at = 0;
  for (const { 0: written, 1: name = '', index } of html.matchAll(tag)) {
    if (index < at) continue;
    if (isEverydayTag(name)) continue;
    const isProgram = programs.has(name.toLowerCase()) && !written.startsWith('</');
    const closing = written === '<!--' ? '-->' : isProgram ? `</${name.toLowerCase()}>` : null;
    const end = closing === null ? index + written.length : lower.indexOf(closing, index) + closing.length;
    left += html.slice(at, index);
    at = closing !== null && end < index ? html.length : end;
    if (name !== '') unknown.set(`<${name}>`, Math.min(line, unknown.get(`<${name}>`) ?? line));
  }
  return left + html.slice(at);
}

/** What a line `::reference @acme/apis/payments` or `::operation @acme/apis/payments GET /payments` names. */
export type EmbedLine = Omit<Embed, 'line'>;

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
