import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { checkConfig } from '../src/config/load-config.ts';
import { isRegistryError } from '../src/model/errors.ts';

/** Every key of the configuration, from its schema, with nothing in it, with a number past all, and with a password in its URL. */

interface Schema {
  [keyword: string]: unknown;
  type?: string | string[];
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  items?: Schema;
  required?: string[];
}

const whole = JSON.parse(readFileSync(new URL('../content/schemas/config.json', import.meta.url), 'utf8')) as Schema;
const values = ['', [''], 1e308, 'https://user:pw@127.0.0.1:9/x'];

function resolved(schema: Schema): Schema {
  const target = schema['$ref'] as string | undefined;
  if (target === undefined) return schema;
  return resolved(target.split('/').slice(1).reduce<unknown>((node, key) => (node as Schema)[key], whole) as Schema); // prettier-ignore
}

const alternativesOf = (schema: Schema) => ((schema['oneOf'] ?? schema['anyOf'] ?? [schema]) as Schema[]).map(resolved);

/** A right value. */
function example(given: Schema): unknown {
  const schema = resolved(given);
  for (const key of ['default', 'const']) if (schema[key] !== undefined) return schema[key];
  const [first] = (schema['examples'] ?? schema['enum'] ?? []) as unknown[];
  if (first !== undefined) return first;
  const [alternative] = alternativesOf(schema);
  if (alternative !== schema) return example(alternative!);
  const type = [schema.type].flat()[0];
  if (type === 'object')
    return Object.fromEntries((schema.required ?? []).map((name) => [name, example(schema.properties![name]!)]));
  if (type === 'array') return schema['minItems'] === undefined ? [] : [example(schema.items!)];
  if (type === 'integer' || type === 'number') return schema['minimum'] ?? 1;
  return type === 'boolean' ? true : 'https://example.com';
}

const accepted: Record<string, unknown[]> = {};

function tryAll(given: Schema, path: readonly string[], within: (value: unknown) => unknown): void {
  for (const schema of alternativesOf(resolved(given))) {
    for (const [name, below] of Object.entries(schema.properties ?? {}))
      tryAll(below, [...path, name], (value) => within({ ...(example(schema) as object), [name]: value }));
    if (typeof schema.additionalProperties === 'object')
      tryAll(schema.additionalProperties, [...path, '*'], (value) => within({ acme: value }));
    if (schema.items) tryAll(schema.items, [...path, '0'], (value) => within([value]));
  }
  for (const value of path.length === 0 ? [] : values) {
    try {
      checkConfig(within(value), { base: '/base', data: '/data' });
    } catch (error) {
      if (isRegistryError(error, 'malformed')) continue;
      throw error;
    }
    const key = path.join('.');
    if (!accepted[key]?.includes(value)) (accepted[key] ??= []).push(value);
  }
}

test('an empty text, a number past all, and a password in a URL are refused, but for these', () => {
  tryAll(whole, [], (value) => value);
  const taking = (wanted: unknown) => Object.keys(accepted).filter((key) => accepted[key]!.includes(wanted));
  // Some hosts take any name beside a token.
  expect(taking('')).toEqual(['credentials.*.username']);
  expect(taking(values[1])).toEqual([]);
  // Sizes and counts that nothing reaches. What becomes a timer or a header has an end.
  const sizes = /^(?:organizations\.\*\.)?(?:quotas|limits|rateLimit)\.|^sync\.sizeLimit$|^proxies$|\.appId$/;
  expect(taking(1e308).filter((key) => !sizes.test(key))).toEqual([]);
  expect(taking('https://user:pw@127.0.0.1:9/x').filter((key) => /url$|issuer$/i.test(key))).toEqual([
    'webhooks.audit.url',
  ]);
});
