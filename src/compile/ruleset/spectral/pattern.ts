import { RE2JS, RE2JSException } from 're2js';

/** Counts work, so that no ruleset takes longer than it may on any document. */
export interface Budget {
  /** Throws `TooMuchWork` when too much was spent. */
  spend(units: number): void;
}

/**
 * What matching a text costs in work. It takes some ten nanoseconds for a character; at worst, which
 * is counted where both are long, thirty for each step of the pattern as well.
 */
function costOfMatch(length: number, steps: number): number {
  return length * steps > longMatch ? (length * steps) / 4 : 1 + (length >> 3);
}

/** At worst a second and a half. */
const longMatch = 50_000_000;

/** The error when a ruleset takes too much work. `rule`: one that was at work then. */
export class TooMuchWork extends Error {
  rule = '';
}

/**
 * The most work for one document: members looked at, filters tried, checks made and texts matched.
 * It takes some five seconds. A count and not a time, so that a report is the same on every machine.
 */
const maxWork = 40_000_000;

export function createBudget(limit = maxWork): Budget {
  let left = limit;
  return {
    spend(units) {
      left -= units;
      if (left < 0) throw new TooMuchWork();
    },
  };
}

/** Whether a text matches a regular expression, somewhere. Looking through it is paid from the budget. */
export type Matches = (text: string, budget?: Budget) => boolean;

/** A compiled pattern. `steps`: what it was compiled to, with its repetitions written out. */
export interface Pattern {
  matches: Matches;
  steps: number;
}

/** The longest pattern, in characters, and the most places that one with a lookahead is tried at. */
const longest = 2000;
const maxPlaces = 2000;

/** The most steps of a pattern. In the rulesets that we know, the largest has 547. */
const maxSteps = 3000;

/**
 * Compiles a pattern of a ruleset, plain or as `/…/flags`, for matching in linear time (RE2), so
 * that no pattern can stop a sandbox. RE2 has no lookaheads. Those that rulesets use stand at the
 * start, or exclude a text as `((?!text).)*`, and are matched as patterns of their own. Throws a
 * `SyntaxError` for invalid patterns and everything else that RE2 lacks.
 */
export function compilePattern(written: string): Pattern {
  const [, source = written, letters = ''] = /^\/(.+)\/([a-z]*)$/s.exec(written) ?? [];
  return compileRegex(source, letters);
}

/** Compiles the source and flags of a regular expression. Throws a `SyntaxError`. */
export function compileRegex(source: string, letters: string): Pattern {
  if (source.length > longest) throw new SyntaxError(`it is longer than ${longest} characters`);
  const excluded = /^\^\(\(\?!((?:[^()[\]\\]|\\.)*)\)\.\)\*\$$/s.exec(source)?.[1];
  if (excluded !== undefined && excluded !== '') {
    const { matches, steps } = compileRegex(excluded, letters);
    return { steps, matches: (text, budget) => !/[\n\r\u2028\u2029]/.test(text) && !matches(text, budget) };
  }
  const { isAnchored, aheads, rest } = splitLookaheads(source);
  if (aheads.length === 0) return compilePlain(source, letters);
  const conditions = aheads.map(({ not, body }) => ({ not, ...compilePlain(`^(?:${body})`, letters) }));
  const tail = compilePlain(`^(?:${rest})`, letters);
  const steps = conditions.reduce((sum, condition) => sum + condition.steps, tail.steps);
  const holdsAt: Matches = (text, budget) =>
    conditions.every(({ not, matches }) => matches(text, budget) !== not) && tail.matches(text, budget);
  if (isAnchored) return { steps, matches: holdsAt };
  return {
    steps,
    matches(text, budget) {
      for (let at = 0; at <= Math.min(text.length, maxPlaces); at++) if (holdsAt(text.slice(at), budget)) return true;
      return false;
    },
  };
}

function compilePlain(source: string, letters: string): Pattern {
  // Rejects what JavaScript would reject: RE2 has syntax of its own.
  RegExp(source, letters);
  const flags =
    (letters.includes('i') ? RE2JS.CASE_INSENSITIVE : 0) |
    (letters.includes('s') ? RE2JS.DOTALL : 0) |
    (letters.includes('m') ? RE2JS.MULTILINE : 0);
  try {
    const compiled = RE2JS.compile(RE2JS.translateRegExp(source), flags);
    const steps = compiled.programSize();
    if (steps > maxSteps)
      throw new SyntaxError(`with its repetitions written out it has ${steps} steps; the limit is ${maxSteps}`);
    const matches: Matches = (text, budget) => {
      budget?.spend(costOfMatch(text.length, steps));
      return compiled.test(text);
    };
    return { matches, steps };
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
    const end = tokens(rest).find(({ char, depth }) => char === ')' && depth === 0);
    if (end === undefined) break;
    aheads.push({ not: open[1] === '!', body: rest.slice(3, end.at) });
    rest = rest.slice(end.at + 1);
  }
  const hasAlternatives = tokens(rest).some(({ char, depth }) => char === '|' && depth === 0);
  const isSplit = aheads.length > 0 && !/^[*+?{]/.test(rest) && !hasAlternatives;
  return isSplit ? { isAnchored, aheads, rest } : { isAnchored, aheads: [], rest: source };
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
