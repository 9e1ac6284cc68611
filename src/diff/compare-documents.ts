import type { JsonObject } from '../model/json.ts';
import { notCompared, usualRules, type ChangeRules, type Comparison } from '../model/comparison.ts';
import type { Published } from '../compile/compile.ts';
import { parseObject } from '../render/json-value.ts';
import { compareApis } from './api/compare-apis.ts';
import { conclude } from './conclude.ts';
import { compareJsonSchemas } from './compare-json-schemas.ts';
import { compareRulesets } from './compare-rulesets.ts';
import { createSide } from './side.ts';
import { dialectOfSchema } from './dialect.ts';
import { createWalk, TooMuch } from './walk.ts';

/**
 * Compares two published documents. Pure: the same documents give the same changes, whatever the
 * order of their members. Never throws because of a document; one that cannot be compared gives the
 * verdict `unknown` and a reason.
 */
export function compareDocuments(before: Published, after: Published, rules: ChangeRules = usualRules): Comparison {
  if (before.kind !== after.kind)
    return notCompared(`The documents are of different kinds: ${before.kind} and ${after.kind}.`);
  const [old, current] = [parseObject(before.json), parseObject(after.json)];
  if (old === null || current === null) return notCompared('One of the documents is not a JSON object.');
  try {
    return sayRemoved(compareValues(before.kind, old, current, rules), after.removed);
  } catch (error) {
    if (error instanceof TooMuch) return notCompared(error.message);
    if (error instanceof RangeError) return notCompared('The documents are nested too deep to be compared.');
    throw error;
  }
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

function compareValues(kind: Published['kind'], before: JsonObject, after: JsonObject, rules: ChangeRules): Comparison {
  if (kind === 'openapi') return conclude(compareApis(before, after, rules));
  if (kind === 'json-schema') return conclude({ ...compareJsonSchemas(before, after, rules), operations: [] });
  const root = compareRulesets(before, after, kind === 'redocly-ruleset' ? 'redocly' : 'spectral');
  const walk = createWalk(
    createSide(before, dialectOfSchema(before)),
    createSide(after, dialectOfSchema(after)),
    rules,
  );
  return conclude({ walk, root, operations: [] });
}
