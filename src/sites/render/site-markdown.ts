import createMarkdown, { type Env, type MarkdownIt } from 'markdown-it';
import footnote from 'markdown-it-footnote';
import type { PageHeading, PageLink } from '../model/source-page.ts';
import { addBlockRules, keepDeepText } from '../../render/markdown-tokens.ts';
import { escapeText, decodePercent, oneLine } from '../../model/escape.ts';
import { isOutsideLink } from '../../render/html.ts';
import { addEmbeds, addMarkup } from './markup.ts';
import { isFilePath, isPagePath, mediaTypeOf, pageAt, relativePath, resolvePath, routeOf } from '../model/page-path.ts';
import container from 'markdown-it-container';

/** Highlights code: safe HTML, or null for a language that it does not know. */
export type Highlight = (code: string, language: string) => string | null;

/** What the rules collect of one page while it is parsed. */
export interface PageState extends Env {
  path: string;
  /** Lines of front matter before the Markdown. */
  before: number;
  headings: PageHeading[];
  links: PageLink[];
  /** Links that may not be followed, with their lines. */
  unsafe: { written: string; line: number }[];
  /** Markup that pages cannot have, with the first line where each stands. */
  unknown: Map<string, number>;
  /** Lines from which something is nested too deeply to be shown as what it is. */
  deep: number[];
  /** Names a heading (`createHeadingId`). */
  headingId: (text: string) => string;
  highlight: Highlight | null;
}

type Tokens = ReturnType<MarkdownIt['parse']>;

/** Ids that an embedded reference has (`render.ts`). */
export const referenceIds = ['security', 'webhooks', 'schemas', 'definitions', 'rules', 'schema'];

/** Longer code is shown as it is. */
const maxHighlighted = 50_000;

/** How deep lists, quotes and boxes may stand in each other. A list counts twice, for itself and its item. */
export const maxNesting = 40;

/**
 * CommonMark with tables, strikethrough, footnotes, task lists, boxes, code groups, heading links and
 * embedded references. Everyday HTML in it becomes Markdown. Call `parse` and `renderer.render` with a PageState as `env`.
 */
export function createSiteMarkdown(): MarkdownIt {
  const markdown = new createMarkdown('default', { html: true, linkify: false, maxNesting });
  // Links are checked below, where a forbidden one can become text.
  markdown.validateLink = () => true;
  markdown.use(footnote);
  addEmbeds(markdown);
  addAdmonitions(markdown);
  addMarkup(markdown);
  markdown.core.ruler.push('stele', (state) => {
    const page = state.env as PageState;
    groupCode(state.tokens);
    let line = page.before;
    for (const [at, token] of state.tokens.entries()) {
      if (token.map) line = page.before + token.map[0] + 1;
      noteContainer(page, token, line);
      if (token.type === 'heading_open') nameHeading(page, token, state.tokens[at + 1]!);
      if (token.children) token.children = safeChildren(page, state, token.children, line);
    }
  });
  addTasks(markdown);
  keepDeepText(markdown, (env, line) => {
    const page = env as PageState;
    page.deep.push(page.before + line + 1);
  });
  addRules(markdown);
  return markdown;
}

/** A container that is none of ours: its markers stand in the text. */
function noteContainer({ unknown }: PageState, { type, content }: Tokens[number], line: number): void {
  const [, kind] = type === 'inline' ? (/^:{3,} ?([\w-]+)/.exec(content) ?? []) : [];
  if (kind !== undefined && !unknown.has(`:::${kind}`)) unknown.set(`:::${kind}`, line);
}

function nameHeading(page: PageState, token: Tokens[number], inline: Tokens[number]): void {
  // Other site generators let authors name the anchor: `## Start {#start}`.
  const last = inline.children?.at(-1);
  const [mark = '', named] = /\s*\{#([A-Za-z][\w.-]*)\}\s*$/.exec(last?.type === 'text' ? last.content : '') ?? [];
  if (named !== undefined) last!.content = last!.content.slice(0, -mark.length);
  const text = oneLine(plainTextOf(inline), 200);
  const id = page.headingId(named ?? text);
  // The title of the page is its only <h1>.
  const level = Math.max(2, Number(token.tag.slice(1)));
  // One link inside of another is none: a heading with a link has only that.
  const hasLink = inline.children?.some(({ type: kind }) => kind === 'link_open') ?? false;
  token.meta = { id, level, hasLink };
  token.attrSet('id', id);
  page.headings.push({ id, text, level });
}

/** The text of an inline token, without its marks. */
export function plainTextOf({ children }: Tokens[number]): string {
  return (children ?? [])
    .map(({ type, content }) => (type.endsWith('break') ? ' ' : type === 'footnote_ref' ? '' : content))
    .join('');
}

type Children = NonNullable<Tokens[number]['children']>;
type State = { Token: new (type: string, tag: string, nesting: -1 | 0 | 1) => Tokens[number] };

/** Replaces links and images by what a page may have of them, and notes where they lead. */
function safeChildren(page: PageState, state: State, children: Children, line: number): Children {
  const open: boolean[] = [];
  let offset = 0;
  return children.flatMap((token) => {
    if (token.type.endsWith('break')) offset++;
    if (token.type === 'image') return imageOf(page, state, token, line + offset, open.includes(true));
    if (token.type === 'link_open') {
      const href = targetOf(page, String(token.attrGet('href') ?? ''), false, line + offset);
      open.push(href !== null);
      if (href === null) return [];
      token.attrs = [['href', href], ...titleOf(token), ...outside(href)];
    }
    return token.type === 'link_close' && open.pop() !== true ? [] : [token];
  });
}

/** An image of the site; one from elsewhere is a link, since loading it would tell who reads the page. */
function imageOf(page: PageState, state: State, image: Tokens[number], line: number, isInLink: boolean): Children {
  const href = targetOf(page, String(image.attrGet('src') ?? ''), true, line);
  const label = new state.Token('text', '', 0);
  label.content = oneLine(image.content, 200) || 'image';
  if (href === null) return [label];
  if (!isOutsideLink(href)) {
    image.attrs = [['src', href], ['alt', ''], ['loading', 'lazy'], ...titleOf(image)];
    return [image];
  }
  if (isInLink) return [label];
  const start = new state.Token('link_open', 'a', 1);
  start.attrs = [['href', href], ...outside(href)];
  return [start, label, new state.Token('link_close', 'a', -1)];
}

function titleOf(token: Tokens[number]): [string, string][] {
  const title = token.attrGet('title');
  return title === null ? [] : [['title', String(title)]];
}

function outside(href: string): [string, string][] {
  return isOutsideLink(href) ? [['rel', 'nofollow noopener noreferrer']] : [];
}

interface HeadingMeta {
  id: string;
  level: number;
  hasLink: boolean;
}

function addRules(markdown: MarkdownIt): void {
  const { rules } = markdown.renderer;
  addBlockRules(markdown);
  rules['heading_open'] = (tokens, at) => {
    const { id, level, hasLink } = tokens[at]!.meta as unknown as HeadingMeta;
    const start = `<h${level} id="${markdown.utils.escapeHtml(id)}">`;
    return hasLink ? start : `${start}<a href="#${encodeURIComponent(id)}">`;
  };
  rules['heading_close'] = (tokens, at) => {
    let open = at;
    while (tokens[open]!.type !== 'heading_open') open--;
    const { level, hasLink } = tokens[open]!.meta as unknown as HeadingMeta;
    return `${hasLink ? '' : '</a>'}</h${level}>\n`;
  };
  // The default is a style attribute, which the policy of pages blocks.
  for (const name of ['th_open', 'td_open'])
    rules[name] = (tokens, at) => {
      const { tag } = tokens[at]!;
      const [, side] = /text-align:(center|right)/.exec(String(tokens[at]!.attrGet('style') ?? '')) ?? [];
      return `<${tag}${tag === 'th' ? ' scope="col"' : ''}${side ? ` class="${side}"` : ''}>`;
    };
  rules['code_block'] = (tokens, at) => codeHtml(tokens[at]!.content, '', null);
  rules['fence'] = (tokens, at, _options, env) => {
    const { content, info, meta } = tokens[at]!;
    const [language = ''] = /^[A-Za-z0-9+#._-]{1,30}/.exec(info.trim()) ?? [];
    const html = codeHtml(content, language, (env as PageState).highlight);
    return meta === null ? html : tabHtml(meta as unknown as CodeTab, html);
  };
}

interface CodeTab {
  group: string;
  title: string;
  isOpen: boolean;
}

/** Tabs as those of a reference's answers (style.css). */
function tabHtml({ group, title, isOpen }: CodeTab, html: string): string {
  return `<details class="answer" name="${group}"${isOpen ? ' open' : ''}><summary>${escapeText(title)}</summary>${html}</details>\n`;
}

/** The fences of each `::: code-group`, with `[title]` after their language. */
function groupCode(tokens: Tokens): void {
  let group: string | null = null;
  let isOpen = false;
  for (const [at, token] of tokens.entries()) {
    if (token.type === 'container_code-group_open') [group, isOpen] = [`code-${at}`, true];
    else if (token.type === 'container_code-group_close') group = null;
    else if (token.type === 'fence' && group !== null) {
      const [, title = token.info.trim()] = /\[([^\]]+)\]/.exec(token.info) ?? [];
      token.meta = { group, title: oneLine(title || 'Code', 60), isOpen };
      isOpen = false;
    }
  }
}

function codeHtml(code: string, language: string, highlight: Highlight | null): string {
  const highlighted =
    language === '' || code.length > maxHighlighted ? null : highlight?.(code, language.toLowerCase());
  const label = language === '' ? '' : ` data-language="${escapeText(language)}"`;
  return `<pre${label} tabindex="0"><code>${highlighted ?? escapeText(code)}</code></pre>\n`;
}

/**
 * Where a link as written in a page leads, as it stands in the HTML; null: it becomes plain text. Links
 * to pages may name the file (`intro.md`) or the URL (`intro`); what starts with `/` is from the top of
 * the site. Notes what leads into the site, and what may not be followed.
 */
function targetOf(page: PageState, link: string, isImage: boolean, line: number): string | null {
  if (isOutsideLink(link)) return link;
  const written = oneLine(link, 200);
  // Browsers read a backslash as a slash, so that `/\example.com` would be another host.
  if (/^[\s\p{Cc}]*[a-z][a-z0-9+.-]*:/iu.test(link) || /^[/\\]{2}/.test(link) || link.includes('\\')) {
    page.unsafe.push({ written, line });
    return null;
  }
  const [, path = '', hash = ''] = /^([^?#]*)(?:\?[^#]*)?(?:#(.*))?$/s.exec(link) ?? [];
  const anchor = decodePercent(hash) ?? hash;
  const target = path === '' ? page.path : resolvePath(page.path, decodePercent(path) ?? path);
  const to = target === null ? null : fileOf(target, isImage);
  page.links.push({ to, anchor, written, isImage, line });
  if (to === null) return null;
  const end = anchor === '' ? '' : `#${encodeURIComponent(anchor)}`;
  if (path === '') return end || '#';
  return relativePath(page.path, isPagePath(to) ? routeOf(to) : to) + end;
}

/** The file that a path means; null if no site can have it. */
function fileOf(path: string, isImage: boolean): string | null {
  if (isImage) return isFilePath(path) && mediaTypeOf(path)!.startsWith('image/') ? path : null;
  if (isFilePath(path)) return path;
  const page = pageAt(path.replace(/\.html$/, ''));
  return isPagePath(page) ? page : null;
}

/** List items that begin with `[ ]` or `[x]` get a box that shows whether they are done. */
function addTasks(markdown: MarkdownIt): void {
  markdown.core.ruler.push('tasks', ({ tokens, Token }) => {
    for (const [at, token] of tokens.entries()) {
      if (token.type !== 'inline' || tokens[at - 2]?.type !== 'list_item_open') continue;
      const first = token.children?.[0];
      const [mark, state] = /^\[([ xX])\][ \t]+/.exec(first?.type === 'text' ? first.content : '') ?? [];
      if (mark === undefined) continue;
      first!.content = first!.content.slice(mark.length);
      const box = new Token('task', 'input', 0);
      box.meta = { isDone: state !== ' ' };
      token.children!.unshift(box);
      tokens[at - 2]!.attrJoin('class', 'task');
    }
  });
  markdown.renderer.rules['task'] = (tokens, at) => {
    const { isDone } = tokens[at]!.meta as { isDone: boolean };
    return `<input type="checkbox" disabled${isDone ? ' checked' : ''} aria-label="${isDone ? 'done' : 'to do'}"> `;
  };
}

/** Kinds of boxes, each with its usual title. `danger` and `warning` look alike. */
const kinds: Readonly<Record<string, string>> = {
  note: 'Note',
  info: 'Info',
  tip: 'Tip',
  important: 'Important',
  warning: 'Warning',
  caution: 'Caution',
  danger: 'Danger',
  details: 'Details',
};

/**
 * Boxes as `:::note Title` or `:::note[Title]` … `:::`, and as GitHub writes them: `> [!NOTE]`. Unknown kinds stay text.
 */
function addAdmonitions(markdown: MarkdownIt): void {
  for (const kind of Object.keys(kinds)) {
    markdown.use(container, kind, {
      validate: (parameters: string) => parameters.trim().split(/[\s[]/, 1)[0] === kind,
      render(tokens: { nesting: number; info: string }[], at: number) {
        if (tokens[at]!.nesting < 0) return kind === 'details' ? '</details>\n' : '</div>\n';
        return opening(
          kind,
          tokens[at]!.info.trim()
            .slice(kind.length)
            .trim()
            .replace(/^\[(.*)\]$/, '$1'),
        );
      },
    });
  }
  // Its pieces are tabs (`groupCode`).
  markdown.use(container, 'code-group', {
    render: (tokens: { nesting: number }[], at: number) =>
      tokens[at]!.nesting < 0 ? '</div>\n' : '<div class="answers">\n',
  });
  markdown.core.ruler.before('inline', 'alerts', ({ tokens }) => {
    const open: (string | null)[] = [];
    for (const [at, token] of tokens.entries()) {
      if (token.type === 'blockquote_open') {
        const text = tokens[at + 1]?.type === 'paragraph_open' ? tokens[at + 2] : undefined;
        const [mark, name] = /^\[!([A-Za-z]+)\][ \t]*(?:\n|$)/.exec(text?.content ?? '') ?? [];
        const kind = name?.toLowerCase() ?? '';
        const isKnown = mark !== undefined && kind !== 'details' && Object.hasOwn(kinds, kind);
        open.push(isKnown ? kind : null);
        if (!isKnown) continue;
        text!.content = text!.content.slice(mark.length);
        Object.assign(token, { type: 'alert_open', tag: 'div', info: kind });
      } else if (token.type === 'blockquote_close' && (open.pop() ?? null) !== null) {
        Object.assign(token, { type: 'alert_close', tag: 'div' });
      }
    }
  });
  markdown.renderer.rules['alert_open'] = (tokens, at) => opening(tokens[at]!.info, '');
}

function opening(kind: string, title: string): string {
  if (kind === 'details') return `<details class="box"><summary>${escapeText(title || kinds[kind]!)}</summary>\n`;
  return `<div class="box ${kind}" role="note"><p class="box-title">${escapeText(title || kinds[kind]!)}</p>\n`;
}
