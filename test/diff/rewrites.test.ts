// The same API written in another way is never breaking, and one at other URLs is never the same.
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { load } from 'js-yaml';
import { expect, test } from 'vitest';
import { timesAsMany } from '../sample.ts';
import { modern, old } from './every-field.ts';
import { compare, giving, taking, type Json } from './given.ts';
import { rewrites } from './rewrites.ts';

const fixture = (path: string) => load(readFileSync(new URL(`../fixtures/${path}`, import.meta.url), 'utf8')) as Json;
const text = { type: 'string' };
const tagged = (kind: string) => ({ type: 'object', required: [kind], properties: { [kind]: text } });
const schemas = {
  A: {
    type: 'object',
    required: ['a', 'b'],
    properties: { a: { ...text, nullable: true }, b: { ...text, format: 'byte' } },
  },
  B: { allOf: [{ $ref: '#/components/schemas/A' }, { properties: { c: { type: 'integer', minimum: 0, exclusiveMinimum: true } } }] }, // prettier-ignore
  C: { type: 'array', items: { $ref: '#/components/schemas/B' } },
  E: { oneOf: [{ type: 'array', items: { oneOf: [tagged('a'), tagged('b')] } }, { type: 'array', items: { oneOf: [tagged('c'), tagged('d')] } }] }, // prettier-ignore
  D: {
    anyOf: [
      { $ref: '#/components/schemas/C' },
      { $ref: '#/components/schemas/E' },
      { ...text, enum: ['a', 'b'], nullable: true },
    ],
  },
};
const binary = { ...text, format: 'binary' };
const documents: Readonly<Record<string, Json>> = {
  ...modern,
  old,
  taken: {
    ...taking({ $ref: '#/components/schemas/D' }, { openapi: '3.0.3', components: { schemas } }),
    servers: [{ url: 'https://a.example/v1' }],
  },
  files: {
    openapi: '3.0.3',
    info: { title: 'Files', version: '1' },
    paths: {
      '/files': {
        parameters: [{ in: 'query', name: 'q', schema: { type: 'array', items: text } }],
        post: {
          requestBody: {
            content: {
              'multipart/form-data': { schema: { type: 'object', properties: { f: binary } } },
              'application/octet-stream': { schema: binary },
            },
          },
          responses: { 200: { description: 'So.', content: { 'image/png': { schema: binary } } } },
        },
      },
    },
  },
  animals: giving(
    { properties: { a: { $ref: '#/components/schemas/Pet' }, b: { $ref: '#/components/schemas/Cat' } } },
    {
      components: {
        schemas: {
          Pet: { ...tagged('kind'), discriminator: { propertyName: 'kind' } },
          Cat: { allOf: [{ $ref: '#/components/schemas/Pet' }, { properties: { a: text } }] },
          Dog: { allOf: [{ $ref: '#/components/schemas/Pet' }, { properties: { b: text } }] },
          Either: { anyOf: [{ $ref: '#/components/schemas/Cat' }, { $ref: '#/components/schemas/Dog' }], discriminator: { propertyName: 'kind' } }, // prettier-ignore
        },
      },
    },
  ),
  rendered: fixture('render/3.0.yaml'),
  petstore: fixture('overlay/overlays-js/openapi/petstore.yaml'),
  drinks: fixture('overlay/speakeasy/openapi.yaml'),
};

test('no other way of writing breaks anybody', () => {
  const tried = new Set<string>();
  const wrong = Object.entries(documents).flatMap(([name, document]) =>
    Object.entries(rewrites).flatMap(([way, rewrite]) => {
      const other = rewrite(document);
      if (other === null) return [];
      tried.add(way);
      return [compare(document, other), compare(other, document)].flatMap(({ changes, reason }, at) => [
        ...(reason === null ? [] : [reason]),
        ...changes
          .filter(({ verdict }) => verdict !== 'safe' && verdict !== 'docs')
          .map(({ verdict, message }) => `${name}, ${way}${at === 0 ? '' : ' back'}: ${verdict} ${message}`),
      ]);
    }),
  );
  expect(wrong).toEqual([]);
  expect([...tried].sort()).toEqual(Object.keys(rewrites).sort());
});

const host = fc.constantFrom('https://a.example', 'https://b.example', 'http://a.example', 'https://{v}.example', '');
const base = fc.constantFrom('', '/', '/v1', '/v1/', '/{v}', '/v1/{v}');
const values = fc.uniqueArray(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 3 });
const server = fc
  .record({ host, base, values })
  .map(({ host: start, base: end, values: all }) => ({
    url: start + end || '/',
    variables: { v: { default: all[0]!, enum: all } },
  }));
const path = fc.constantFrom('/x', '/x/', '/v1/x', '/{id}', '/a/x');
const api = fc.record({ servers: fc.array(server, { maxLength: 2 }), path });

interface Api {
  servers: { url: string; variables: { v: { default: string; enum: string[] } } }[];
  path: string;
}

const documentOf = ({ servers, path: key }: Api): Json => ({
  openapi: '3.1.0',
  info: { title: 'T', version: '1' },
  servers,
  paths: { [key]: { get: { responses: { 204: { description: 'Done.' } } } } },
});

/** The addresses that are called, one for each listed value of variables. */
function addressesOf({ servers, path: key }: Api): string {
  const all = servers.flatMap(({ url, variables }) => variables.v.enum.map((value) => url.replaceAll('{v}', value)));
  const whole = (all.length > 0 ? all : ['/']).map((url) => url.replace(/[/]$/, '') + key.replace('{id}', '{}'));
  return [...new Set(whole)].sort().join(' ');
}

test('two documents with other addresses are never the same, and with the same ones never breaking', () => {
  fc.assert(
    fc.property(api, api, (one, other) => {
      const { verdict, changes } = compare(documentOf(one), documentOf(other));
      const said = changes.map(({ message }) => message).join(' ');
      if (addressesOf(one) === addressesOf(other)) expect(['none', 'safe', 'risky', 'docs'], said).toContain(verdict);
      else expect(verdict, `${addressesOf(one)} and ${addressesOf(other)}`).not.toBe('none');
    }),
    { numRuns: 150 * timesAsMany },
  );
});
