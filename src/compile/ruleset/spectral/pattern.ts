import { RE2JS, RE2JSException } from 're2js';

/** Whether a text matches a regular expression, somewhere. */
export type Matches = (text: string) => boolean;

/** The longest pattern, in characters, and the most places that one with a lookahead is tried at. */
const longest = 2000;
const mostPlaces = 2000;

/**
 * Compiles a pattern of a ruleset, plain or as `/…/flags`, for matching in linear time (RE2), so
 * that no pattern can stop a sandbox. RE2 has no lookaheads. Those that rulesets use stand at the
 * start, or exclude a text as `((?!text).)*`, and are matched as patterns of their own. Throws a
 * `SyntaxError` for invalid patterns and everything else that RE2 lacks.
 */
export function compilePattern(written: string): Matches {
  const [, source = written, letters = ''] = /^\/(.+)\/([a-z]*)$/s.exec(written) ?? [];
  return compileRegex(source, letters);
}

/** Compiles the source and flags of a regular expression. Throws a `SyntaxError`. */
export function compileRegex(source: string, letters: string): Matches {
  if (source.length > longest) throw new SyntaxError(`it is longer than ${longest} characters`);
  const excluded = /^\^\(\(\?!((?:[^()[\]\\]|\\.)*)\)\.\)\*\$$/s.exec(source)?.[1];
  if (excluded !== undefined && excluded !== '') {
    const found = compileRegex(excluded, letters);
    return (text) => !/[\n\r\u2028\u2029]/.test(text) && !found(text);
  }
  const { isAnchored, aheads, rest } = splitLookaheads(source);
  if (aheads.length === 0) return compilePlain(source, letters);
  const conditions = aheads.map(({ not, body }) => ({ not, matches: compilePlain(`^(?:${body})`, letters) }));
  const tail = compilePlain(`^(?:${rest})`, letters);
  const holdsAt = (text: string) => conditions.every(({ not, matches }) => matches(text) !== not) && tail(text);
  if (isAnchored) return holdsAt;
  return (text) => {
    for (let at = 0; at <= Math.min(text.length, mostPlaces); at++) if (holdsAt(text.slice(at))) return true;
    return false;
  };
}

function compilePlain(source: string, letters: string): Matches {
  // Rejects what JavaScript would reject: RE2 has syntax of its own.
  RegExp(source, letters);
  const flags =
    (letters.includes('i') ? RE2JS.CASE_INSENSITIVE : 0) |
    (letters.includes('s') ? RE2JS.DOTALL : 0) |
    (letters.includes('m') ? RE2JS.MULTILINE : 0);
  try {
    const compiled = RE2JS.compile(RE2JS.translateRegExp(source), flags);
    return (text) => compiled.test(text);
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    throw new SyntaxError(`${error.message.replace('error parsing regexp: ', '')} (lookaheads only at the start)`);
  }
}

/** Splits off the lookaheads at the start of a pattern without alternatives at its root. */
function splitLookaheads(source: string): {
  isAnchored: boolean;
  aheads: { not: boolean; body: string }[];
  rest: string;
} {
  const isAnchored = source.startsWith('^');
  const aheads: { not: boolean; body: string }[] = [];
  let rest = isAnchored ? source.slice(1) : source;
  for (let open = /^\(\?([!=])/.exec(rest); open !== null; open = /^\(\?([!=])/.exec(rest)) {
    const end = endOfGroup(rest);
    if (end < 0) break;
    aheads.push({ not: open[1] === '!', body: rest.slice(3, end) });
    rest = rest.slice(end + 1);
  }
  const isSplit = aheads.length > 0 && !/^[*+?{]/.test(rest) && !hasAlternatives(rest);
  return isSplit ? { isAnchored, aheads, rest } : { isAnchored, aheads: [], rest: source };
}

/** The position of the parenthesis that closes the group at the start, or -1. */
function endOfGroup(source: string): number {
  for (const { char, depth, at } of tokens(source)) if (char === ')' && depth === 0) return at;
  return -1;
}

function hasAlternatives(source: string): boolean {
  for (const { char, depth } of tokens(source)) if (char === '|' && depth === 0) return true;
  return false;
}

/** The characters outside of classes and escapes. `depth`: of groups, after a closing parenthesis. */
function* tokens(source: string): Generator<{ char: string; depth: number; at: number }> {
  let depth = 0;
  let inClass = false;
  for (let at = 0; at < source.length; at++) {
    const char = source[at]!;
    if (char === '\\') at++;
    else if (inClass) inClass = char !== ']';
    else if (char === '[') inClass = true;
    else {
      if (char === '(') depth++;
      if (char === ')') depth--;
      yield { char, depth, at };
    }
  }
}
