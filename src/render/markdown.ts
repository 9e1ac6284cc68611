import { oneLine } from '../model/escape.ts';
import MarkdownIt from 'markdown-it';
import { tagsToMarkdown } from './tags-to-markdown.ts';

const markdown = new MarkdownIt('commonmark', { html: true });

/** A name for display. Never empty, so that links and headings have text. */
export function nameText(name: string, length: number): string {
  return oneLine(name, length) || 'unnamed';
}

/**
 * First paragraph of a CommonMark text that has words, in one line of at most `length` characters,
 * without its images and HTML. A text that has only headings gives the first of them.
 */
export function firstParagraph(text: string, length: number): string {
  const start = text.slice(0, length * 2 + 500);
  if (/^[\w ,.:;'()/-]*$/.test(start)) return oneLine(start, length);
  const tokens = markdown.parse(start, {});
  const inlines = tokens.flatMap((token, at) =>
    token.type === 'inline' ? [{ token, before: tokens[at - 1]?.type ?? '' }] : [],
  );
  const chosen = inlines.find(({ token, before }) => before === 'paragraph_open' && plain(token) !== '') ?? inlines[0];
  return chosen === undefined ? '' : oneLine(plain(chosen.token), length);
}

/** The first sentence of the first paragraph, without its full stop. */
export function firstSentence(text: string, length: number): string {
  const paragraph = firstParagraph(text, 1000);
  const end = /(?<!\b(?:e\.g|i\.e|etc|vs|\p{Lu}))[.!?](?=\s+\P{Ll})|\.$/u.exec(paragraph);
  return oneLine(end === null ? paragraph : paragraph.slice(0, end.index), length);
}

const silent = new Set(['image', 'html_inline']);

function plain(token: { children: { type: string; content: string }[] | null }): string {
  return (token.children ?? [])
    .filter(({ type }) => !silent.has(type))
    .map(({ type, content }) => (type.endsWith('break') ? ' ' : content))
    .join('')
    .trim();
}

/**
 * A document's text as part of a Markdown line: no line breaks, HTML or images, and links only to
 * the web.
 */
export function inlineMarkdown(text: string, length = 1000): string {
  return defuse(oneLine(tagsToMarkdown(text.slice(0, length * 4)), length)).replace(/^(?=[#>+=~|-])/, '\\');
}

/** Any text as a code span (CommonMark §6.1). */
export function codeMarkdown(text: string, length = 500): string {
  const line = oneLine(text, length);
  if (line === '') return '` `';
  const longest = Math.max(0, ...[...line.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return longest === 0 ? fence + line + fence : `${fence} ${line} ${fence}`;
}

/**
 * A document's Markdown inside our own: headings become bold lines and code blocks are closed, so
 * that it cannot look like a part of the page around it.
 */
export function blockMarkdown(text: string, length = 20_000): string {
  const lines: string[] = [];
  let fence = '';
  for (const line of tagsToMarkdown(text.slice(0, length).toWellFormed())
    .trim()
    .split(/\r\n?|\n/)) {
    const clean = line.replace(/(?!\t)\p{Cc}/gu, '').trimEnd();
    const [, mark] = /^ {0,3}(`{3,}|~{3,})/.exec(clean) ?? [];
    if (fence !== '') {
      if (mark !== undefined && mark.startsWith(fence) && clean.trim() === mark) fence = '';
      lines.push(clean);
    } else if (mark !== undefined) {
      fence = mark;
      lines.push(mark);
    } else lines.push(plainLine(clean));
  }
  if (fence !== '') lines.push(fence);
  if (text.length > length) lines.push('', '…');
  return lines.join('\n').replace(/\n{3,}/g, '\n\n');
}

/** One line outside of code. */
function plainLine(line: string): string {
  const [, before, heading] = /^((?:[\s>*+-]|\d{1,9}[.)])*)#{1,6}(?:\s(.*))?$/.exec(line.slice(0, 1000)) ?? [];
  if (before !== undefined) {
    const words = (heading ?? '').replace(/[\s#]*$/, '').trim();
    return words === '' ? before : `${before}**${defuse(words)}**`;
  }
  if (/^[\s>]*(?:=+|-+)\s*$/.test(line)) return '';
  return defuse(line).replace(/^(\s*)(#|\[[^\]]*\]:)/, '$1\\$2');
}

/**
 * Outside of code spans: removes HTML, images, unpaired backticks, and links that are not to the
 * web or a mail address.
 */
function defuse(text: string): string {
  return splitCode(text)
    .map(({ isCode, text: piece }) => (isCode ? piece : defusePiece(piece)))
    .join('');
}

function defusePiece(text: string): string {
  return text
    .replaceAll('![', '[')
    .replace(/\\*([<`])/g, '\\$1')
    .replace(/\\*\](?=\((?!<?(?:https?:\/\/|mailto:))|\[|:)/gi, '\\]')
    .replace(/\\+$/, '');
}

/** A part of a Markdown text: a code span with its backticks, or the text between code spans. */
interface Piece {
  isCode: boolean;
  text: string;
}

/**
 * Splits a text at its code spans (CommonMark §6.1). Unpaired backticks belong to the text. Takes
 * one pass.
 */
function splitCode(text: string): Piece[] {
  if (!text.includes('`')) return [{ isCode: false, text }];
  const runs = [...text.matchAll(/`+/g)].map(({ 0: { length }, index }) => ({ length, index }));
  // The next run of the same length after each run, filled in from the end.
  const following = new Map<number, number>();
  const partners = runs.map(() => -1);
  for (let at = runs.length - 1; at >= 0; at--) {
    partners[at] = following.get(runs[at]!.length) ?? -1;
    following.set(runs[at]!.length, at);
  }
  const pieces: Piece[] = [];
  let done = 0;
  for (let at = 0; at < runs.length; at++) {
    const { index } = runs[at]!;
    const partner = runs[partners[at]!];
    if (partner === undefined || isEscaped(text, index, done)) continue;
    if (index > done) pieces.push({ isCode: false, text: text.slice(done, index) });
    done = partner.index + partner.length;
    pieces.push({ isCode: true, text: text.slice(index, done) });
    at = partners[at]!;
  }
  if (done < text.length) pieces.push({ isCode: false, text: text.slice(done) });
  return pieces;
}

/**
 * Whether an odd number of backslashes precedes the index. Those of a code span before it do not
 * count.
 */
function isEscaped(text: string, index: number, from: number): boolean {
  let count = 0;
  while (index - count > from && text[index - count - 1] === '\\') count++;
  return count % 2 === 1;
}
