/** Markdown to which HTML is added piece by piece. */
export interface GrowingMarkdown {
  /** Words as they are. `isLast`: whether a tag follows that ends what they are in. */
  words(text: string, isLast?: boolean): void;
  /** Ends a paragraph, a cell or another block. */
  end(): void;
  /** A block that stands alone, such as code. */
  block(markdown: string): void;
  lineBreak(): void;
  heading(): void;
  beginList(marker: string): void;
  endList(): void;
  item(): void;
  readonly text: string;
}

/** Lists that are deeper are not indented further. */
const deepestList = 8;

/** Indentation after a tag that ends a block means nothing, but after a blank line, where HTML ends. */
export function createMarkdown(): GrowingMarkdown {
  const pieces: string[] = [];
  const lists: string[] = [];
  /** What was added last. Blocks are separated when something follows. */
  let last: 'words' | 'break' | 'block' | 'start' = 'words';

  function block(markdown: string): void {
    pieces.push('\n\n', markdown);
    last = 'block';
  }

  return {
    words(text, isLast = false) {
      const start = last === 'words' ? text : text.replace(indentation[last], '$1');
      const words = isLast ? start.trimEnd() : start;
      if (words === '') return;
      if (last === 'block') pieces.push('\n\n');
      pieces.push(words);
      last = 'words';
    },
    end: () => void (last = 'block'),
    block,
    lineBreak() {
      pieces.push('  \n');
      last = 'break';
    },
    heading() {
      pieces.push('\n\n#### ');
      last = 'start';
    },
    beginList(marker) {
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
