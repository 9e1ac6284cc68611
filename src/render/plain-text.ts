import MarkdownIt from 'markdown-it';

const markdown = new MarkdownIt('commonmark', { html: true });

/** The text in one line of at most `length` characters; `…` marks a cut. */
export function shorten(text: string, length: number): string {
  const line = text
    .slice(0, length * 2 + 200)
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .toWellFormed();
  if (line.length <= length) return line;
  const cut = line.slice(0, length - 1);
  const space = cut.lastIndexOf(' ');
  return `${(space > length / 2 ? cut.slice(0, space) : cut).toWellFormed()}…`;
}

/** A name for display. Never empty, so that links and headings have text. */
export function nameText(name: string, length: number): string {
  return shorten(name, length) || 'unnamed';
}

/**
 * First paragraph of a CommonMark text that has words, in one line of at most `length` characters,
 * without its images and HTML. A text that has only headings gives the first of them.
 */
export function firstParagraph(text: string, length: number): string {
  const start = text.slice(0, length * 2 + 500);
  if (/^[\w ,.:;'()/-]*$/.test(start)) return shorten(start, length);
  const tokens = markdown.parse(start, {});
  const inlines = tokens.flatMap((token, at) =>
    token.type === 'inline' ? [{ token, before: tokens[at - 1]?.type ?? '' }] : [],
  );
  const chosen = inlines.find(({ token, before }) => before === 'paragraph_open' && plain(token) !== '') ?? inlines[0];
  return chosen === undefined ? '' : shorten(plain(chosen.token), length);
}

/** The first sentence of the first paragraph, without its full stop. */
export function firstSentence(text: string, length: number): string {
  const paragraph = firstParagraph(text, 1000);
  const end = /(?<!\b(?:e\.g|i\.e|etc|vs|\p{Lu}))[.!?](?=\s+\P{Ll})|\.$/u.exec(paragraph);
  return shorten(end === null ? paragraph : paragraph.slice(0, end.index), length);
}

const silent = new Set(['image', 'html_inline']);

function plain(token: { children: { type: string; content: string }[] | null }): string {
  return (token.children ?? [])
    .filter(({ type }) => !silent.has(type))
    .map(({ type, content }) => (type.endsWith('break') ? ' ' : content))
    .join('')
    .trim();
}
