import { type JsonObject, isObject } from '../model/json.ts';
import { rowsOf, type Kind } from '../model/kinds.ts';
import { notCompared, usualRules, type ChangeRules, type Comparison } from '../model/comparison.ts';
import type { Published } from '../compile/compile.ts';
import { entriesOf, parseObject, textOf } from '../render/json-value.ts';
import { compareApis, type ComparedApis } from './api/compare-apis.ts';
import { conclude } from './conclude.ts';
import { compareRulesets } from './compare-rulesets.ts';
import {
  createSide,
  dialectOfApi,
  dialectOfSchema,
  dialectText,
  memberOf,
  membersOf,
  rootOf,
  type Place,
  type Side,
} from './side.ts';
import { createUnit, createWalk, TooMuch, type Unit, type Walk } from './walk.ts';
import { definitionFolders } from '../render/schema/schemas.ts';
import { compareSchemas } from './schema/compare-schemas.ts';
import { isKeyword } from './schema/keywords.ts';
import { createTell } from './api/report-part.ts';
import type { Pointers } from './report.ts';

/**
 * Compares two published documents. Pure: the same documents give the same changes, whatever the
 * order of their members. Never throws because of a document; one that cannot be compared gives the
 * verdict `unknown` and a reason.
 */
export function compareDocuments(before: Published, after: Published, rules: ChangeRules = usualRules): Comparison {
  if (before.kind !== after.kind)
    return notCompared(`The documents are of different kinds: ${before.kind} and ${after.kind}.`);
  try {
    const [old, current] = [sideOf(before), sideOf(after)];
    if (old === null || current === null) return notCompared('One of the documents is not a JSON object.');
    const told = before.told && sideOf({ kind: before.kind, json: before.told });
    const compared = comparers[before.kind].compare(createWalk(old, current, rules, told));
    return sayRemoved(conclude(compared), after.removed);
  } catch (error) {
    if (error instanceof TooMuch) return notCompared(error.message);
    if (error instanceof RangeError) return notCompared('The documents are nested too deep to be compared.');
    throw error;
  }
}

function sideOf({ kind, json }: Pick<Published, 'kind' | 'json'>): Side | null {
  const document = parseObject(json);
  return document && createSide(document, comparers[kind].dialectOf(document), json);
}

/** Says of removed operations that only the view of the document leaves them out. */
function sayRemoved(comparison: Comparison, removed: readonly string[] = []): Comparison {
  if (removed.length === 0) return comparison;
  const names = new Set<string | null>(removed);
  const says = 'The document still has it: its overlays or audience leave it out.';
  const changes = comparison.changes.map((change) =>
    /(?:operation|webhook)-removed$/.test(change.code) && names.has(change.before)
      ? { ...change, message: `${change.message} ${says}` }
      : change,
  );
  return { ...comparison, changes };
}

const comparers: Readonly<Record<Kind, { dialectOf: typeof dialectOfSchema; compare: (walk: Walk) => ComparedApis }>> =
  {
    openapi: { dialectOf: dialectOfApi, compare: compareApis },
    'json-schema': { dialectOf: dialectOfSchema, compare: compareJsonSchemas },
    ...rowsOf('rulesets', (kind) => ({
      dialectOf: dialectOfSchema,
      compare(walk: Walk): ComparedApis {
        const root = compareRulesets(walk.before.document, walk.after.document, kind);
        return { walk, root, operations: [] };
      },
    })),
  };

/**
 * Compares two JSON Schemas. Who writes and who reads such data is not known, so what narrows
 * breaks (data that was valid is refused), and what widens is risky (readers may meet new data).
 */
function compareJsonSchemas(walk: Walk): ComparedApis {
  const root = createUnit();
  const { before, after } = walk;
  compareHeads(root, before.document, after.document);
  compareSchemas(walk, root, 'both', [withoutDefinitions(before)], [withoutDefinitions(after)]);
  compareDefinitions(walk, root);
  walk.finish();
  return { walk, root, operations: [] };
}

function compareHeads(root: Unit, before: JsonObject, after: JsonObject): void {
  for (const key of ['$schema', '$id', 'id']) {
    const [old, current] = [before, after].map((document) => textOf(document[key]) || null) as [string | null, string | null]; // prettier-ignore
    const [code, noun] = key === '$schema' ? ['dialect', 'dialect'] : ['id', 'identifier'];
    if (old === current || (noun === 'dialect' && dialectText(old) === dialectText(current))) continue;
    const at = { before: old && `/${key}`, after: current && `/${key}` };
    const tell = createTell(root, { code, subject: `The ${noun} (${key})`, at });
    tell('risky', 'changed', `is ${current ?? 'absent'} instead of ${old ?? 'absent'}`, old, current);
  }
}

/** Definitions are compared on their own, so that the root changes only where it does itself. */
function withoutDefinitions(side: Side): Place {
  const folders = [...definitionFolders(side.document), '$schema', '$id', 'id', 'version', 'x-version'];
  const value = Object.fromEntries(Object.entries(side.document).filter(([key]) => !folders.includes(key)));
  return { value, pointer: '' };
}

function compareDefinitions(walk: Walk, root: Unit): void {
  const [old, current] = [definitions(walk.before), definitions(walk.after)];
  const tellOf = (name: string, at: Pointers) =>
    createTell(root, { code: 'definition', subject: `The definition ${JSON.stringify(name)}`, at });
  for (const [name, place] of old) {
    const other = current.get(name);
    const tell = tellOf(name, { before: place.pointer, after: null });
    if (other !== undefined) compareSchemas(walk, root, 'both', [place], [other]);
    else tell('risky', 'removed', 'was removed; other schemas may refer to it', name);
  }
  for (const [name, { pointer }] of current)
    if (!old.has(name)) tellOf(name, { before: null, after: pointer })('safe', 'added', 'was added', null, name);
}

function definitions(side: Side): Map<string, Place> {
  const found = new Map<string, Place>();
  const add = (name: string, place: Place, depth = 3): void => {
    if (depth > 0 && isHolder(place.value)) return addAll(`${name}/`, place, depth - 1);
    if (isObject(place.value) || typeof place.value === 'boolean') found.set(name, place);
    if (depth > 0 && isObject(place.value)) addFolders(`${name}/`, place, depth - 1);
  };
  const addAll = (prefix: string, holder: Place | null, depth: number) => {
    for (const [name, place] of membersOf(side, holder)) add(prefix + name, place, depth);
  };
  const addFolders = (prefix: string, place: Place, depth: number) => {
    for (const folder of definitionFolders(place.value as JsonObject))
      addAll(prefix, memberOf(side, place, folder), depth);
  };
  addFolders('', rootOf(side), 3);
  return found;
}

/** Whether a definition has no keyword of schemas, and holds some schemas instead. */
function isHolder(definition: unknown): boolean {
  const members = entriesOf(definition);
  return members.length > 0 && members.every(([name, member]) => !isKeyword(name) && isObject(member));
}
