import { type JsonObject, isObject } from '../model/json.ts';
import type { ChangeRules } from '../model/comparison.ts';
import { textOf } from '../render/json-value.ts';
import { definitionsOf, definitionFolders } from '../render/schema/schemas.ts';
import { compareSchemas } from './schema/compare-schemas.ts';
import { dialectOfSchema } from './dialect.ts';
import { addFact } from './report.ts';
import { createSide, memberOf, membersOf, rootOf, type Place, type Side } from './side.ts';
import { createWalk, type Unit, type Walk } from './walk.ts';

/**
 * Compares two JSON Schemas. Who writes and who reads such data is not known, so what narrows
 * breaks (data that was valid is refused), and what widens is risky (readers may meet new data).
 */
export function compareJsonSchemas(
  before: JsonObject,
  after: JsonObject,
  rules: ChangeRules,
): { walk: Walk; root: Unit } {
  const sides = {
    before: createSide(before, dialectOfSchema(before)),
    after: createSide(after, dialectOfSchema(after)),
  };
  const walk = createWalk(sides.before, sides.after, rules);
  const root: Unit = { facts: [], children: [] };
  compareHeads(root, before, after);
  compareSchemas(walk, root, 'both', [withoutDefinitions(sides.before)], [withoutDefinitions(sides.after)]);
  compareDefinitions(walk, root);
  walk.finish();
  return { walk, root };
}

function compareHeads(root: Unit, before: JsonObject, after: JsonObject): void {
  const one = (key: string, code: string, says: string) => {
    const [old, current] = [textOf(before[key]) || null, textOf(after[key]) || null];
    if (old === current) return;
    const message = `${says} ${current ?? 'absent'} instead of ${old ?? 'absent'}.`;
    const pointers = { before: old === null ? null : `/${key}`, after: current === null ? null : `/${key}` };
    addFact(root, { verdict: 'risky', code, message, before: old, after: current, pointers, direction: null });
  };
  one('$schema', 'dialect-changed', 'The dialect ($schema) is');
  one('$id', 'id-changed', 'The identifier ($id) is');
  one('id', 'id-changed', 'The identifier (id) is');
}

/** Definitions are compared on their own, so that the root changes only where it does itself. */
function withoutDefinitions(side: Side): Place {
  const folders = [...definitionFolders(side.document), '$schema', '$id', 'id', 'version', 'x-version'];
  const value = Object.fromEntries(Object.entries(side.document).filter(([key]) => !folders.includes(key)));
  return { value, pointer: '' };
}

function compareDefinitions(walk: Walk, root: Unit): void {
  const [old, current] = [definitions(walk.before), definitions(walk.after)];
  for (const [name, place] of old) {
    const other = current.get(name);
    if (other !== undefined) compareSchemas(walk, root, 'both', [place], [other]);
    else
      addFact(root, {
        verdict: 'risky',
        code: 'definition-removed',
        message: `The definition ${JSON.stringify(name)} was removed; other schemas may refer to it.`,
        before: name,
        after: null,
        pointers: { before: place.pointer, after: null },
        direction: null,
      });
  }
  for (const [name, place] of current)
    if (!old.has(name))
      addFact(root, {
        verdict: 'safe',
        code: 'definition-added',
        message: `The definition ${JSON.stringify(name)} was added.`,
        before: null,
        after: name,
        pointers: { before: null, after: place.pointer },
        direction: null,
      });
}

function definitions(side: Side): Map<string, Place> {
  const names = new Set(definitionsOf(side.document).map(([name]) => name));
  const folders = definitionFolders(side.document).flatMap((key) => membersOf(side, memberOf(side, rootOf(side), key)));
  return new Map(
    folders.filter(([name, { value }]) => names.has(name) && (isObject(value) || typeof value === 'boolean')),
  );
}
