import { compileRegex, createBudget, TooMuchWork, type Budget, type Matches } from './ruleset/spectral/pattern.ts';

interface Pattern {
  index: number;
  isNegated: boolean;
  isForFolders: boolean;
  /** Whether it is for whole paths, and not for names at every level. */
  isAnchored: boolean;
  matches: Matches;
}

/** The most work of matching: that of 100 patterns for 100,000 files. */
const maxWork = 100_000_000;

/** What stands between names in place of a slash, which a set in brackets might contain. */
const separator = '\0';

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
    const parent = path.slice(0, path.lastIndexOf('/', path.length - 2) + 1);
    by = decide(parent);
    if (by < 0) {
      const isFolder = path.endsWith('/');
      const whole = path.slice(0, isFolder ? -1 : undefined);
      const [text, name] = [whole.replaceAll('/', separator), whole.slice(parent.length)];
      const match = parsed.find(
        ({ isForFolders, isAnchored, matches }) =>
          (isFolder || !isForFolders) && matches(isAnchored ? text : name, budget),
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
  // What is inside a folder, and not the folder itself.
  if (isAnchored && names.at(-1) === '**') names.push('*');
  try {
    const sources = names.map((name) => (name === '**' && isAnchored ? folders : `${sourceOf(name)}\\x00`));
    const { matches } = compileRegex(`^(?:${sources.join('').replace(/\\x00$/, '')})$`, 'is');
    return { index, isNegated, isForFolders, isAnchored, matches };
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

/** Without spaces at the end, but for one after a backslash. */
function withoutEnd(text: string): string {
  const bare = text.replace(/ +$/, '');
  return bare !== text && /(?:^|[^\\])(?:\\\\)*\\$/.test(bare) ? `${bare} ` : bare;
}

const folders = '(?:.*\\x00)?';

/** What a name is made of: stars, `?`, sets in brackets, and characters. */
const part = /\*+|\?|\[([!^]?)(\]?(?:\[:\w+:\]|\\.|[^\]\\])*)\]|\\(.)|(.)/gsu;
const inSet = /(\[:\w+:\])|\\?(.)(?:-\\?(.))?/gsu;

const escaped = (char: string) => char.replace(/[!-/:-@[-`{-~]/, '\\$&');

/** The regular expression of a name. Throws a `SyntaxError` for one that nothing matches. */
function sourceOf(name: string): string {
  return name.replace(part, (all, negation: string, set: string | undefined, quoted?: string, plain?: string) => {
    if (all.startsWith('*')) return '[^\\x00]*';
    if (all === '?') return '[^\\x00]';
    if (plain === '[' || plain === '\\') throw new SyntaxError('it has no end');
    if (set === undefined) return escaped((quoted ?? plain)!);
    const inside = set.replace(
      inSet,
      (_, named?: string, from = '', to = from) =>
        named ?? (from > to ? '' : from === to ? escaped(from) : `${escaped(from)}-${escaped(to)}`),
    );
    return `[${negation === '' ? '' : '^\\x00'}${inside}]`;
  });
}
