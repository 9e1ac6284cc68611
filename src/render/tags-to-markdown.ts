import { own } from '../model/json.ts';
/**
 * Converts everyday HTML tags in a Markdown description to Markdown, and removes layout tags,
 * indentation that means nothing and extensions beyond CommonMark (image sizes, notes of git hosts),
 * so that readers see no tags. The result is as untrusted as the text. Code stays as it is.
 * `<details>` become paragraphs of `folds`, which nothing else has.
 */
export function tagsToMarkdown(text: string): string {
  const written = dedent(text).replace(/[\uE001-\uE003]/g, '');
  if (!/<[/a-z]|!\[|\[!/i.test(written)) return written;
  const output = createMarkdown();
  for (const [at, part] of written.split(code).entries()) {
    if (at % 2 === 0) addText(output, replaceWhole(part));
    else if (/^<pre/i.test(part)) output.block(fencedMarkdown(part));
    else if (part.startsWith('`') && !part.startsWith('```')) output.words(part);
    else output.block(part);
  }
  return output.text;
}

const code =
  /(^ {0,3}(?:`{3}|~{3})[^]*?(?:^ {0,3}(?:`{3}|~{3})[^\n]*$|(?![^]))|`[^`\n]+`|<pre(?:\s[^<>]{0,500})?>(?:(?!<pre)[^])*?<\/pre>)/im;

/** Paragraphs that begin and end `<details>`, and the first character of one that is its summary. */
export const folds = { open: '\uE001', close: '\uE002', summary: '\uE003' } as const;

const blocks = new Set(
  'p div section article aside figure figcaption table thead tbody tr dl dt dd blockquote center summary'.split(' '),
);
const dropped = new Set('span font small big u sup sub th td a nobr abbr mark wbr fullname note important'.split(' '));
const marks: Readonly<Record<string, string>> = {
  b: '**',
  strong: '**',
  i: '*',
  em: '*',
  code: '`',
  tt: '`',
  kbd: '`',
};

/** Replaces elements that consist of several tags. */
function replaceWhole(text: string): string {
  return text
    .replace(
      /(!\[[^[\]\n]{0,300}\]\([^()\s]{1,1000}) +=(?:\d{1,5}(?:px|%)?)?(?:x(?:\d{1,5}(?:px|%)?)?)?(?= *\))/g,
      '$1',
    )
    .replace(
      /^( {0,3}> ?)\[!(note|tip|important|warning|caution)\] *$/gim,
      (_, start: string, kind: string) => `${start}**${kind[0]!.toUpperCase()}${kind.slice(1).toLowerCase()}**  `,
    )
    .replace(/<img\s([^<>]{0,1000})>/gi, (_, attributes: string) => imageMarkdown(attributes))
    .replace(
      /<a\s+(?:[a-z-]+="[^"<>]*"\s+)*href="(https?:[^"<>\s()]{1,1000})"[^<>]{0,200}>([^<>[\]]{1,500})<\/a>/gi,
      '[$2]($1)',
    )
    .replace(
      /<summary(?:\s[^<>]{0,500})?>([^]{1,1000}?)<\/summary>/gi,
      (_, words: string) => `\n\n${folds.summary}${words.replace(/\s+/g, ' ').trim()}\n\n`,
    )
    .replace(
      /<table(?:\s[^<>]{0,500})?>((?:(?!<table)[^])*?)<\/table>/gi,
      (whole: string, rows: string) => tableMarkdown(rows) ?? whole,
    );
}

/** A table of simple cells. */
function tableMarkdown(html: string): string | null {
  if (/\s(?:colspan|rowspan)=/i.test(html)) return null;
  const rows = html
    .split(/<tr(?:\s[^<>]{0,500})?>/i)
    .slice(1)
    .map((row) =>
      row
        .split(/<t[hd](?:\s[^<>]{0,500})?>/i)
        .slice(1)
        .map((cell) =>
          cell
            .replace(/<\/?(?:br|p|div|ul|ol|li|t[hdr]|thead|tbody|tfoot)(?:\s[^<>]{0,500})?\/?>/gi, ' ')
            .replace(/\s+/g, ' ')
            .replaceAll('|', '\\|')
            .trim(),
        ),
    )
    .filter((row) => row.length > 0);
  if (rows.length === 0) return null;
  const [first, ...rest] = rows.map((row) => `| ${row.join(' | ')} |`);
  return `\n\n${[first, `|${' --- |'.repeat(rows[0]!.length)}`, ...rest].join('\n')}\n\n`;
}

/** `<pre>` with what is in it as a block of code. */
function fencedMarkdown(html: string): string {
  const text = html
    .replace(/<\/?(?:pre|code|span)(?:\s[^<>]{0,500})?>/gi, '')
    .replace(/&(lt|gt|quot|#39|nbsp|amp);/g, (_, name: string) => own(characters, name)!)
    .replace(/^\n/, '')
    .trimEnd();
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${text}\n${fence}`;
}

const characters: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', '#39': "'", nbsp: ' ', amp: '&' };

function addText(output: GrowingMarkdown, text: string): void {
  const pieces = text.split(/(<\/?[a-z][a-z0-9]{0,20}(?:\s[^<>]{0,500})?\/?>)/i);
  for (let at = 0; at < pieces.length; at += 2) {
    const [, close, written] = /^<(\/?)([a-z][a-z0-9]*)/i.exec(pieces[at + 1] ?? '') ?? [];
    const name = written?.toLowerCase() ?? '';
    output.words(pieces[at]!, isBlock(name));
    addTag(output, name, close === '/', pieces[at + 1] ?? '');
  }
}

/** Whether a tag is one that becomes Markdown. Names of components have capital letters. */
export function isEverydayTag(name: string): boolean {
  return isBlock(name) || dropped.has(name) || Object.hasOwn(marks, name) || /^(?:[bh]r|img|pre|t[rhd])$/.test(name);
}

function isBlock(name: string): boolean {
  return blocks.has(name) || /^(?:h[1-6]|[uo]l|li|details)$/.test(name);
}

function addTag(output: GrowingMarkdown, name: string, isEnd: boolean, tag: string): void {
  if (name === 'br' || name === 'hr') output.lineBreak();
  else if (name === 'details') output.block(`${isEnd ? folds.close : folds.open}\n\n`);
  else if (name === 'ul' || name === 'ol') {
    if (isEnd) output.endList();
    else output.beginList(name === 'ul' ? '-' : '1.');
  } else if (name === 'li' && !isEnd) output.item();
  else if (/^h[1-6]$/.test(name) && !isEnd) output.heading();
  else if (isBlock(name)) output.end();
  else if (Object.hasOwn(marks, name)) output.words(own(marks, name)!);
  else if (!dropped.has(name)) output.words(tag);
}

/** An image in Markdown. The Markdown renderer decides whether it is shown. */
function imageMarkdown(attributes: string): string {
  const attribute = (name: string) => new RegExp(`(?:^|\\s)${name}=(["'])(.*?)\\1`, 'is').exec(attributes)?.[2] ?? '';
  const source = /^[^\s()<>]+$/.exec(attribute('src'))?.[0];
  const words = attribute('alt').replace(/[[\]]/g, '').trim();
  return source === undefined ? words || 'image' : `![${words}](${source})`;
}

/**
 * A text without indentation that is an accident, such as that of a comment in code or of a file that
 * was indented once more: what all of its lines share, or all but the first. In the second case the
 * second line must continue the first, since an indented line after a blank one is code.
 */
function dedent(text: string): string {
  const [first = '', ...rest] = text.replace(/^(?:[ \t]*\r?\n)+/, '').split('\n');
  if (/^[ \t]/.test(first)) return without(sharedBy([first, ...rest]), [first, ...rest]) ?? text;
  const shared = /^[ \t]+\S/.test(rest[0] ?? '') && !isItem(first) ? sharedBy(rest) : '';
  // Less is not code, and may be what keeps a line in a list.
  if (shared.length < 4 && !shared.includes('\t')) return text;
  return `${first}\n${without(shared, rest)}`;
}

function isItem(line: string): boolean {
  return /^ {0,3}(?:[-*+>]|\d{1,9}[.)])(?:\s|$)/.test(line);
}

/** The indentation that all lines begin with, but those that are blank. */
function sharedBy(lines: readonly string[]): string {
  let shared: string | null = null;
  for (const line of lines) {
    const indent = /^[ \t]*/.exec(line)![0];
    if (indent.length === line.trimEnd().length || line.trim() === '') continue;
    if (shared === null) shared = indent;
    while (!indent.startsWith(shared)) shared = shared.slice(0, -1);
    if (shared === '') break;
  }
  return shared ?? '';
}

function without(indent: string, lines: readonly string[]): string | null {
  if (indent === '') return null;
  return lines.map((line) => (line.startsWith(indent) ? line.slice(indent.length) : line)).join('\n');
}

/** Markdown to which HTML is added piece by piece. */
type GrowingMarkdown = ReturnType<typeof createMarkdown>;

/** Lists that are deeper are not indented further. */
const deepestList = 8;

/** Indentation after a tag that ends a block means nothing, but after a blank line, where HTML ends. */
function createMarkdown() {
  const pieces: string[] = [];
  const lists: string[] = [];
  /** What was added last. Blocks are separated when something follows. */
  let last: 'words' | 'break' | 'block' | 'start' = 'words';

  return {
    /** Words as they are. `isLast`: whether a tag follows that ends what they are in. */
    words(text: string, isLast = false): void {
      const start = last === 'words' ? text : text.replace(indentation[last], '$1');
      const words = isLast ? start.trimEnd() : start;
      if (words === '') return;
      if (last === 'block') pieces.push('\n\n');
      pieces.push(words);
      last = 'words';
    },
    /** Ends a paragraph, a cell or another block. */
    end: () => void (last = 'block'),
    /** A block that stands alone, such as code. */
    block(markdown: string): void {
      pieces.push('\n\n', markdown);
      last = 'block';
    },
    lineBreak() {
      pieces.push('  \n');
      last = 'break';
    },
    heading() {
      pieces.push('\n\n#### ');
      last = 'start';
    },
    beginList(marker: string): void {
      lists.push(marker);
      last = 'block';
    },
    endList() {
      lists.pop();
      last = 'block';
    },
    item() {
      pieces.push(`\n${'   '.repeat(Math.min(deepestList, Math.max(0, lists.length - 1)))}${lists.at(-1) ?? '-'} `);
      last = 'start';
    },
    get text() {
      return pieces.join('');
    },
  };
}

const indentation = {
  break: /^[ \t]*(?:(\n)[ \t]*)?(?=\S|$)/,
  block: /^[ \t]*(?:\n[ \t]*)?(?=\S)()|^\s+$()/,
  start: /^\s+()/,
} as const;
