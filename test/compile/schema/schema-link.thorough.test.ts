import { expect, test } from 'vitest';
import { run } from '../run.ts';

test('a URI that only the last of very many files declares is given up, and the report says so', async () => {
  const $schema = 'https://json-schema.org/draft/2020-12/schema';
  const chain = 300;
  const nowhere = Array.from({ length: 500 }, (_, at) => [`a${at}`, { $ref: `https://a.example/none/${at}` }]);
  const entry = {
    $schema,
    properties: {
      ...Object.fromEntries(nowhere),
      late: { $ref: 'https://a.example/late' },
      chain: { $ref: 'f0.json' },
    },
  };
  const next = (at: number) => ({ $schema, properties: { n: { $ref: `f${at + 1}.json` } } });
  const files = Object.fromEntries(Array.from({ length: chain }, (_, at) => [`f${at}.json`, JSON.stringify(next(at))]));
  const last = { $schema, $id: 'https://a.example/late', type: 'string' };
  const given = { 'a.json': JSON.stringify(entry), ...files, [`f${chain}.json`]: JSON.stringify(last) };
  const { lines } = await run(given, { type: 'schemas' });
  const found = lines.filter((line) => line.includes('too many other references'));
  expect(found).toEqual([expect.stringMatching(/limit-references: .*a\.example\/late/)]);
});
