import type { Label, Side } from './side.ts';

/** A place of a document for people. Its text begins a sentence: `property "a.b" of schema "Pet"`. */
export interface Described extends Label {
  isProperty: boolean;
}

/** Describes the place of a schema by the nearest thing around it that has a name. */
export function describePlace(side: Side, pointer: string): Described {
  const keys = pointer.split('/').slice(1);
  let length = keys.length;
  let label = labelAt(side, keys);
  while (label === null && length > 0) label = labelAt(side, keys.slice(0, --length));
  const { role, text } = label ?? { role: 'schema', text: 'the schema' };
  const { path, extra, isProperty } = pathOf(keys.slice(length));
  if (path === '') return { role, text: text + extra, isProperty: false };
  return { role, text: `${isProperty ? 'property' : 'item'} ${JSON.stringify(path)} of ${text}${extra}`, isProperty };
}

function labelAt(side: Side, keys: readonly string[]): Label | null {
  const label = side.labels.get(['', ...keys].join('/'));
  if (label !== undefined) return label;
  const [first, second, third] = keys;
  const isDefinition = keys.length === 2 && (first === 'definitions' || first === '$defs');
  const isComponent = keys.length === 3 && first === 'components' && second === 'schemas';
  const name = isDefinition ? second : isComponent ? third : undefined;
  return name === undefined ? null : { role: 'schema', text: `schema ${JSON.stringify(unescapeKey(name))}` };
}

/** The path of properties below a schema, as `owner.tags[]`; and what cannot be said by a path. */
function pathOf(keys: readonly string[]): { path: string; extra: string; isProperty: boolean } {
  let path = '';
  let extra = '';
  let isProperty = false;
  for (let at = 0; at < keys.length; at++) {
    const key = keys[at]!;
    const next = keys[at + 1];
    if (key === 'properties' || key === 'patternProperties') {
      at++;
      isProperty = true;
      if (next !== undefined) path += `${path === '' ? '' : '.'}${unescapeKey(next)}`;
    } else if (key === 'items' || key === 'prefixItems') {
      const isIndex = next !== undefined && /^\d+$/.test(next);
      path += isIndex ? `[${next}]` : '[]';
      if (isIndex) at++;
    } else if (key === 'additionalProperties' || key === 'unevaluatedProperties') {
      path += path === '' ? '*' : '.*';
      isProperty = true;
    } else if (key === 'anyOf' || key === 'oneOf') {
      at++;
      extra += ` (option ${Number(next) + 1} of ${key})`;
    } else if (key === 'allOf' || key === 'content') at++;
    else if (key !== 'schema') extra += ` (${unescapeKey(key)})`;
  }
  return { path, extra, isProperty };
}

function unescapeKey(key: string): string {
  return key.replaceAll('~1', '/').replaceAll('~0', '~');
}
