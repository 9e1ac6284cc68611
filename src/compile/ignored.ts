import { createBudget, TooMuchWork, type Budget } from './ruleset/spectral/pattern.ts';

/** What stands for one character of a name: itself in lower case, a set, `?` or `*`. */
type Token = string | RegExp | typeof any | typeof star;
/** A name of a file or folder, or `**`. */
type Segment = Token[] | typeof folders;

interface Pattern {
  index: number;
  isNegated: boolean;
  isForFolders: boolean;
  /** Of the whole path, or of its last name alone. */
  segments: Segment[];
  isAnchored: boolean;
}

const any = Symbol('?');
const star = Symbol('*');
const folders = Symbol('**');

/** The most characters and names that are looked at: those of 400 patterns for 200,000 files. */
const maxWork = 1_000_000_000;

/**
 * Applies patterns in gitignore syntax to paths: the last pattern that matches wins, `!` takes a
 * file back, and nothing in an excluded folder can be taken back. Case does not matter. Returns for
 * each path the index of the pattern that excludes it, or -1. Null: it takes too much work, which is
 * counted, so that it does so on every machine.
 */
export function findIgnored(
  patterns: readonly string[],
  paths: readonly string[],
  budget: Budget = createBudget(maxWork),
): number[] | null {
  const parsed = patterns.flatMap((line, index) => parsePattern(line, index) ?? []).reverse();
  const decided = new Map<string, number>([['', -1]]);
  /** `path` ends with a slash if it is a folder. */
  function decide(path: string): number {
    let by = decided.get(path);
    if (by !== undefined) return by;
    by = decide(path.slice(0, path.lastIndexOf('/', path.length - 2) + 1));
    if (by < 0) {
      const isFolder = path.endsWith('/');
      const names = path.slice(0, isFolder ? -1 : undefined).split('/');
      const chars = names.map((name) => [...name.toLowerCase()]);
      const last = chars.slice(-1);
      const match = parsed.find(
        ({ isForFolders, isAnchored, segments }) =>
          (isFolder || !isForFolders) && fits(segments, isAnchored ? chars : last, budget),
      );
      by = match === undefined || match.isNegated ? -1 : match.index;
    }
    decided.set(path, by);
    return by;
  }
  try {
    return paths.map(decide);
  } catch (error) {
    if (error instanceof TooMuchWork) return null;
    throw error;
  }
}

function fits(segments: readonly Segment[], names: readonly string[][], budget: Budget): boolean {
  return fitsAll(segments, names, folders, (segment, name) => fitsName(segment as Token[], name, budget), budget);
}

function fitsName(tokens: readonly Token[], name: readonly string[], budget: Budget): boolean {
  const fitsChar = (token: Token, char: string) =>
    token === any || token === char || (token instanceof RegExp && token.test(char));
  return fitsAll(tokens, name, star, fitsChar, budget);
}

/** Whether the parts fit all items in order, `many` any number of them. Only the last `many` is ever tried again. */
function fitsAll<Part, Item>(
  parts: readonly Part[],
  items: readonly Item[],
  many: Part,
  fitsOne: (part: Part, item: Item) => boolean,
  budget: Budget,
): boolean {
  let part = 0;
  let last: { part: number; item: number } | null = null;
  for (let item = 0; item < items.length;) {
    budget.spend(1);
    if (parts[part] === many) last = { part: ++part, item };
    else if (part < parts.length && fitsOne(parts[part]!, items[item]!)) {
      part++;
      item++;
    } else if (last === null) return false;
    else {
      part = last.part;
      item = ++last.item;
    }
  }
  while (parts[part] === many) part++;
  return part === parts.length;
}

/** Null: the line has no pattern, or one that nothing matches. */
function parsePattern(line: string, index: number): Pattern | null {
  const isNegated = line.startsWith('!');
  const text = withoutEnd(isNegated ? line.slice(1) : line);
  const isForFolders = text.endsWith('/');
  const names = (isForFolders ? text.slice(0, -1) : text).replaceAll('\\/', '/').split('/');
  if (line.startsWith('#') || names.join('') === '') return null;
  // Without a slash before its end it is for names at every level.
  const isAnchored = names.length > 1;
  if (names[0] === '') names.shift();
  const segments: Segment[] = [];
  for (const name of names) {
    const segment = name === '**' && isAnchored ? folders : parseName(name);
    if (segment === null) return null;
    segments.push(segment);
  }
  // What is inside a folder, and not the folder itself.
  if (segments.at(-1) === folders) segments.push([star]);
  return { index, isNegated, isForFolders, segments, isAnchored };
}

/** Without spaces at the end, but for one after a backslash. */
function withoutEnd(text: string): string {
  const bare = text.replace(/ +$/, '');
  return bare !== text && /(?:^|[^\\])(?:\\\\)*\\$/.test(bare) ? `${bare} ` : bare;
}

function parseName(name: string): Token[] | null {
  const tokens: Token[] = [];
  const chars = [...name.toLowerCase()];
  for (let at = 0; at < chars.length; at++) {
    const char = chars[at]!;
    if (char === '*') tokens.push(star);
    else if (char === '?') tokens.push(any);
    else if (char === '[') {
      const set = parseSet(chars, at);
      if (set === null) return null;
      tokens.push(set.pattern);
      at = set.end;
    } else if (char !== '\\') tokens.push(char);
    else if (++at === chars.length) return null;
    else tokens.push(chars[at]!);
  }
  return tokens;
}

const namedSets: Readonly<Record<string, string>> = {
  alnum: 'a-z0-9',
  alpha: 'a-z',
  blank: ' \\t',
  cntrl: '\\0-\\x1f\\x7f',
  digit: '0-9',
  graph: '!-~',
  lower: 'a-z',
  print: ' -~',
  punct: '!-/:-@[-`{-~'.replaceAll(/[[\]\\^]/g, String.raw`\$&`),
  space: '\\s',
  upper: 'a-z',
  xdigit: '0-9a-f',
};

/** A set in brackets that begins at `start`. Null: it has no end. */
function parseSet(chars: readonly string[], start: number): { pattern: RegExp; end: number } | null {
  let at = start + 1;
  const isNegated = chars[at] === '!' || chars[at] === '^';
  if (isNegated) at++;
  let source = '';
  const code = (char: string) => `\\u{${char.codePointAt(0)!.toString(16)}}`;
  for (const first = at; at === first || chars[at] !== ']'; at++) {
    const named = chars[at] === '[' && chars[at + 1] === ':' ? chars.indexOf(']', at + 2) : -1;
    if (named > 0 && chars[named - 1] === ':') {
      source += namedSets[chars.slice(at + 2, named - 1).join('')] ?? '';
      at = named;
      continue;
    }
    if (chars[at] === '\\') at++;
    const from = chars[at];
    if (from === undefined) return null;
    let to = from;
    if (chars[at + 1] === '-' && chars[at + 2] !== ']') {
      at += chars[at + 2] === '\\' ? 3 : 2;
      to = chars[at] ?? '';
    }
    if (to === '') return null;
    if (from <= to) source += `${code(from)}-${code(to)}`;
  }
  return { pattern: RegExp(`[${isNegated ? '^' : ''}${source}]`, 'iu'), end: at };
}
