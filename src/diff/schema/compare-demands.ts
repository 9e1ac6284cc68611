import { isObject } from '../../model/json.ts';
import { listOf, objectOf, textOf } from '../../render/json-value.ts';
import { placesOf, quote, report, type CompareFurther, type Judgement, type Pair } from '../report.ts';
import { memberOf, membersOf, type Place } from '../side.ts';
import { createUnit, factsBelow, type Both, type Fact, type Walk } from '../walk.ts';
import { haveType, isSameValue } from './compare-values.ts';
import { isText, keywordOf, keywordsCompared } from './keywords.ts';
import { matchBranches, type Branch } from './match-branches.ts';
import { areDisjoint } from './overlap.ts';
import { isAnything, soleMember } from './plain-form.ts';
import { textOfValue, viewOf, type SchemaView } from './read-schema.ts';
import { coversTypes, listedIn, type Schema } from './schema-parts.ts';

type Kind = 'condition' | 'not' | 'dependent-required' | 'dependent-schemas';

/** One of several restrictions that apply together: one more narrows, one less widens. */
interface Demand extends Branch {
  kind: Kind;
  /** Without its verb's negation: `requires "b" where "a" is present`. */
  says: string;
  /** The schema of "if", what "not" excludes, or the name of a property that is required. */
  place: Place;
  /** What counts in this case, unless all that is excluded. */
  counting: Place[];
}

/** What the schemas around both demand, so that a demand need not. */
interface Around {
  required: ReadonlySet<string>;
  types: ReadonlySet<string> | null;
  /** Whether both list their values, without those that "not" excludes. */
  areListed: boolean;
  /** Whether one of them names properties on which others depend, which "if" may ask for, too. */
  hasNames: boolean;
}

const ifMatched = 'restricts values that match "if"';
const dependencies = ['dependentRequired', 'dependentSchemas', 'dependencies'];
const excludes = 'excludes the values of "not"';
const demandKeywords = new Set(keywordsCompared('demand'));

/** Compares the restrictions of which a schema may have any number. */
export function compareDemands(pair: Pair, { within, excluded }: CompareFurther): void {
  const { walk, before, after } = pair;
  const around = aroundBoth(pair);
  const all = [demandsOf(before, around), demandsOf(after, around)];
  for (const kind of new Set(all.flat().map((demand) => demand.kind))) {
    if (kind.startsWith('dependent') && !haveType(pair, 'object')) continue;
    const [old, current] = all.map((demands) => demands.filter((demand) => demand.kind === kind)) as [Demand[], Demand[]]; // prettier-ignore
    const isSameAt = (one: Place, other: Place | undefined) => isSameValue(walk, one.value, other?.value);
    const areSame = (one: Schema, other: Schema) =>
      one.length === other.length && one.every((place, at) => isSameAt(place, other[at]));
    const isSame = (one: Demand, other: Demand) =>
      one.says === other.says && isSameAt(one.place, other.place) && areSame(one.counting, other.counting);
    const isRequired = ({ required }: SchemaView, { place }: Demand) =>
      kind === 'dependent-required' && required.has(textOf(place.value));
    const removed = old.filter((one) => !isRequired(after, one) && !current.some((other) => isSame(one, other)));
    const added = current.filter((other) => !isRequired(before, other) && !old.some((one) => isSame(one, other)));
    for (const [one, other] of kind === 'dependent-required' ? [] : pairsOf(walk, removed, added)) {
      // What counts in the same cases allows more where its schema does.
      if (!areSame(one.counting, other.counting) && !isSameAt(one.place, other.place)) continue;
      if (!areSame(one.counting, other.counting)) within(one.counting, other.counting, { isBranch: false });
      if (!isSameAt(one.place, other.place)) reportExcluded(pair, one, other, excluded);
      removed.splice(removed.indexOf(one), 1);
      added.splice(added.indexOf(other), 1);
    }
    if (removed.length > 0 || added.length > 0) reportDemands(pair, kind, [old, current], [removed, added]);
  }
}

/** The demands that became others: those of the same case, or whose cases are most alike. */
function pairsOf({ before, after }: Walk, old: readonly Demand[], current: readonly Demand[]): [Demand, Demand][] {
  return [...Map.groupBy(old, ({ says }) => says)].flatMap(([says, demands]) => {
    const others = current.filter((one) => one.says === says);
    const { pairs, removed, added } = matchBranches(before, after, demands, others);
    // All that is excluded stands for itself, in any order.
    const isAny = demands[0]!.kind === 'not' || demands.length + others.length === 2;
    const left = isAny ? removed.slice(0, added.length) : [];
    return [...pairs, ...left.map((one, at): [Demand, Demand] => [one, added[at]!])];
  });
}

function aroundBoth({ before, after, types }: Pair): Around {
  const both = types.before && types.after && types.before.union(types.after);
  const mayBeNull = before.allowsNull !== false || after.allowsNull !== false;
  const required = new Set(before.required.keys()).intersection(after.required);
  const hasNames = [before, after].some(({ keywords }) => dependencies.some((keyword) => keywords.has(keyword)));
  const areListed = before.values !== null && after.values !== null;
  return { required, types: both && (mayBeNull ? both.union(new Set(['null'])) : both), hasNames, areListed };
}

type Demands = Both<readonly Demand[]>;

function placeOf(demand: Demand | undefined): Place | undefined {
  return demand?.counting[0] ?? demand?.place;
}

function reportDemands(pair: Pair, kind: Kind, [old, current]: Demands, [removed, added]: Demands): void {
  const at = placesOf(pair, placeOf(removed[0] ?? old[0]), placeOf(added[0] ?? current[0]));
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
  if (kind === 'not' && areMoot(pair, added.length > 0, added.length > 0 ? 'after' : 'before', places))
    report(pair, 'safe', name, `${says}, which ${added.length > 0 ? 'were' : 'are'} not valid anyway`, { at });
  else report(pair, effect, name, says, { at });
}

/**
 * Whether what is excluded now (`isMore`) was not valid before anyway, or what was excluded is not now, as far as that can
 * be proved. `of`: the document that has the places.
 */
function areMoot({ before, after, walk }: Pair, isMore: boolean, of: 'before' | 'after', places: Place[]): boolean {
  return places.every((place) => areDisjoint(isMore ? before : after, viewOf(walk[of], [place])));
}

/**
 * Reports what "not" excludes now, or "if" restricts: what widens their schemas narrows what is left, and the other way
 * round.
 */
function reportExcluded(pair: Pair, one: Demand, other: Demand, excluded: CompareFurther['excluded']): void {
  const { kind, says: said } = one;
  const both = [one.place, other.place] as const;
  const inside = excluded([both[0]], [both[1]]);
  if (inside === null) return;
  const isElse = kind === 'condition' && said !== ifMatched;
  pair.unit.excluded.push(isElse ? { ...createUnit(), excluded: [inside] } : inside);
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
      const [widens, narrows] = [mayDo('widens', inside), mayDo('narrows', inside)];
      const [isMore, isLess] = isElse ? [narrows, widens] : [widens, narrows];
      const says = `${verb} ${isMore && isLess ? 'other' : isMore ? 'more' : 'fewer'} values by ${keyword}`;
      // What "else" applies to now is what the other "if" had.
      const isNone =
        isMore !== isLess &&
        areMoot(pair, isMore, isMore === isElse ? 'before' : 'after', [both[isMore === isElse ? 0 : 1]]);
      if (mayDo('unknown', inside))
        tell('unknown', `${says}; which ones cannot be judged`, ({ effect }) => effect === 'unknown');
      else if (isNone) tell('safe', `${says}, which ${isMore ? 'were' : 'are'} not valid anyway`, () => false);
      else if (isMore || isLess)
        tell(isMore && isLess ? 'changes' : isMore ? 'narrows' : 'widens', says, ({ effect }) => effect !== undefined);
      else if (facts.length > 0) tell('docs', `describes the values of ${keyword} in another way`, () => true);
    }),
  );
}

function demandsOf({ side, flat, keywords }: SchemaView, around: Around): Demand[] {
  if (demandKeywords.isDisjointFrom(keywords)) return [];
  const demands = new Map<string, Demand>();
  const add = (kind: Kind, says: string, place: Place, ...counting: Place[]) => {
    const demand: Demand = { kind, says, place, schema: [place], counting: [] };
    const key = textOfValue([says, place.value]);
    demands.getOrInsert(key, demand).counting.push(...counting);
  };
  const addNamed = (name: string, place: Place) => {
    const where = `where ${quote(JSON.stringify(name))} is present`;
    const { required, ...rest } = objectOf(place.value);
    const names = listOf(Array.isArray(place.value) ? place.value : required).map(textOf);
    for (const other of names.filter((one) => one !== name))
      add('dependent-required', `requires ${quote(JSON.stringify(other))} ${where}`, { ...place, value: other });
    const schema = isObject(place.value) ? rest : place.value;
    if (!Array.isArray(schema) && !isAnything(schema))
      add('dependent-schemas', `restricts the object ${where}`, { ...place, value: name }, formOf(place, schema));
  };
  const listed: Place[] = [];
  for (const part of flat.parts) {
    const at = (keyword: string) => {
      const place = memberOf(side, part, keyword);
      return place && withoutMoot(place, around);
    };
    const [condition, yes, no, excluded] = ['if', 'then', 'else', 'not'].map(at);
    const opposite = condition && soleMember(condition.value, 'not');
    const given = condition && (opposite === undefined ? condition : { ...condition, value: opposite });
    const [matched, others] = opposite === undefined ? [yes, no] : [no, yes];
    const name = around.hasNames && given ? nameOf(given.value) : '';
    // Without "if", the others demand nothing, and it demands nothing without them.
    if (name !== '' && matched && (isOfObjects(matched.value) || [...(around.types ?? [''])].join() === 'object'))
      addNamed(name, matched);
    else if (given && matched) add('condition', ifMatched, given, matched);
    if (given && others) add('condition', 'restricts values that do not match "if"', given, others);
    const values = excluded && listedIn(side, excluded);
    if (values) listed.push(...values.map((value) => ({ ...excluded, value })));
    else if (excluded) add('not', excludes, excluded);
    for (const keyword of dependencies)
      for (const [property, place] of membersOf(side, memberOf(side, part, keyword)))
        addNamed(property, withoutMoot(place, around));
  }
  if (listed.length > 0 && !around.areListed)
    add('not', excludes, formOf(listed[0]!, { enum: listed.map(({ value }) => value) }));
  return [...demands.values()];
}

/** A schema without the types and required properties that the schemas around both documents' demand as well. */
function withoutMoot(place: Place, { required, types }: Around): Place {
  if (!isObject(place.value)) return place;
  const { type, required: names, ...rest } = place.value;
  const isTypeMoot = type === undefined || (types !== null && coversTypes(new Set([type].flat().map(textOf)), types));
  const needed = listOf(names).filter((name) => !required.has(textOf(name)));
  if ((isTypeMoot ? type : undefined) === undefined && needed.length === listOf(names).length) return place;
  return formOf(place, { ...rest, ...(!isTypeMoot && { type }), ...(needed.length > 0 && { required: needed }) });
}

/** A place with another value, which the schemas around it decide. */
function formOf(place: Place, value: unknown): Place {
  return { ...place, value, form: ` ${textOfValue(value)}` };
}

/** The name of the property by which "if" asks for nothing but its presence. Empty: it asks for something else. */
function nameOf(given: unknown): string {
  const [name, ...others] = listOf(soleMember(given, 'required'));
  return others.length === 0 ? textOf(name) : '';
}

function isOfObjects(schema: unknown): boolean {
  return isObject(schema) && Object.keys(schema).every((key) => isText(key) || keywordOf(key).restricts === 'object');
}
