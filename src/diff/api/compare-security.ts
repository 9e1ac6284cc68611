import type { Verdict } from '../../model/comparison.ts';
import { own } from '../../model/json.ts';
import { entriesOf, listOf, objectOf, textOf } from '../../render/json-value.ts';
import { createTell, reportDeprecated, type Tell } from './report-part.ts';
import { kebab } from '../report.ts';
import type { Operation } from './operations.ts';
import { memberOf, membersOf, placeAt, resolvePlace, targetOf, type Place, type Side } from '../side.ts';
import type { Unit, Walk } from '../walk.ts';

/** Schemes that are used together, by identity, with the scopes that are needed. Empty: nobody signs in. */
type Alternative = ReadonlyMap<string, { name: string; label: string; scopes: readonly string[]; scheme: unknown }>;

/**
 * Compares who may call an operation: a list of alternatives, each of which needs all of its
 * schemes. Whoever satisfied one before must satisfy one now. A scheme is known by what is sent,
 * not by its name.
 */
export function compareSecurity(walk: Walk, unit: Unit, before: Operation, after: Operation, isSent: boolean): void {
  const [old, current] = [read(walk.before, before, walk, isSent), read(walk.after, after, walk, isSent)];
  walk.spend((old.alternatives.length * current.alternatives.length) / 5);
  const at = { before: old.pointer, after: current.pointer };
  const decidedBy = () =>
    [old, current].map(({ alternatives }) =>
      alternatives.flatMap((one) => [...one.values()].map(({ scheme }) => scheme)),
    );
  const about = createTell(unit, { code: 'security', subject: isSent ? after.name : 'Requests', at, decidedBy });
  const tell: Tell = (judgement, code, says) => about(judgement, code, says, old.says, current.says);
  if (isSent) compareSent(tell, old, current);
  else compareNeeded(tell, old, current);
  compareSchemes(walk, unit, old.alternatives, current.alternatives);
}

/** Compares what the API sends along. Whatever it sends, receivers must have known before. */
function compareSent(tell: Tell, old: Security, current: Security): void {
  const [before, after] = [old.says, current.says];
  if (old.isOpen && !current.isOpen)
    return tell('safe', 'added', `comes with ${after}; it could come without credentials`);
  if (!old.isOpen && current.isOpen)
    tell('breaking', 'removed', `may come without credentials; it came with ${before}`);
  for (const other of current.alternatives) {
    if (old.alternatives.some((one) => satisfies(other, one))) continue;
    if (old.isOpen) tell('safe', 'alternative-added', `may also come with ${describe([other])}`);
    else tell('breaking', 'alternative-added', `may come with ${describe([other])} instead of ${before}`);
  }
  for (const one of current.alternatives.length === 0 ? [] : old.alternatives)
    if (!current.alternatives.some((other) => satisfies(other, one)))
      tell('safe', 'alternative-removed', `no longer comes with ${describe([one])}`);
}

function compareNeeded(tell: Tell, old: Security, current: Security): void {
  if (old.isOpen && !current.isOpen) return tell('breaking', 'added', `need ${current.says}; they needed nothing`);
  if (!old.isOpen && current.isOpen) return tell('safe', 'removed', `need nothing; they needed ${old.says}`);
  const used = new Set<Alternative>();
  for (const one of old.alternatives) {
    const match = current.alternatives.find((other) => satisfies(one, other));
    const hasAll = (other: Alternative) => [...one.keys()].every((id) => other.has(id));
    const scoped = current.alternatives.find((other) => other.size === one.size && hasAll(other));
    const instead = match ?? scoped ?? current.alternatives.find(hasAll);
    if (instead) used.add(instead);
    const says = instead
      ? `need ${describe([instead])} instead of ${describe([one])}`
      : `may no longer use ${describe([one])}`;
    if (match && !satisfies(match, one)) tell('safe', 'relaxed', says);
    const code = scoped ? 'scope-added' : instead ? 'scheme-added' : 'alternative-removed';
    // Whoever is not told apart may still call, but may be given less.
    if (!match) tell(current.isOpen ? 'risky' : 'breaking', code, says);
  }
  for (const other of current.alternatives)
    if (!used.has(other) && !old.alternatives.some((one) => satisfies(one, other)))
      tell('safe', 'alternative-added', `may also use ${describe([other])}`);
}

function satisfies(one: Alternative, other: Alternative): boolean {
  return [...other].every(
    ([id, { scopes }]) => one.has(id) && new Set(scopes).isSubsetOf(new Set(one.get(id)?.scopes)),
  );
}

function describe(alternatives: readonly Alternative[]): string {
  if (alternatives.length === 0) return 'nothing';
  const one = (alternative: Alternative) =>
    [...alternative.values()]
      .map(({ label, scopes }) => (scopes.length > 0 ? `${label} (${scopes.join(', ')})` : label))
      .join(' and ') || 'nothing';
  return alternatives.map(one).join(' or ');
}

interface Security {
  alternatives: Alternative[];
  says: string;
  isOpen: boolean;
  pointer: string;
}

/** What stands at the root is what callers of the API need. The API's own requests have what stands at them. */
function read(side: Side, operation: Operation, walk: Walk, isSent: boolean): Security {
  const place = memberOf(side, operation.place, 'security') ?? (isSent ? null : placeAt(side, ['security']));
  const all = listOf(place?.value).map((written): Alternative => {
    const schemes = Map.groupBy(entriesOf(written), ([address]) => identityOf(walk, side, nameOf(side, address)));
    return new Map(
      [...schemes].map(([id, same]) => {
        const name = nameOf(side, same[0]![0]);
        const scheme = schemePlace(side, name)?.value ?? null;
        const scopes = [...new Set(same.flatMap(([, some]) => listOf(some).map(textOf)))].sort();
        return [id, { name, label: labelOf(walk, side, name), scopes, scheme }];
      }),
    );
  });
  const alternatives = all.filter(({ size }) => size > 0);
  const isOpen = all.length === 0 || alternatives.length < all.length;
  return { alternatives, says: describe(alternatives), isOpen, pointer: place?.pointer ?? operation.place.pointer };
}

/** The name of a scheme, which may be written as its address since 3.2. */
function nameOf(side: Side, address: string): string {
  if (schemePlace(side, address) !== null) return address;
  const pointer = targetOf(side, address)?.pointer ?? '';
  return /^\/components\/securitySchemes\/([^/]+)$/.exec(pointer)?.[1] ?? address;
}

function schemePlace(side: Side, name: string): Place | null {
  const folder = side.dialect.name === '2.0' ? ['securityDefinitions'] : ['components', 'securitySchemes'];
  const place = placeAt(side, [...folder, name]);
  return place && resolvePlace(side, place);
}

/** What a client sends to satisfy a scheme. */
function kindOf(side: Side, name: string): string {
  const place = schemePlace(side, name);
  if (place === null) return 'not defined';
  const { type, in: where, name: key, scheme } = objectOf(place.value);
  if (type === 'basic') return 'http basic';
  if (type === 'http') return `http ${textOf(scheme).toLowerCase()}`;
  if (type === 'apiKey')
    return `apiKey ${textOf(where)} ${textOf(where) === 'header' ? textOf(key).toLowerCase() : textOf(key)}`;
  return textOf(type);
}

/**
 * Schemes that only their name tells apart (OAuth, OpenID Connect) keep it if both documents have it. One that its document
 * does not define is what the other one says.
 */
function identityOf(walk: Walk, side: Side, name: string): string {
  const other = side === walk.before ? walk.after : walk.before;
  const [isDefined, isDefinedThere] = [schemePlace(side, name) !== null, schemePlace(other, name) !== null];
  const kind = kindOf(isDefined ? side : other, name);
  return /^(?:http|apiKey)/.test(kind) || isDefined !== isDefinedThere ? kind : `${kind} ${name}`;
}

/** The name of a scheme, and what it is where the other document has another one of this name. */
function labelOf(walk: Walk, side: Side, name: string): string {
  const other = side === walk.before ? walk.after : walk.before;
  const kind = kindOf(side, name);
  return schemePlace(other, name) === null || kindOf(other, name) === kind ? name : `${name} (${kind})`;
}

function compareSchemes(walk: Walk, parent: Unit, old: readonly Alternative[], current: readonly Alternative[]): void {
  const [names, others] = [old, current].map((all) => new Set(all.flatMap((one) => [...one.values()].map(({ name }) => name)))); // prettier-ignore
  for (const name of names!.intersection(others!)) {
    const [before, after] = [schemePlace(walk.before, name), schemePlace(walk.after, name)];
    if (before === after || (before && after && walk.same(before.value, after.value))) continue;
    // Another kind of scheme is another one, of which the alternatives tell.
    if (before && after && kindOf(walk.before, name) !== kindOf(walk.after, name)) continue;
    walk.below(parent, `security-scheme ${name}`, (unit) => {
      if (before && after) return compareScheme(walk, unit, name, before, after);
      const at = { before: before?.pointer ?? null, after: after?.pointer ?? null };
      const tell = createTell(unit, { code: 'security-scheme', subject: subjectOf(name), at });
      if (after) tell('safe', 'defined', 'is defined now');
      else tell('risky', 'undefined', 'is used, and no longer defined');
    });
  }
}

const subjectOf = (name: string) => `Security scheme ${JSON.stringify(name)}`;

const flowNames: Readonly<Record<string, string>> = {
  application: 'clientCredentials',
  accessCode: 'authorizationCode',
};

function compareScheme(walk: Walk, unit: Unit, name: string, before: Place, after: Place): void {
  const at = { before: before.pointer, after: after.pointer };
  const subject = subjectOf(name);
  const tell = createTell(unit, { code: 'security-scheme', subject, at });
  reportDeprecated(walk, unit, { before, after }, subject, 'security-scheme');
  const compareText = (verdict: Verdict, code: string, key: string, old: unknown, current: unknown, where = '') => {
    const [from, to] = [old, current].map((one) => textOf(objectOf(one)[key]) || null);
    const says = `has ${key} ${to ?? 'absent'} instead of ${from ?? 'absent'}${where}`;
    if (from !== to) tell(verdict, `${code}-changed`, says, from, to);
  };
  for (const key of ['description', 'bearerFormat', 'openIdConnectUrl', 'oauth2MetadataUrl'])
    compareText(key.endsWith('Url') ? 'risky' : 'docs', kebab(key), key, before.value, after.value);
  const [flows, others] = [flowsOf(walk.before, before), flowsOf(walk.after, after)];
  for (const [flow, old] of flows) {
    const current = others.get(flow);
    if (current === undefined) {
      tell('breaking', 'flow-removed', `no longer has the flow ${flow}`, flow);
      continue;
    }
    const where = ` in the flow ${flow}`;
    for (const key of ['authorizationUrl', 'tokenUrl', 'refreshUrl', 'deviceAuthorizationUrl'])
      compareText('risky', 'url', key, old, current, where);
    const [was, is] = [objectOf(old['scopes']), objectOf(current['scopes'])];
    for (const scope of Object.keys({ ...was, ...is }))
      if (!Object.hasOwn(is, scope)) tell('risky', 'scope-removed', `no longer has the scope ${scope}${where}`, scope);
      else if (!Object.hasOwn(was, scope)) tell('safe', 'scope-added', `has the scope ${scope}${where}`, null, scope);
      else if (was[scope] !== is[scope]) {
        const says = `describes the scope ${scope} in another way`;
        tell('docs', 'scope-description-changed', says, textOf(was[scope]), textOf(is[scope]));
      }
  }
  for (const flow of others.keys())
    if (!flows.has(flow)) tell('safe', 'flow-added', `has the flow ${flow}`, null, flow);
}

function flowsOf(side: Side, place: Place): Map<string, Record<string, unknown>> {
  const flow = textOf(objectOf(place.value)['flow']);
  if (flow !== '') return new Map([[own(flowNames, flow) ?? flow, objectOf(place.value)]]);
  return new Map(
    membersOf(side, memberOf(side, place, 'flows'))
      .filter(([name]) => !name.startsWith('x-'))
      .map(([name, { value }]) => [name, objectOf(value)]),
  );
}
