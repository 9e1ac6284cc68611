import { escapeHtml, escapeText, oneLine } from '../model/escape.ts';
import type { ShownImage } from '../model/image.ts';
import { nameText } from './markdown.ts';

const text: unique symbol = Symbol('HTML text');

/**
 * HTML that is safe to send. Made by `markup` and `joinHtml`, and by `renderMarkdown`; JSON cannot
 * hold one, since its text has a symbol for its name.
 */
export interface Html {
  readonly [text]: string;
}

type Part = Html | string | number | readonly Html[];

type Place = 'text' | 'attribute' | 'link';

/** Empty HTML. */
export const nothing: Html = { [text]: '' };

interface Template {
  strings: readonly string[];
  places: readonly Place[];
}

const templates = new WeakMap<TemplateStringsArray, Template>();

/**
 * Creates HTML from a template and escapes every value that is not HTML itself. A value may be in
 * text or in a double-quoted attribute. In `href` it must be an anchor on the page or an absolute
 * web or mail URL. Anything else throws. Line breaks in the template and the indentation after them
 * are removed.
 */
export function markup(strings: TemplateStringsArray, ...values: readonly Part[]): Html {
  const template = templates.getOrInsertComputed(strings, readTemplate);
  let out = template.strings[0]!;
  for (let at = 0; at < values.length; at++)
    out += write(values[at]!, template.places[at]!) + template.strings[at + 1]!;
  return { [text]: out };
}

/** Concatenates the parts. */
export function joinHtml(parts: readonly Html[], separator: Html = nothing): Html {
  return { [text]: parts.map((part) => part[text]).join(separator[text]) };
}

/** An unordered list of these items; `nav`: the table of contents. Empty HTML if there are none. */
export function listHtml(items: readonly Html[], kind: 'nav' | null = null): Html {
  if (items.length === 0) return nothing;
  const lines = items.map((item) => markup`<li>${item}</li>`);
  return kind === null ? markup`<ul>${lines}</ul>` : markup`<ul class="${kind}">${lines}</ul>`;
}

/** Returns the HTML as text. */
export function formatHtml(part: Html): string {
  return part[text];
}

/** Its length in characters. */
export function lengthOf(part: Html): number {
  return part[text].length;
}

/**
 * Marks text as safe HTML. Only for the output of a trusted renderer: a Markdown renderer that
 * passes no HTML through.
 */
export function trustHtml(html: string): Html {
  return { [text]: html };
}

/**
 * An image of the document's version. Its `src` begins with `image:`: the page that shows it knows
 * where the version is (`site/pages/show-images.ts`).
 */
export function imageHtml({ name, width, height }: ShownImage, words: string): Html {
  const size = width === null || height === null ? '' : ` width="${width}" height="${height}"`;
  return { [text]: `<img src="image:${escapeHtml(name)}" alt="${escapeHtml(words)}"${size} loading="lazy">` };
}

/** Whether a link target is allowed: an absolute web or mail URL, or an anchor on the page. */
export function isSafeLink(href: string): boolean {
  return /^(?:https?:\/\/|mailto:|#)[^\s\p{Cc}]+$/iu.test(href);
}

/** Whether a link target is allowed and leaves the page. */
export function isOutsideLink(href: string): boolean {
  return isSafeLink(href) && !href.startsWith('#');
}

function write(value: Part, place: Place): string {
  if (typeof value === 'string' || typeof value === 'number') {
    if (place === 'link' && !isSafeLink(String(value))) throw new Error('Unsafe link target in a template.');
    return place === 'text' ? escapeText(String(value)) : escapeHtml(String(value));
  }
  if (place !== 'text') throw new Error('HTML stands in an attribute.');
  return Array.isArray(value) ? (value as readonly Html[]).map(htmlText).join('') : htmlText(value as Html);
}

function htmlText(part: Html): string {
  if (typeof (part as Html | null)?.[text] !== 'string') throw new Error('The value is not HTML.');
  return part[text];
}

/** Parses each template once: its text, and the context of each value. */
function readTemplate(parts: TemplateStringsArray): Template {
  const strings = parts.map((part) => part.replace(/\n */g, ''));
  let before = '';
  const places = strings.slice(0, -1).map((part): Place => {
    before += part;
    const tag = before.slice(before.lastIndexOf('<'));
    const isInTag = before.includes('<') && !tag.includes('>');
    before += 'x';
    if (!isInTag) return 'text';
    const [, name, start = ''] = /\s([a-z-]+)="([^"]*)$/.exec(tag) ?? [];
    if (name === undefined || name === 'style' || name === 'src' || name.startsWith('on'))
      throw new Error(`A template has a value in an unsafe position: ${part}`);
    return name === 'href' && !start.startsWith('#') ? 'link' : 'attribute';
  });
  return { strings, places };
}

/** A link to another site; plain text if the URL is not allowed. */
export function outsideLink(url: string, label: string): Html {
  const shown = oneLine(label, 300) || nameText(url, 300);
  if (!isOutsideLink(url)) return markup`${shown}`;
  return markup`<a href="${url}" rel="nofollow noopener noreferrer">${shown}</a>`;
}
