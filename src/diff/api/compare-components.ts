import { isDeepStrictEqual } from 'node:util';
import { isObject } from '../../model/json.ts';
import { holdsOf, methods } from '../../model/openapi-shape.ts';
import { outwards } from '../../model/pointer.ts';
import { objectOf } from '../../render/json-value.ts';
import { compareSchemas } from '../schema/compare-schemas.ts';
import { meantBy } from '../schema/match-branches.ts';
import { viewOf } from '../schema/read-schema.ts';
import { childrenOf, memberOf, membersOf, placeAt, rootOf, targetOf, type Place, type Side } from '../side.ts';
import { quote, type Pointers } from '../report.ts';
import { createUnit, factsBelow, referencesAt, type Fact, type Unit, type Walk } from '../walk.ts';
import { createTell } from './report-part.ts';

/** What a component is called, by its folder. Those of security are compared where operations need them. */
const nouns: Readonly<Record<string, string>> = {
  schemas: 'Schema',
  definitions: 'Schema',
  parameters: 'Parameter',
  responses: 'Response',
  headers: 'Header',
  requestBodies: 'Request body',
  examples: 'Example',
  links: 'Link',
  callbacks: 'Callback',
  pathItems: 'Path item',
  mediaTypes: 'Media type',
};

/**
 * Compares what has a name: what came or went, and what no operation of either document uses. Other documents may refer
 * to it, so whether that breaks somebody is not known here. Returns what tells of such schemas once the walk is finished.
 */
export function compareComponents(walk: Walk, root: Unit): () => Fact[] {
  const [old, current] = [componentsOf(walk.before), componentsOf(walk.after)];
  const unused = createUnit();
  const used = [walk.before, walk.after].map((side) => {
    let pointers: Set<string> | undefined;
    return (pointer: string | null) => pointer !== null && (pointers ??= pointersUsed(walk, side)).has(pointer);
  });
  for (const key of new Set([...old.keys(), ...current.keys()])) {
    const [before, after] = [old.get(key), current.get(key)];
    const { noun, name } = (after ?? before)!;
    const at = { before: before?.pointer ?? null, after: after?.pointer ?? null };
    const isSchema = noun === 'Schema';
    if (before && after && isDeepStrictEqual(before.value, after.value)) continue;
    const isUsed = used[0]!(at.before) || used[1]!(at.after);
    if (isUsed && (!isSchema || (before && after))) continue;
    const code = isSchema ? 'schema' : 'component';
    const tell = createTell(root, { code, subject: `${noun} ${quote(JSON.stringify(name))}`, at });
    if (!after) tell('safe', 'removed', 'was removed', name);
    else if (!before) tell('safe', 'added', 'was added', null, name);
    else if (isSchema) compareSchemas(walk, unused, 'both', [before], [after]);
    else tell(noun === 'Example' ? 'docs' : 'risky', 'changed', `was changed; ${unusedSays}`);
  }
  // What they share with operations is told there.
  const isOfUsed = ({ before, after }: Pointers) => {
    const [was, now] = [before, after].map((at) => /^(?:\/components)?\/[^/]+\/[^/]+/.exec(at ?? '')?.[0]);
    return was === now && (isReached(before, used[0]!) || isReached(after, used[1]!));
  };
  return () =>
    factsBelow(walk, unused)
      .filter(({ pointers }) => !isOfUsed(pointers))
      .map((fact) => ({
        ...fact,
        verdict: fact.verdict === 'breaking' || fact.verdict === 'unknown' ? 'risky' : fact.verdict,
        message: `${fact.message.replace(/\.$/, '')}; ${unusedSays}.`,
      }));
}

function isReached(at: string | null, isUsed: (pointer: string) => boolean): boolean {
  return at !== null && outwards(at).some(isUsed);
}

const unusedSays = 'no operation uses it, and other documents may refer to it';

function componentsOf(side: Side): Map<string, Place & { noun: string; name: string }> {
  const holder = side.dialect.name === '2.0' ? rootOf(side) : placeAt(side, ['components']);
  const folders = Object.entries(nouns).flatMap(([folder, noun]) => {
    const place = holder && memberOf(side, holder, folder);
    return place === null ? [] : membersOf(side, place).map((member) => ({ folder, noun, member }));
  });
  return new Map(
    folders.map(({ folder, noun, member: [name, place] }) => [
      `${noun} ${folder === 'definitions' ? 'schemas' : folder} ${name}`,
      { ...place, noun, name },
    ]),
  );
}

/** The pointers of all that operations lead to. */
function pointersUsed({ spend }: Walk, side: Side): Set<string> {
  const isOld = side.dialect.name === '2.0';
  const { components: _, definitions: __, 'x-webhooks': hooks, parameters, responses, ...rest } = side.document;
  // An extension may be anything: what has no operations is not compared.
  const sent = Object.values(objectOf(hooks)).filter((item) =>
    Object.keys(objectOf(item)).some((key) => methods.has(key)),
  );
  const operations = { ...rest, sent };
  const pointers = new Set<string>();
  const read = new Set<string>();
  const references = new Set(referencesFrom(isOld ? operations : { ...operations, parameters, responses }, isOld));
  for (const reference of references) {
    spend(1);
    const target = targetOf(side, reference);
    if (target === null) continue;
    pointers.add(target.pointer);
    const view = childrenOf(side, target).length > 0 ? viewOf(side, [target]) : null;
    for (const { pointer } of view?.first('discriminator') ? meantBy(view) : []) references.add(`#${pointer}`);
    // What it stands in was read with all of its references.
    if (isReached(target.pointer, (pointer) => read.has(pointer))) continue;
    read.add(target.pointer);
    for (const next of referencesFrom(target.value, isOld)) references.add(next);
  }
  return pointers;
}

/** The references in a node, but for those in extensions, which say nothing of data. */
function* referencesFrom(node: unknown, isOld: boolean): Generator<string> {
  const stack: [value: unknown, within: string | null][] = [[node, null]];
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const [value, within] = next;
    if (Array.isArray(value)) for (const item of value) stack.push([item, null]);
    if (!isObject(value)) continue;
    for (const [key, member] of Object.entries(value)) {
      if (within === null) yield* referencesAt(value, key);
      const holds = holdsOf(within, key, member, isOld);
      if (holds === 'map' || holds === 'node') stack.push([member, holds === 'map' ? key : null]);
    }
  }
}
