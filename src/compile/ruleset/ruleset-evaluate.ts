import { isObject } from '../../model/json.ts';
import type { Problem } from '../../model/problem.ts';
import { leftOutOf } from '../../render/ruleset.ts';
import { modulesMember, type GivenRuleset } from '../compile.ts';
import type { Interpreter, Program } from '../interpreter/interpreter.ts';
import { problemAt, type CollectedDocument } from '../kind.ts';
import { formOf, forms } from './forms.ts';
import { modulesOf } from './ruleset-code.ts';

/**
 * Checks a document against a published ruleset. `files` must contain all that the document
 * references. `date`: the time that functions of the ruleset see, in milliseconds since 1970.
 */
export async function lintWithRuleset(
  given: CollectedDocument,
  { json, name, extended = {} }: Omit<GivenRuleset, 'digest'>,
  interpreter: Interpreter | null = null,
  date = 0,
): Promise<Problem[]> {
  const ruleset: unknown = JSON.parse(json);
  if (!isObject(ruleset)) return [];
  const bases = new Map(
    Object.entries(extended).map(([coordinate, base]) => [coordinate, JSON.parse(base.json) as unknown]),
  );
  const find = (coordinate: string) => {
    const base = bases.get(coordinate);
    return isObject(base) ? base : null;
  };
  const programs = await openPrograms([ruleset, ...bases.values()], interpreter, date);
  const problems = await forms[formOf(ruleset, '', find)].lint(given, { ruleset, name, find, programs });
  const leftOut = leftOutOf(ruleset);
  if (leftOut.length === 0) return problems;
  const message = `The ruleset ${name} is partial. Not checked: ${leftOut.join(', ')}.`;
  return [...problems, problemAt(given.entry, '', 'ruleset-partial', message, { severity: 'info' })];
}

async function openPrograms(
  rulesets: readonly unknown[],
  interpreter: Interpreter | null,
  date: number,
): Promise<ReadonlyMap<unknown, Program>> {
  const programs = new Map<unknown, Program>();
  if (interpreter === null) return programs;
  for (const ruleset of rulesets) {
    const modules = modulesOf(ruleset);
    if (modules !== null && isObject(ruleset))
      programs.set(ruleset[modulesMember], await interpreter.open(modules, date));
  }
  return programs;
}
