import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { routes } from '../../../src/server/v1/routes.ts';
import { description } from './described.ts';
import { credentials, openWorld, type World } from './matrix.ts';

/** Every operation on every kind of resource by every kind of credential: `matrix.tsv` says what the answer's status is. */
const [header, ...rows] = readFileSync(new URL('matrix.tsv', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => line.split('\t'));

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

test('the table has a column for each credential and rows for each operation', () => {
  expect(header).toEqual(['operation', 'slug', ...credentials]);
  const inTable = new Set(rows.map(([operation]) => operation!.split(' ')[0]));
  expect([...inTable].sort()).toEqual(description.operations.map(({ id }) => id).sort());
});

describe.each(rows)('%s %s', (operation, slug, ...expected) => {
  test(expected.join(' '), async () => {
    const seen: string[] = [];
    for (const credential of credentials) {
      const { status } = await world.observe(operation!, slug!, credential);
      seen.push(String(status));
    }
    expect(Object.fromEntries(credentials.map((name, index) => [name, seen[index]]))).toEqual(
      Object.fromEntries(credentials.map((name, index) => [name, expected[index]])),
    );
  });
});

test('what a key limited to some resources may not have at all is described so, and its refusal says what it takes', async () => {
  const { paths } = description.document as { paths: Record<string, Record<string, Record<string, unknown>>> };
  const wrong: string[] = [];
  for (const { id, path, method } of description.operations) {
    const isWhole = paths[path]![method]!['x-scope-of'] === 'organization';
    if (isWhole !== (routes.get(id)?.about === 'organization')) wrong.push(id);
    if (!isWhole || !rows.some(([operation, slug]) => operation === id && slug === '-')) continue;
    const { status, json } = await world.observe(id, '-', 'narrow-admin');
    if (status !== 403 || !String(json['detail']).includes('for the whole organization')) wrong.push(`${id} ${status}`);
  }
  expect(wrong).toEqual([]);
});

test('what is private to another is answered exactly as what is absent', async () => {
  const absent = await world.observe('getApi', 'absent', 'other');
  const secret = await world.observe('getApi', 'ledger', 'other');
  const told = ({ headers, text }: typeof absent) => {
    const fields = [...headers].filter(([name]) => !['date', 'x-request-id', 'ratelimit'].includes(name));
    return [fields, text.replace(/urn:uuid:[0-9a-f-]+/, '')];
  };
  expect(told(secret)).toEqual(told(absent));
});
