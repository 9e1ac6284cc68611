const text: unique symbol = Symbol('HTML text');

/** HTML that is safe to send. Made by `markup` and `joinHtml`, and by `renderMarkdown`; JSON cannot hold one, since its text has a symbol for its name. */
export interface Html {
  readonly [text]: string;
}

type Part = Html | string | number | readonly Html[];

type Place = 'text' | 'attribute' | 'link';

/** No HTML at all. */
export const nothing: Html = { [text]: '' };

interface Template {
  strings: readonly string[];
  places: readonly Place[];
}

const known = new WeakMap<TemplateStringsArray, Template>();

/**
 * HTML from a template: every value in it is escaped, unless it is HTML itself. A value may stand in text, and in an attribute's value in double
 * quotes; where it stands in `href` it must lead to a place on the page, to the web or to a mailbox. Anything else is an error in this program and throws.
 * A line break in the template, with the indentation after it, is layout of the source and left out.
 */
export function markup(strings: TemplateStringsArray, ...values: readonly Part[]): Html {
  let template = known.get(strings);
  if (template === undefined) known.set(strings, (template = readTemplate(strings)));
  let out = template.strings[0]!;
  for (let at = 0; at < values.length; at++)
    out += write(values[at]!, template.places[at]!) + template.strings[at + 1]!;
  return { [text]: out };
}

/** The parts one after another. */
export function joinHtml(parts: readonly Html[], separator: Html = nothing): Html {
  return { [text]: parts.map((part) => part[text]).join(separator[text]) };
}

/** An unordered list of these items' contents; nothing where there are none, since an empty list is no list. */
export function listHtml(items: readonly Html[], kind: 'props' | 'options' | 'nav' | null = null): Html {
  if (items.length === 0) return nothing;
  const lines = items.map((item) => markup`<li>${item}</li>`);
  return kind === null ? markup`<ul>${lines}</ul>` : markup`<ul class="${kind}">${lines}</ul>`;
}

/** The text to send. */
export function formatHtml(part: Html): string {
  return part[text];
}

/** Characters that it takes. */
export function lengthOf(part: Html): number {
  return part[text].length;
}

/** For what a trusted renderer has made, and nobody else: a Markdown renderer that passes no HTML through. */
export function trustHtml(made: string): Html {
  return { [text]: made };
}

const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** For text and for attributes. Characters that HTML does not know (NUL, half a surrogate pair) become U+FFFD. */
function escapeHtml(value: string): string {
  return value.replace(/[&<>"'\0\p{Surrogate}]/gu, escapeCharacter);
}

/** For text alone, where quotes mean nothing: examples are full of them. */
export function escapeText(value: string): string {
  return value.replace(/[&<>\0\p{Surrogate}]/gu, escapeCharacter);
}

function escapeCharacter(character: string): string {
  return escapes[character] ?? '\uFFFD';
}

/** Whether a link may lead there from a page: to the web or to a mailbox, said in full, or to a place on the page. */
export function isSafeLink(href: string): boolean {
  return /^(?:https?:\/\/|mailto:|#)[^\s\p{Cc}]+$/iu.test(href);
}

function write(value: Part, place: Place): string {
  if (typeof value === 'string' || typeof value === 'number') {
    if (place === 'link' && !isSafeLink(String(value))) throw new Error('A link leads where no link may lead.');
    return place === 'text' ? escapeText(String(value)) : escapeHtml(String(value));
  }
  if (place !== 'text') throw new Error('HTML stands in an attribute.');
  return Array.isArray(value) ? (value as readonly Html[]).map(htmlText).join('') : htmlText(value as Html);
}

function htmlText(part: Html): string {
  if (typeof (part as Html | null)?.[text] !== 'string') throw new Error('This is no HTML.');
  return part[text];
}

/** SyncedDocument at once for each template: its text, and what each value stands in. */
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
      throw new Error(`A value stands where none may stand: ${part}`);
    return name === 'href' && !start.startsWith('#') ? 'link' : 'attribute';
  });
  return { strings, places };
}
