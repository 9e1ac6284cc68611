import { createRequire } from 'node:module';
import { _, type CodeKeywordDefinition, type KeywordCxt } from 'ajv';
import { getSchemaTypes } from 'ajv/dist/compile/validate/dataType.js';

/**
 * Has ajv look for items that are there twice in linear time; its own way is to compare every item with every other, which takes minutes for the
 * 200,000 values of an enum. To be called before an instance is made: each copies the definition, the ones inside of libraries too.
 */
export function findTwinsByText(): void {
  const require = createRequire(import.meta.url);
  const { default: definition } = require('ajv/dist/vocabularies/validation/uniqueItems.js') as {
    default: CodeKeywordDefinition;
  };
  definition.$data = false;
  definition.code = code;
}

function code(cxt: KeywordCxt): void {
  const { gen, data, schema, parentSchema } = cxt;
  if (schema !== true) return;
  const items: unknown = parentSchema['items'];
  const types = items ? getSchemaTypes(items as object) : [];
  const isScalar = types.length > 0 && !types.some((type) => type === 'object' || type === 'array');
  const find = gen.scopeValue('func', { ref: isScalar ? findScalarTwins : findTwins });
  const twins = gen.const('twins', _`${find}(${data})`);
  cxt.setParams({ i: _`${twins}.i`, j: _`${twins}.j` });
  cxt.fail(_`${twins} !== null`);
}

type Twins = { i: number; j: number } | null;

/** The last item that equals one before it, and the nearest such: the ones that ajv names. */
function findTwins(items: readonly unknown[]): Twins {
  const last = new Map<unknown, number>();
  let found: Twins = null;
  for (const [i, item] of items.entries()) {
    const key = keyOf(item);
    const j = last.get(key);
    if (j !== undefined) found = { i, j };
    last.set(key, i);
  }
  return found;
}

/** Where the schema says that the items are scalars, ajv looks from the end, and names the two the other way round. */
function findScalarTwins(items: readonly unknown[]): Twins {
  const next = new Map<unknown, number>();
  for (let i = items.length - 1; i >= 0; i--) {
    const key = keyOf(items[i]);
    const j = next.get(key);
    if (j !== undefined) return { i, j };
    next.set(key, i);
  }
  return null;
}

/** Equal for values that are equal as JSON, and for no others. A text begins with a letter, so it is no text of an array or object. */
function keyOf(value: unknown): unknown {
  if (typeof value === 'string') return `s${value}`;
  return typeof value === 'object' && value !== null ? JSON.stringify(value, sorted) : value;
}

function sorted(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries);
}
