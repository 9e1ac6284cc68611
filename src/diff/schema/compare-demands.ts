import { entriesOf, listOf, objectOf, textOf } from '../../render/json-value.ts';
import { haveType } from './compare-types.ts';
import { judge, placesOf, quote, report, type Pair } from '../report.ts';
import { areDisjoint, isWithin } from './overlap.ts';
import { keywordsCompared } from './keywords.ts';
import { textOfValue, viewOf, type SchemaView } from './read-schema.ts';
import { escapeKey } from '../side.ts';
import type { Walk } from '../walk.ts';

type Kind = 'condition' | 'not' | 'dependent-required' | 'dependent-schemas';

/** One of several restrictions that apply together: one more narrows, one less widens. */
interface Demand {
  kind: Kind;
  /** Without its verb's negation: `requires "b" where "a" is present`. */
  says: string;
  /** The schemas that it consists of, if any. */
  schemas: unknown;
  pointer: string;
}

const demandKeywords = new Set(keywordsCompared('demand'));

/** Compares the restrictions of which a schema may have any number. */
export function compareDemands(pair: Pair): void {
  const [before, after] = [demandsOf(pair.before), demandsOf(pair.after)];
  for (const kind of new Set([...before, ...after].map((demand) => demand.kind))) {
    if (kind.startsWith('dependent') && !haveType(pair, 'object')) continue;
    const isKind = (demand: Demand) => demand.kind === kind;
    compareKind(pair, kind, before.filter(isKind), after.filter(isKind));
  }
}

function compareKind(pair: Pair, kind: Kind, old: readonly Demand[], current: readonly Demand[]): void {
  const isSame = (one: Demand, other: Demand) =>
    one.says === other.says && isSameValue(pair.walk, one.schemas, other.schemas);
  const removed = old.filter((one) => !current.some((other) => isSame(one, other)));
  const added = current.filter((other) => !old.some((one) => isSame(one, other)));
  if (removed.length === 0 && added.length === 0) return;
  const at = placesOf(pair, removed[0] ?? old[0], added[0] ?? current[0]);
  const name = `${kind}-${old.length === 0 ? 'set' : current.length === 0 ? 'unset' : 'changed'}`;
  const isReplaced = removed.length > 0 && added.length > 0;
  if (isReplaced && kind !== 'dependent-required') {
    const says = `restricts values by ${words[kind]} in another way; what that means cannot be judged`;
    return report(pair, 'unknown', name, says, { at });
  }
  const effect = isReplaced ? 'changes' : added.length > 0 ? 'narrows' : 'widens';
  const all = [...added.map(({ says }) => says), ...removed.map(({ says }) => `no longer ${says}`)];
  const says = all.slice(0, 5).join('; ');
  if (kind !== 'not' || judge(effect, pair.direction) !== 'breaking') return report(pair, effect, name, says, { at });
  const excluded = [...added, ...removed].map(({ schemas, pointer }) => ({ value: schemas, pointer }));
  const [view, other] = added.length > 0 ? [pair.before, pair.walk.after] : [pair.after, pair.walk.before];
  const answer = areExcluded(
    view,
    excluded.map((place) => viewOf(other, [place])),
  );
  if (answer === 'none')
    report(pair, 'safe', name, `${says}, which ${added.length > 0 ? 'were not' : 'are not'} valid anyway`, { at });
  else if (answer === 'some') report(pair, effect, name, says, { at });
  else report(pair, 'unknown', name, `${says}; whether other keywords allow them cannot be judged`, { at });
}

/** Whether a schema allows some of the values of others, or none. Null: it cannot be proved. */
function areExcluded(view: SchemaView, excluded: readonly SchemaView[]): 'some' | 'none' | null {
  if (excluded.every((one) => areDisjoint(view, one))) return 'none';
  return excluded.some((one) => !one.isNever && isWithin(one, [view])) ? 'some' : null;
}

const words: Readonly<Record<Kind, string>> = {
  condition: '"if", "then" and "else"',
  not: '"not"',
  'dependent-required': '"dependentRequired"',
  'dependent-schemas': '"dependentSchemas"',
};

function demandsOf({ flat, keywords }: SchemaView): Demand[] {
  if (demandKeywords.isDisjointFrom(keywords)) return [];
  return flat.parts.flatMap(({ value, pointer }): Demand[] => {
    const demands: Demand[] = [];
    const has = (keyword: string) => Object.hasOwn(value, keyword);
    const add = (kind: Kind, keyword: string, says: string, schemas: unknown = null) =>
      demands.push({ kind, says, schemas, pointer: `${pointer}/${keyword}` });
    // Without "if", the others demand nothing, and it demands nothing without them.
    if (has('if') && has('then'))
      add('condition', 'then', 'restricts values that match "if"', [value['if'], value['then']]);
    if (has('if') && has('else'))
      add('condition', 'else', 'restricts values that do not match "if"', [value['if'], value['else']]);
    if (has('not')) add('not', 'not', 'excludes the values of "not"', value['not']);
    for (const keyword of ['dependentRequired', 'dependentSchemas', 'dependencies'])
      for (const [name, needed] of entriesOf(value[keyword])) {
        const at = `${keyword}/${escapeKey(name)}`;
        const where = `where ${quote(JSON.stringify(name))} is present`;
        if (Array.isArray(needed))
          for (const other of listOf(needed))
            add('dependent-required', at, `requires ${quote(JSON.stringify(textOf(other)))} ${where}`);
        else add('dependent-schemas', at, `restricts the object ${where}`, objectOf(needed));
      }
    return demands;
  });
}

/**
 * Whether two values are the same, with all that they refer to. In documents of different dialects,
 * whether they are written in the same way.
 */
export function isSameValue(walk: Walk, before: unknown, after: unknown): boolean {
  if (walk.before.dialect.name === walk.after.dialect.name) return walk.same(before, after);
  return textOfValue(before) === textOfValue(after);
}
