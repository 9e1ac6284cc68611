import { isObject } from '../../../model/json.ts';
import { createPathGlob, pathGlobProblem } from '../../../model/glob.ts';

/** A ruleset with what it says for one file. */
export interface Overridden {
  ruleset: Readonly<Record<string, unknown>>;
  /** The severity of a rule at a pointer, as written; undefined if nothing is said about it. */
  severityAt(rule: string, pointer: string): unknown;
}

/** Applies the `overrides` of a ruleset that match the path of a document. */
export function withOverrides(ruleset: Readonly<Record<string, unknown>>, path: string): Overridden {
  const { overrides, ...base } = ruleset;
  const places: { pointer: string; rules: Record<string, unknown> }[] = [];
  let merged: Readonly<Record<string, unknown>> = base;
  for (const override of Array.isArray(overrides) ? overrides.filter(isObject) : []) {
    const { files, ...own } = override;
    const patterns = Array.isArray(files) ? files.map(String) : [];
    let applies = false;
    for (const pattern of patterns) {
      const [glob = '', pointer] = pattern.split('#', 2);
      if (!matchesPath(glob, path)) continue;
      if (pointer === undefined) applies = true;
      else if (isObject(own['rules'])) places.push({ pointer, rules: own['rules'] });
    }
    // As if it extended the rest: a severity of a rule that is defined there changes that rule.
    if (applies) merged = { ...own, extends: [merged, ...[own['extends'] ?? []].flat()] };
  }
  return {
    ruleset: merged,
    severityAt(rule, pointer) {
      const matches = places
        .filter((place) => Object.hasOwn(place.rules, rule))
        .filter((place) => pointer === place.pointer || pointer.startsWith(`${place.pointer}/`))
        .sort((a, b) => b.pointer.length - a.pointer.length)[0];
      return matches?.rules[rule];
    },
  };
}

/** Whether a pattern of `files` matches. One without a slash matches the name in any folder. */
function matchesPath(pattern: string, path: string): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1);
  return expandBraces(pattern).some((one) => {
    const bare = one.replace(/^\.\//, '');
    if (pathGlobProblem(bare) !== null) return false;
    return createPathGlob(bare)(bare.includes('/') ? path : name) !== null;
  });
}

/** Why a pattern of `files` is not supported, or null. */
export function filesProblem(pattern: string): string | null {
  const [glob = ''] = pattern.split('#', 1);
  if (/[?[\]!()]/.test(glob)) return 'uses "?", "!", brackets or parentheses. Use *, ** and {a,b}';
  for (const one of expandBraces(glob)) {
    const problem = pathGlobProblem(one.replace(/^\.\//, ''));
    if (problem !== null) return problem;
  }
  return null;
}

const maxAlternatives = 50;

/** Writes out `{a,b}`, which is not nested. */
function expandBraces(pattern: string): string[] {
  let patterns = [pattern];
  for (let group = /\{([^{}]*)\}/.exec(patterns[0]!); group !== null; group = /\{([^{}]*)\}/.exec(patterns[0]!)) {
    const [whole, inside = ''] = group;
    patterns = patterns.flatMap((one) => inside.split(',').map((part) => one.replace(whole, () => part)));
    if (patterns.length > maxAlternatives) return patterns.slice(0, maxAlternatives);
  }
  return patterns;
}
