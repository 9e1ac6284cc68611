import { describe, expect, test } from 'vitest';
import { standsAlone } from '../../../src/compile/openapi/openapi-bundle.ts';
import { parseFile, type ParsedFile } from '../../../src/compile/text/parse.ts';
import { limits } from '../limits.ts';
import { inputOf } from '../sandbox/memory-load.ts';

function isAlone(members: object, others: string[] = []): boolean {
  const read = (path: string, value: object): ParsedFile => {
    const parsed = parseFile(path, Buffer.from(JSON.stringify(value)), limits);
    if (!parsed.ok) throw new Error('unreadable');
    return parsed.file;
  };
  const entry = read('a.json', { openapi: '3.1.0', info: { title: 'a', version: '1' }, ...members });
  const files = new Map([entry, ...others.map((path) => read(path, {}))].map((file) => [file.path, file]));
  return standsAlone({ entry, files, input: inputOf('a.json') });
}

const schemas = { a: { $ref: '#/components/schemas/b' }, b: { type: 'string' }, 'c/d': [{}] };
const paths = (schema: object) => ({ components: { schemas }, paths: { '/a': { get: { schema } } } });

describe('a document that redocly need not bundle', () => {
  test.each([
    ['has no references', {}],
    ['references nodes of its own', paths({ $ref: '#/components/schemas/b' })],
    ['references a node that references itself', { a: { b: { $ref: '#/a' } } }],
    ['references an escaped name', paths({ $ref: '#/components/schemas/c~1d/0' })],
    ['has a property called $ref', paths({ properties: { $ref: { type: 'string' } } })],
    ['maps to its own schemas', paths({ discriminator: { mapping: { x: '#/components/schemas/b', y: 'b' } } })],
  ])('%s', (_what, members) => expect(isAlone(members)).toBe(true));

  test.each([
    ['references through a reference', paths({ $ref: '#/components/schemas/a' })],
    ['references itself only', { a: { $ref: '#/a' } }],
    ['references into a reference', paths({ $ref: '#/components/schemas/a/type' })],
    ['references a node that is not there', paths({ $ref: '#/components/schemas/c' })],
    ['references an inherited name', paths({ $ref: '#/components/schemas/constructor' })],
    ['references an anchor', paths({ $ref: '#b' })],
    ['references its root', paths({ $ref: '#' })],
    ['encodes a pointer', paths({ $ref: '#/components/schemas/%62' })],
    ['references a URL', paths({ $ref: 'https://a.example/b' })],
    ['references its own name', paths({ $ref: 'a.json#/components/schemas/b' })],
    ['maps to a schema that is not there', paths({ discriminator: { mapping: { x: '#/components/schemas/c' } } })],
    ['maps by default to one that is not there', paths({ discriminator: { defaultMapping: '#/c' } })],
    ['maps to another file', paths({ discriminator: { mapping: { x: 'b.json' } } })],
    ['has a missing reference in an extension', { 'x-a': [{ $ref: '#/b' }] }],
  ])('is not one that %s', (_what, members) => expect(isAlone(members)).toBe(false));

  test('is not one with other files', () => expect(isAlone({}, ['b.json'])).toBe(false));

  test('is not one whose references lead through thousands of levels', () => {
    const chain = (length: number) =>
      Object.fromEntries(Array.from({ length }, (_, n) => [`s${n}`, { items: { $ref: `#/a/s${(n + 1) % length}` } }]));
    expect([isAlone({ a: chain(500) }), isAlone({ a: chain(5000) })]).toEqual([true, false]);
  });
});
