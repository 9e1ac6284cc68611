// Other ways to write the same API. None of them breaks anybody.
import { isObject } from '../../src/model/json.ts';
import type { Json } from './given.ts';

/** Writes a document in another way. Null: it has nothing to write so. */
export type Rewrite = (document: Json) => Json | null;

const sets = new Set([
  'required',
  'tags',
  'parameters',
  'servers',
  'security',
  'allOf',
  'anyOf',
  'oneOf',
  'type',
  'enum',
]);
const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace', 'query'];

/** A copy in which each object below was replaced, from the inside. `keys`: the way to it. */
function mapObjects(
  value: unknown,
  run: (object: Json, keys: readonly string[]) => unknown,
  keys: readonly string[] = [],
): unknown {
  if (Array.isArray(value)) return value.map((item, at) => mapObjects(item, run, [...keys, `${at}`]));
  if (!isObject(value)) return value;
  const members = Object.entries(value).map(([key, member]) => [key, mapObjects(member, run, [...keys, key])]);
  return run(Object.fromEntries(members) as Json, keys);
}

/** Whether an object may be a schema, and no map of names, example or extension. */
function isSchemaAt(keys: readonly string[]): boolean {
  const isExample = (key: string) =>
    key.startsWith('x-') || ['example', 'examples', 'default', 'enum', 'const', 'value', 'dataValue'].includes(key);
  if (keys.some((key, at) => isExample(key) && keys[at - 1] !== 'properties')) return false;
  const last = keys.at(-1)!;
  const before = keys.at(-2);
  const list = keys.at(-2)!;
  if (/^\d+$/.test(last) && ['allOf', 'anyOf', 'oneOf', 'prefixItems'].includes(list)) return true;
  if (['schema', 'items', 'additionalProperties', 'not', 'itemSchema'].includes(last))
    return before !== 'properties' || last !== 'schema';
  if (before === 'properties') return true;
  return keys.length === 3 && keys[0] === 'components' && before === 'schemas';
}

function resolve(document: Json, reference: unknown): unknown {
  if (typeof reference !== 'string' || !reference.startsWith('#/')) return undefined;
  const keys = reference.slice(2).split('/').map((key) => decodeURIComponent(key).replaceAll('~1', '/').replaceAll('~0', '~')); // prettier-ignore
  return keys.reduce<unknown>(
    (one, key) => (isObject(one) || Array.isArray(one) ? (one as Json)[key] : undefined),
    document,
  );
}

const copy = <Value>(value: Value): Value => JSON.parse(JSON.stringify(value)) as Value;

/** What upgrading from 3.0 to 3.1 does, as the specification's guide says. */
function upgrade(document: Json): Json | null {
  if (!`${String(document['openapi'])}`.startsWith('3.0')) return null;
  const changed = mapObjects(document, (object, keys) => {
    // What stands beside a reference counted nothing.
    if (typeof object['$ref'] === 'string' && isSchemaAt(keys)) return { $ref: object['$ref'] };
    if (!isSchemaAt(keys)) return object;
    const { nullable, exclusiveMinimum, exclusiveMaximum, format, example, ...rest } = object;
    const schema: Json = rest;
    if (format === 'byte') schema['contentEncoding'] = 'base64';
    else if (format === 'binary') schema['contentMediaType'] = 'application/octet-stream';
    else if (format !== undefined) schema['format'] = format;
    if (example !== undefined) schema['examples'] = [example];
    for (const [flag, name] of [
      [exclusiveMinimum, 'minimum'],
      [exclusiveMaximum, 'maximum'],
    ] as const) {
      if (flag !== true) continue;
      schema[`exclusive${name[0]!.toUpperCase()}${name.slice(1)}`] = schema[name];
      delete schema[name];
    }
    if (nullable === true && typeof schema['type'] === 'string') {
      schema['type'] = [schema['type'], 'null'];
      if (Array.isArray(schema['enum']) && !schema['enum'].includes(null))
        schema['enum'] = [...(schema['enum'] as unknown[]), null];
    } else if (nullable === true) return { anyOf: [schema, { type: 'null' }] };
    return schema;
  }) as Json;
  return { ...changed, openapi: '3.1.0' };
}

/** Octet streams without a schema, as 3.1 writes them. */
function silentBytes(document: Json): Json | null {
  const upgraded = upgrade(document);
  return (
    upgraded &&
    (mapObjects(upgraded, (object, keys) => {
      if (keys.at(-2) !== 'content' || !isObject(object['schema'])) return object;
      const { contentMediaType, type, ...others } = object['schema'];
      const isBytes =
        contentMediaType === 'application/octet-stream' && type === 'string' && !/json/i.test(keys.at(-1)!);
      if (!isBytes || Object.keys(others).length > 0) return object;
      const { schema: _, ...rest } = object;
      return rest;
    }) as Json)
  );
}

function reorder(document: Json): Json {
  const turn = (value: unknown, key: string, owner: string): unknown => {
    if (Array.isArray(value)) {
      const items = value.map((item) => turn(item, '', key));
      return sets.has(key) && owner !== 'properties' ? items.reverse() : items;
    }
    if (!isObject(value)) return value;
    return Object.fromEntries(Object.entries(value).reverse().map(([name, member]) => [name, turn(member, name, key)])); // prettier-ignore
  };
  return turn(document, '', '') as Json;
}

/** Each reference outside of components is written out once. */
function inline(document: Json): Json {
  const { components, definitions, ...rest } = document;
  const isModern = /^3\.[12]/.test(String(document['openapi']));
  const changed = mapObjects(rest, (object, keys) => {
    const target = resolve(document, object['$ref']);
    const isName = keys.includes('mapping') || keys.includes('examples') || keys.includes('links');
    // A name may be a value of a discriminator.
    const isTagged =
      keys.includes('oneOf') ||
      keys.includes('anyOf') ||
      (isObject(target) && JSON.stringify(document).includes('"discriminator"'));
    // What stands beside a reference counts since 3.1.
    const isAlone = !isModern || Object.keys(object).length === 1;
    return isObject(target) && !isName && !isTagged && isAlone ? copy(target) : object;
  }) as Json;
  return {
    ...changed,
    ...(components !== undefined && { components }),
    ...(definitions !== undefined && { definitions }),
  };
}

/** Schemas of media types become components. */
function extract(document: Json): Json | null {
  if (document['openapi'] === undefined) return null;
  const schemas: Json = {};
  const { components, ...rest } = document;
  const changed = mapObjects(rest, (object, keys) => {
    if (keys.at(-2) !== 'content' || !isObject(object['schema']) || object['schema']['$ref'] !== undefined)
      return object;
    const name = `Extracted${Object.keys(schemas).length}`;
    schemas[name] = object['schema'];
    return { ...object, schema: { $ref: `#/components/schemas/${name}` } };
  }) as Json;
  const all = isObject(components) ? components : {};
  return { ...changed, components: { ...all, schemas: { ...(all['schemas'] as Json), ...schemas } } };
}

/** The base path moves from the servers into the paths. */
function movePath(document: Json): Json | null {
  const [server, ...others] = Array.isArray(document['servers']) ? (document['servers'] as Json[]) : [];
  const [, root, path] = /^(https?:\/\/[^/{}]+)(\/[^{}]*[^/{}])$/.exec(String(server?.['url'])) ?? [];
  const paths = document['paths'] as Json;
  if (path === undefined || others.length > 0 || /"servers":.*"servers":/.test(JSON.stringify(document))) return null;
  if (JSON.stringify(document).includes('#/paths/') || Object.keys(paths).some((key) => !key.startsWith('/')))
    return null;
  return {
    ...document,
    servers: [{ ...server, url: root }],
    paths: Object.fromEntries(Object.entries(paths).map(([key, item]) => [path + key, item])),
  };
}

/** Parameters of a path become those of its operations. */
function lowerParameters(document: Json): Json | null {
  if (!isObject(document['paths'])) return null;
  const paths = Object.entries(document['paths']).map(([path, item]) => {
    if (!isObject(item) || !Array.isArray(item['parameters']) || item['$ref'] !== undefined) return [path, item];
    const { parameters, additionalOperations, ...rest } = item;
    const keyOf = (one: unknown) => {
      const target = (isObject(one) && resolve(document, one['$ref'])) || one;
      return isObject(target) ? `${String(target['in'])} ${String(target['name'])}` : '';
    };
    const lower = (method: string, operation: unknown): [string, unknown] => {
      if (!isObject(operation)) return [method, operation];
      const own = Array.isArray(operation['parameters']) ? operation['parameters'] : [];
      const names = own.map(keyOf);
      return [method, { ...operation, parameters: [...(parameters as unknown[]).filter((one) => !names.includes(keyOf(one))), ...own] }]; // prettier-ignore
    };
    const members = Object.entries(rest).map(([key, member]) => (methods.includes(key) ? lower(key, member) : [key, member])); // prettier-ignore
    const more = Object.entries(isObject(additionalOperations) ? additionalOperations : {}).map((one) => lower(...one));
    const others = more.length > 0 ? { additionalOperations: Object.fromEntries(more) as Json } : {};
    return [path, { ...(Object.fromEntries(members) as Json), ...others }];
  });
  return { ...document, paths: Object.fromEntries(paths) as Json };
}

/** What is usual is written down. */
function sayUsual(document: Json): Json {
  return mapObjects(document, (object, keys) => {
    if (isSchemaAt(keys) && object['type'] === 'array' && object['uniqueItems'] === undefined)
      return { ...object, uniqueItems: false };
    const isParameter =
      keys.at(-2) === 'parameters' && typeof object['in'] === 'string' && typeof object['name'] === 'string';
    if (!isParameter || document['openapi'] === undefined || object['content'] !== undefined) return { ...object };
    const style = { query: 'form', cookie: 'form', path: 'simple', header: 'simple' }[object['in'] as string];
    const used = object['style'] ?? style;
    return { required: false, deprecated: false, style, explode: used === 'form', ...object };
  }) as Json;
}

/** References of schemas stand in `allOf`. */
function wrap(document: Json): Json {
  const isModern = /^3\.[12]/.test(String(document['openapi']));
  return mapObjects(document, (object, keys) => {
    const { $ref, ...beside } = object;
    const isWrapped =
      typeof $ref === 'string' &&
      isSchemaAt(keys) &&
      !keys.includes('allOf') &&
      !('allOf' in beside) &&
      !['oneOf', 'anyOf'].includes(keys.at(-2)!) &&
      keys.length > 3;
    // What stands beside a reference counts since 3.1.
    return isWrapped ? { ...(isModern && beside), allOf: [{ $ref }] } : object;
  }) as Json;
}

/** One list of types, values and alternatives where there is one of them. */
function listOne(document: Json): Json | null {
  const isModern = /^3\.[12]/.test(String(document['openapi']));
  return mapObjects(document, (object, keys) => {
    if (!isSchemaAt(keys)) return object;
    const { type, const: constant, ...rest } = object;
    if (isModern && typeof type === 'string') rest['type'] = [type];
    else if (type !== undefined) rest['type'] = type;
    if (constant !== undefined && rest['enum'] === undefined) rest['enum'] = [constant];
    else if (constant !== undefined) rest['const'] = constant;
    return rest;
  }) as Json;
}

/** What names mean to a discriminator is written down. */
function sayMapping(document: Json): Json | null {
  const schemas = resolve(document, '#/components/schemas');
  if (!isObject(schemas)) return null;
  const nameOf = (value: unknown) => /^#.components.schemas.(\w+)$/.exec(String(isObject(value) ? value['$ref'] : ''))?.[1]; // prettier-ignore
  const listed = (value: unknown, key: string) => (isObject(value) && Array.isArray(value[key]) ? (value[key] as unknown[]) : []); // prettier-ignore
  const madeOf = (name: string): string[] =>
    Object.keys(schemas).filter((one) => listed(schemas[one], 'allOf').some((part) => nameOf(part) === name)).flatMap((one) => [one, ...madeOf(one)]); // prettier-ignore
  return mapObjects(document, (object, keys) => {
    const { discriminator } = object;
    if (!isSchemaAt(keys) || !isObject(discriminator) || discriminator['mapping'] !== undefined) return object;
    const alternatives = [...listed(object, 'oneOf'), ...listed(object, 'anyOf')].flatMap((one) => nameOf(one) ?? []);
    const names = alternatives.length > 0 ? alternatives : keys.length === 3 ? madeOf(keys[2]!) : [];
    return {
      ...object,
      discriminator: { ...discriminator, mapping: Object.fromEntries(names.map((one) => [one, one])) },
    };
  }) as Json;
}

/** What follows from other keywords, or says nothing, is written down; values are alternatives. */
function sayTwice(document: Json): Json {
  // What says nothing itself is seen by `unevaluatedProperties` around it.
  const isSeen = JSON.stringify(document).includes('"unevaluatedProperties"');
  const isModern = /^3\.[12]/.test(String(document['openapi']));
  return mapObjects(document, (object, keys) => {
    // What is excluded is compared as it is written.
    if (!isSchemaAt(keys) || object['$ref'] !== undefined || keys.includes('not')) return object;
    const { type, enum: values, required, additionalProperties, minProperties, discriminator } = object;
    const more: Json = {};
    if (type === 'string') more['minLength'] = object['minLength'] ?? 0;
    if (type === 'array') more['minItems'] = object['minItems'] ?? 0;
    if (type === 'object' && additionalProperties === undefined && !isSeen) more['additionalProperties'] = {};
    if (type === 'object' && minProperties === undefined) more['minProperties'] = new Set(required as string[]).size;
    const isPlain = object['oneOf'] === undefined && object['nullable'] !== true && discriminator === undefined;
    // A value that its type refuses is a slip, and is compared as it is listed.
    const isListed = (value: unknown) => type !== 'string' || typeof value === 'string';
    if (!isModern || !Array.isArray(values) || !values.every(isListed) || values.includes(null) || !isPlain)
      return { ...object, ...more };
    const { enum: _, ...rest } = object;
    return { ...rest, ...more, oneOf: [...new Set(values)].map((value) => ({ const: value as unknown })) };
  }) as Json;
}

/** Media types, hosts and methods as they may be written, too. */
function otherCase(document: Json): Json {
  return mapObjects(document, (object, keys) => {
    if (keys.at(-1) === 'content' && keys.at(-2) !== 'properties')
      return Object.fromEntries(Object.entries(object).map(([type, media]) => [/^[a-z/+.-]+$/.test(type) ? `${type.toUpperCase()}; charset=UTF-8` : type, media])); // prettier-ignore
    if (keys.at(-2) !== 'servers' || typeof object['url'] !== 'string') return object;
    return {
      ...object,
      url: object['url'].replace(
        /^https:\/\/([^/{}:]+)(?=[/]|$)/,
        (_, host: string) => `HTTPS://${host.toUpperCase()}:443`,
      ),
    };
  }) as Json;
}

const all: Readonly<Record<string, Rewrite>> = {
  reorder,
  inline,
  extract,
  movePath,
  lowerParameters,
  sayUsual,
  wrap,
  listOne,
  sayMapping,
  sayTwice,
  otherCase,
  upgrade,
  silentBytes,
};

/** References that count items, or lead through paths or media types, would lead elsewhere. */
const isFragile = (document: Json) => /"#\/(?:paths\/|[^"]*\/(?:\d+["/]|content\/))/.test(JSON.stringify(document));

export const rewrites: Readonly<Record<string, Rewrite>> = Object.fromEntries(
  Object.entries(all).map(([name, rewrite]) => [name, (document) => (isFragile(document) ? null : rewrite(document))]),
);
