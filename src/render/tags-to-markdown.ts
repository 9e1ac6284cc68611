/**
 * Converts everyday HTML tags in a Markdown description to Markdown, and removes layout tags and
 * extensions beyond CommonMark (image sizes, notes of git hosts), so that readers see no tags. The
 * result is as untrusted as the text. Code stays as it is. `<details>` become paragraphs of `folds`,
 * which nothing else has.
 */
export function tagsToMarkdown(text: string): string {
  const written = text.replace(/[\uE001-\uE003]/g, '');
  if (!/<[/a-z]|!\[|\[!/i.test(written)) return written;
  return written
    .split(/(^ {0,3}(?:`{3}|~{3})[^]*?(?:^ {0,3}(?:`{3}|~{3})[^\n]*$|(?![^]))|`[^`\n]+`)/m)
    .map((part, at) => (at % 2 === 1 ? part : replaceTags(part)))
    .join('');
}

/** Paragraphs that begin and end `<details>`, and the first character of one that is its summary. */
export const folds = { open: '\uE001', close: '\uE002', summary: '\uE003' } as const;

const breaks = new Set(
  'p div section article table thead tbody tr ul ol dl dt dd blockquote center summary'.split(' '),
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

function replaceTags(text: string): string {
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
      / ?<(\/?)([a-z][a-z0-9]{0,20})(?:\s[^<>]{0,500})?\/?> ?/gi,
      (tag: string, close: string, written: string) => {
        const name = written.toLowerCase();
        const before = tag.startsWith(' ') ? ' ' : '';
        const after = tag.endsWith(' ') ? ' ' : '';
        if (name === 'br' || name === 'hr') return '  \n';
        if (name === 'li') return close === '' ? '\n- ' : '\n';
        if (name === 'details') return `\n\n${close === '' ? folds.open : folds.close}\n\n`;
        if (/^h[1-6]$/.test(name)) return close === '' ? '\n\n#### ' : '\n\n';
        if (breaks.has(name)) return '\n\n';
        if (Object.hasOwn(marks, name)) return `${before}${marks[name]}${after}`;
        return dropped.has(name) ? before || after : tag;
      },
    );
}

/** An image in Markdown. What it may be is decided there. */
function imageMarkdown(attributes: string): string {
  const attribute = (name: string) => new RegExp(`(?:^|\\s)${name}=(["'])(.*?)\\1`, 'is').exec(attributes)?.[2] ?? '';
  const source = /^[^\s()<>]+$/.exec(attribute('src'))?.[0];
  const words = attribute('alt').replace(/[[\]]/g, '').trim();
  return source === undefined ? words || 'image' : `![${words}](${source})`;
}
