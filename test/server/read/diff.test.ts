import { afterAll, beforeAll, expect, test } from 'vitest';
import { outlineDocument } from '../../../src/render/outline-document.ts';
import { ask } from '../http.ts';
import { publishVersion } from '../registry.ts';
import { openServed, type Served } from '../served.ts';

let served: Served;
beforeAll(async () => {
  served = await openServed();
  served.registry.compiler.outline = async (document) => outlineDocument(document);
  const operation = { responses: {} };
  const before = {
    paths: { '/a': { get: operation }, '/b': { get: operation }, '/c': { get: operation } },
    components: { schemas: { A: {}, B: {} } },
  };
  const after = {
    paths: { '/a': { get: operation }, '/b': { get: { ...operation, summary: 'new' } }, '/d': { post: operation } },
    components: { schemas: { B: { type: 'object' }, C: {} } },
  };
  await publishVersion(served.registry, '@acme/apis/shop', '1.0.0', { document: before });
  await publishVersion(served.registry, '@acme/apis/shop', '2.0.0', { document: after });
});
afterAll(() => served[Symbol.asyncDispose]());

const rules = { added: [], removed: [], changed: [] };
const forward = {
  operations: { added: ['POST /d'], removed: ['GET /c'], changed: ['GET /b'] },
  schemas: { added: ['C'], removed: ['A'], changed: ['B'] },
  rules,
};

test.each([
  ['', { from: '1.0.0', to: '2.0.0', changes: forward, truncated: false }],
  ['?from=1.0.0&to=2.0.0', { from: '1.0.0', to: '2.0.0', changes: forward, truncated: false }],
  ['?from=1&to=latest', { from: '1.0.0', to: '2.0.0', changes: forward, truncated: false }],
  ['?to=1.0.0', { from: null, to: '1.0.0', changes: null, truncated: false }],
  [
    '?from=2.0.0&to=1.0.0',
    {
      from: '2.0.0',
      to: '1.0.0',
      changes: {
        operations: { added: ['GET /c'], removed: ['POST /d'], changed: ['GET /b'] },
        schemas: { added: ['A'], removed: ['C'], changed: ['B'] },
        rules,
      },
      truncated: false,
    },
  ],
  [
    '?from=2.0.0&to=2.0.0',
    { from: '2.0.0', to: '2.0.0', changes: { operations: rules, schemas: rules, rules }, truncated: false },
  ],
])('what differs, %j', async (query, expected) => {
  const answer = await ask(served.port, { target: `/@acme/apis/shop/diff${query}` });
  expect(answer.status).toBe(200);
  expect(JSON.parse(answer.body.toString())).toEqual(expected);
});
