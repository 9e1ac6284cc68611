import MarkdownIt from 'markdown-it';
import type { ShownImage } from '../model/image.ts';
import { escapeText, decodePercent, oneLine } from '../model/escape.ts';
import { addBlockRules, clearEmptyHeaders, foldTokens, keepDeepText } from './markdown-tokens.ts';
import { formatHtml, imageHtml, markup, isSafeLink, nothing, trustHtml, type Html } from './html.ts';
import { firstParagraph } from './markdown.ts';
import { tagsToMarkdown } from './tags-to-markdown.ts';

/** See `createDescriptions`. */
export type Descriptions = ReturnType<typeof createDescriptions>;

/** Longest description, in characters. The rest is cut. */
const blockLength = 60_000;
const briefLength = 4_000;
const lineLength = 200;

/** A heading of the text that introduces a document. */
export interface Heading {
  title: string;
  anchor: string;
  /** 1 for `#`. */
  level: number;
}

// Most headings of a text with anchors. The others have none.
const maxHeadings = 200;

/** The headings of a text. `name` makes an anchor of a heading's title. */
export function headingsOf(text: string, name: (title: string) => string): Heading[] {
  const start = text.slice(0, blockLength).toWellFormed();
  if (!/^ {0,3}(?:#|=|-)|<h[1-6]/im.test(start)) return [];
  const tokens = createMarkdown({ anchorOf: () => null }).parse(tagsToMarkdown(start), {});
  return tokens
    .flatMap(({ type, tag, level }, at) => {
      // Headings in lists and quotes are parts of those.
      const title = type === 'heading_open' && level === 0 ? titleOf(tokens[at + 1]!.content) : '';
      return title === '' ? [] : [{ title, level: Number(tag.slice(1)) }];
    })
    .slice(0, maxHeadings)
    .map(({ title, level }) => ({ title, level, anchor: name(title) }));
}

/** A heading's Markdown as plain text. */
function titleOf(content: string): string {
  return oneLine(content, 200)
    .replace(/[*_`[\]]|\((?:https?:|#)[^)]*\)/g, '')
    .trim();
}

/** What descriptions link to and show. */
export interface Around {
  /** The id on the page that a link within the page means; null if there is none: then the link becomes text. */
  anchorOf(id: string): string | null;
  /** The image of the repository that an address means. */
  imageOf?(address: string): ShownImage | null;
}

/**
 * Renders the Markdown texts of one document. `level`: the level of its first headings (3: `<h3>`), however many `#`
 * they have; deeper ones follow without a gap, down to `<h6>`. `headings`: those of the text for `main`.
 */
export function createDescriptions(around: Around, headings: readonly Heading[] = []) {
  const markdown = createMarkdown(around);
  // By level and text: a text that many parts of a document share is rendered once.
  const perLevel = new Map<number, Map<string, Html>>();

  function render(text: string, length: number, env: Record<string, unknown>): Html {
    const start = text.slice(0, length).toWellFormed();
    const more = text.length > length ? markup`<p class="more">…</p>` : nothing;
    return markup`${isPlain(start) ? markup`<p>${start}</p>` : trustHtml(markdown.render(tagsToMarkdown(start), env))}${more}`;
  }

  function renderOnce(text: string, level: number, length: number): Html {
    const rendered = perLevel.getOrInsertComputed(level, () => new Map<string, Html>());
    return rendered.getOrInsertComputed(text, () => render(text, length, { level }));
  }

  /** As `block`, for the text whose headings have anchors. */
  function main(text: string, level: number): Html {
    if (headings.length === 0) return block(text, level);
    return markup`<div class="description">${render(text, blockLength, { level, headings: [...headings] })}</div>`;
  }

  /** Blocks in `<div class="description">`; nothing for an empty text. */
  function block(text: string, level: number): Html {
    return text.trim() === ''
      ? nothing
      : markup`<div class="description">${renderOnce(text, level, blockLength)}</div>`;
  }

  /**
   * The text on one line, without links, for a place that is itself clicked; of a long text its first
   * paragraph without marks. `isWhole`: whether nothing is missing.
   */
  function line(text: string): { html: Html; isWhole: boolean } {
    const words = text.trim();
    if (isPlain(words) || words === '')
      return { html: markup`${oneLine(words, lineLength)}`, isWhole: words.length <= lineLength };
    const source = tagsToMarkdown(words);
    // A cut could split a code span, and blocks cannot be on one line.
    if (words.length > lineLength || /[\n\uE001-\uE003]/.test(source))
      return { html: markup`${firstParagraph(words, lineLength)}`, isWhole: false };
    const env = { isWhole: true };
    return { html: trustHtml(markdown.renderInline(source, env)), isWhole: env.isWhole };
  }

  return {
    block,
    main,
    line,
    /** For a list item: a single plain paragraph has no wrapper. */
    brief: (text: string): Html => (text.trim() === '' ? nothing : renderOnce(text.trim(), 7, briefLength)),
  };
}

/** Whether the text is one line without Markdown syntax. */
function isPlain(text: string): boolean {
  return text.length < 2000 && /^\p{L}[\p{L}\p{N} ,.;:'"()/?%-]*$/u.test(text) && !/\d[.)] |: *-/.test(text);
}

function createMarkdown({ anchorOf, imageOf }: Around) {
  const markdown = new MarkdownIt('default', { html: false, linkify: false, maxNesting: 20 });
  keepDeepText(markdown);
  // Links are checked below, where a forbidden one can become plain text.
  markdown.validateLink = () => true;
  markdown.core.ruler.push('stele', (state) => {
    const { level = 3, headings = [] } = state.env as { level?: number; headings?: Heading[] };
    const isBrief = level > 6;
    if (state.inlineMode) return leaveWords(state);
    foldTokens(state);
    clearEmptyHeaders(state);
    // The headings around the current one, by their number of `#`.
    const outer: number[] = [];
    for (const [at, token] of state.tokens.entries()) {
      if (token.type === 'heading_open' && token.level === 0 && headings.length > 0) {
        if (headings[0]!.title === titleOf(state.tokens[at + 1]!.content))
          token.attrSet('id', headings.shift()!.anchor);
      }
      if (token.type === 'heading_open') {
        const depth = Number(token.tag.slice(1));
        while (outer.length > 0 && outer.at(-1)! >= depth) outer.pop();
        outer.push(depth);
      }
      // A heading in a list item would stand below none.
      if (token.type === 'heading_open' || token.type === 'heading_close')
        token.tag = isBrief ? 'p' : `h${Math.min(6, level + outer.length - 1)}`;
      if (token.type === 'fence') token.info = '';
      if (token.children) token.children = safeChildren(state, token.children);
    }
  });

  type State = Parameters<Parameters<typeof markdown.core.ruler.push>[1]>[0];
  type Tokens = NonNullable<State['tokens'][number]['children']>;

  /** Keeps only the words of links and images, since a clickable element must not contain another. */
  function leaveWords(state: State): void {
    for (const inline of state.tokens) {
      const children = inline.children ?? [];
      inline.children = children.flatMap((token) => {
        if (token.type === 'image') return [Object.assign(new state.Token('text', '', 0), { content: token.content })];
        return token.type === 'link_open' || token.type === 'link_close' ? [] : [token];
      });
      const env = state.env as { isWhole: boolean };
      env.isWhole &&= !children.some(({ type }) => type === 'image' || type === 'link_open');
    }
  }

  function safeChildren(state: State, children: Tokens): Tokens {
    const open: boolean[] = [];
    return children.flatMap((token) => {
      if (token.type === 'image') return imageParts(state, token, open.includes(true));
      if (token.type === 'link_open') {
        const href = targetOf(String(token.attrGet('href') ?? ''));
        open.push(href !== null);
        if (href === null) return [];
        token.attrs = [['href', href]];
        if (!href.startsWith('#')) token.attrSet('rel', 'nofollow noopener noreferrer');
      }
      return token.type === 'link_close' && open.pop() !== true ? [] : [token];
    });
  }

  /**
   * An image of the repository is shown. One of another host is a link, unless the page may show it
   * (`site/pages/show-images.ts`): loading it tells that host of every reader.
   */
  function imageParts(state: State, image: Tokens[number], isInLink: boolean): Tokens {
    const address = String(image.attrGet('src') ?? '');
    const words = oneLine(image.content, 200);
    const html = (content: Html) =>
      Object.assign(new state.Token('html_inline', '', 0), { content: formatHtml(content) });
    const shown = imageOf?.(address) ?? null;
    if (shown !== null) return [html(imageHtml(shown, words))];
    const label = words || 'image';
    const isOutside = /^https:\/\//i.test(address) && isSafeLink(address);
    if (isOutside && isInLink) return [html(markup`<span class="image" title="${address}">${label}</span>`)];
    if (isOutside)
      return [html(markup`<a href="${address}" class="image" rel="nofollow noopener noreferrer">${label}</a>`)];
    const href = isInLink ? null : targetOf(address);
    const link = href !== null && markup`<a href="${href}" rel="nofollow noopener noreferrer">${label}</a>`;
    return [html(link || markup`${label}`)];
  }

  function targetOf(href: string): string | null {
    if (!isSafeLink(href)) return null;
    if (!href.startsWith('#')) return href;
    const id = anchorOf(href.slice(1)) ?? anchorOf(decodePercent(href.slice(1)) ?? '');
    return id === null ? null : `#${id}`;
  }

  addBlockRules(markdown);
  // Avoids style attributes for aligned table cells and language classes for code.
  const { rules } = markdown.renderer;
  for (const name of ['th_open', 'td_open'])
    rules[name] = (tokens, at) => (tokens[at]!.tag === 'th' ? '<th scope="col">' : '<td>');
  for (const name of ['fence', 'code_block'])
    rules[name] = (tokens, at) => `<pre><code>${escapeText(tokens[at]!.content)}</code></pre>\n`;
  return markdown;
}
