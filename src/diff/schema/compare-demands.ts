import { isObject } from '../../model/json.ts';
import { listOf, objectOf, textOf } from '../../render/json-value.ts';
import { placesOf, quote, report, type CompareFurther, type Judgement, type Pair } from '../report.ts';
import { memberOf, membersOf, type Place } from '../side.ts';
import { factsBelow, type Both, type Fact } from '../walk.ts';
import { haveType, isSameValue } from './compare-values.ts';
import { keywordsCompared } from './keywords.ts';
import { areDisjoint } from './overlap.ts';
import { isAnything } from './plain-form.ts';
import { viewOf, type SchemaView } from './read-schema.ts';
import { isTwice } from './schema-parts.ts';

type Kind = 'condition' | 'not' | 'dependent-required' | 'dependent-schemas';

/** One of several restrictions that apply together: one more narrows, one less widens. */
interface Demand {
  kind: Kind;
  /** Without its verb's negation: `requires "b" where "a" is present`. */
  says: string;
  /** The schema that says when it counts: that of "if". Null: it always does. */
  given: Place | null;
  /** The schema that counts. Of a required property, where it is named. */
  place: Place;
}

const ifMatched = 'restricts values that match "if"';
const demandKeywords = new Set(keywordsCompared('demand'));

/** Compares the restrictions of which a schema may have any number. */
export function compareDemands(pair: Pair, { within, excluded }: CompareFurther): void {
  const isSameAt = (one: Place | null, other: Place | null) => isSameValue(pair.walk, one?.value, other?.value);
  const [before, after] = [demandsOf(pair.before), demandsOf(pair.after)];
  for (const kind of new Set([...before, ...after].map((demand) => demand.kind))) {
    if (kind.startsWith('dependent') && !haveType(pair, 'object')) continue;
    const [old, current] = [before, after].map((all) => all.filter((demand) => demand.kind === kind)) as [Demand[], Demand[]]; // prettier-ignore
    const isSame = (one: Demand, other: Demand) =>
      one.says === other.says && isSameAt(one.given, other.given) && isSameAt(one.place, other.place);
    const removed = old.filter((one) => !current.some((other) => isSame(one, other)));
    const added = current.filter((other) => !old.some((one) => isSame(one, other)));
    for (const one of kind === 'dependent-required' ? [] : removed.slice()) {
      const [others, twins] = [added, removed].map((all) => all.filter(({ says }) => says === one.says));
      const other = others![0];
      // All that is excluded stands for itself, in any order.
      if (other === undefined || (kind !== 'not' && others!.length + twins!.length > 2)) continue;
      if (kind === 'not') reportExcluded(pair, kind, [one.place, other.place], excluded);
      // What counts in the same cases allows more where its schema does.
      else if (isSameAt(one.given, other.given)) within([one.place], [other.place], { isBranch: false });
      else if (one.says === ifMatched && isSameAt(one.place, other.place))
        reportExcluded(pair, 'condition', [one.given!, other.given!], excluded);
      else continue;
      removed.splice(removed.indexOf(one), 1);
      added.splice(added.indexOf(other), 1);
    }
    if (removed.length > 0 || added.length > 0) reportDemands(pair, kind, [old, current], [removed, added]);
  }
}

type Demands = Both<readonly Demand[]>;

function reportDemands(pair: Pair, kind: Kind, [old, current]: Demands, [removed, added]: Demands): void {
  const at = placesOf(pair, (removed[0] ?? old[0])?.place, (added[0] ?? current[0])?.place);
  const name = `${kind}-${old.length === 0 ? 'set' : current.length === 0 ? 'unset' : 'changed'}`;
  const isReplaced = removed.length > 0 && added.length > 0;
  if (isReplaced && kind !== 'dependent-required') {
    const keywords = kind === 'condition' ? '"if", "then" and "else"' : '"dependentSchemas"';
    const says = `restricts values by ${keywords} in another way; what that means cannot be judged`;
    return report(pair, 'unknown', name, says, { at });
  }
  const effect = isReplaced ? 'changes' : added.length > 0 ? 'narrows' : 'widens';
  const all = [...added.map(({ says }) => says), ...removed.map(({ says }) => `no longer ${says}`)];
  const says = all.slice(0, 5).join('; ');
  const places = (added.length > 0 ? added : removed).map(({ place }) => place);
  if (kind === 'not' && areMoot(pair, added.length > 0, places))
    report(pair, 'safe', name, `${says}, which ${added.length > 0 ? 'were' : 'are'} not valid anyway`, { at });
  else report(pair, effect, name, says, { at });
}

/** Whether what is excluded now (`isMore`), or was, is not valid in the other document anyway, as far as that can be proved. */
function areMoot({ before, after }: Pair, isMore: boolean, places: readonly Place[]): boolean {
  const [view, { side }] = isMore ? [before, after] : [after, before];
  return places.every((place) => areDisjoint(view, viewOf(side, [place])));
}

/**
 * Reports what "not" excludes now, or "if" restricts: what widens their schemas narrows what is left, and the other way
 * round.
 */
function reportExcluded(
  pair: Pair,
  kind: 'not' | 'condition',
  both: Both<Place>,
  excluded: CompareFurther['excluded'],
): void {
  const inside = excluded([both[0]], [both[1]]);
  if (inside === null) return;
  pair.unit.excluded.push(inside);
  const at = placesOf(pair, ...both);
  const [verb, keyword] = kind === 'not' ? ['excludes', '"not"'] : ['restricts', '"if"'];
  // What unions within it report is known one step later.
  pair.walk.later(() =>
    pair.walk.later((mayDo) => {
      const facts = factsBelow(pair.walk, inside);
      const tell = (judgement: Judgement, says: string, isTold: (fact: Fact) => boolean) => {
        const messages = facts.filter(isTold).map(({ message }) => message.replace(/\.$/, ''));
        report(pair, judgement, `${kind}-changed`, [says, ...messages.slice(0, 3)].join('; '), { at });
      };
      const [isMore, isLess] = [mayDo('widens', inside), mayDo('narrows', inside)];
      const says = `${verb} ${isMore && isLess ? 'other' : isMore ? 'more' : 'fewer'} values by ${keyword}`;
      const isNone = isMore !== isLess && areMoot(pair, isMore, [both[isMore ? 1 : 0]]);
      if (mayDo('unknown', inside))
        tell('unknown', `${says}; which ones cannot be judged`, ({ effect }) => effect === 'unknown');
      else if (isNone) tell('safe', `${says}, which ${isMore ? 'were' : 'are'} not valid anyway`, () => false);
      else if (isMore || isLess)
        tell(isMore && isLess ? 'changes' : isMore ? 'narrows' : 'widens', says, ({ effect }) => effect !== undefined);
      else if (facts.length > 0) tell('docs', `describes the values of ${keyword} in another way`, () => true);
    }),
  );
}

function demandsOf({ side, flat, keywords }: SchemaView): Demand[] {
  if (demandKeywords.isDisjointFrom(keywords)) return [];
  return flat.parts.flatMap((part): Demand[] => {
    const demands: Demand[] = [];
    const add = (kind: Kind, says: string, place: Place, given: Place | null = null) =>
      demands.push({ kind, says, place, given });
    const [given, excluded] = [memberOf(side, part, 'if'), memberOf(side, part, 'not')];
    // Without "if", the others demand nothing, and it demands nothing without them.
    const [matched, others] = [memberOf(side, part, 'then'), memberOf(side, part, 'else')];
    if (given && matched) add('condition', ifMatched, matched, given);
    if (given && others) add('condition', 'restricts values that do not match "if"', others, given);
    if (excluded && !isTwice(excluded.value)) add('not', 'excludes the values of "not"', excluded);
    for (const keyword of ['dependentRequired', 'dependentSchemas', 'dependencies'])
      for (const [name, place] of membersOf(side, memberOf(side, part, keyword))) {
        const { value: needed, pointer } = place;
        const where = `where ${quote(JSON.stringify(name))} is present`;
        const { required, ...rest } = objectOf(needed);
        for (const other of listOf(Array.isArray(needed) ? needed : required).filter((one) => one !== name))
          add('dependent-required', `requires ${quote(JSON.stringify(textOf(other)))} ${where}`, {
            value: null,
            pointer,
          });
        const schema = isObject(needed) ? rest : needed;
        if (!Array.isArray(needed) && !isAnything(schema))
          add('dependent-schemas', `restricts the object ${where}`, { value: schema, pointer });
      }
    return demands;
  });
}
