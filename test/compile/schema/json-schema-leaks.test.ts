import { describe, expect, it } from 'vitest';
import { run } from '../run.ts';

const uris = {
  'draft-07': 'http://json-schema.org/draft-07/schema#',
  '2019-09': 'https://json-schema.org/draft/2019-09/schema',
  '2020-12': 'https://json-schema.org/draft/2020-12/schema',
};

describe('a valid schema is published whatever a validator makes of it', () => {
  it.each(Object.entries(uris))('%s: an empty enum', async (_, $schema) => {
    const { artifact, lines } = await run({ 'a.json': JSON.stringify({ $schema, enum: [] }) }, { type: 'schemas' });
    expect(artifact === null).toBe(false);
    expect(lines).toEqual([]);
  });

  it('draft-04, where an enum must not be empty, refuses it', async () => {
    const text = JSON.stringify({ $schema: 'http://json-schema.org/draft-04/schema#', enum: [] });
    expect((await run({ 'a.json': text }, { type: 'schemas' })).lines).toEqual([
      expect.stringMatching(/error schema: "enum" must have at least 1 item\.$/),
    ]);
  });

  it.each(Object.entries(uris))('%s: some hundred schemas that reference one another', async (_, $schema) => {
    const definitions = Object.fromEntries(
      Array.from({ length: 400 }, (_item, at) => [
        `d${at}`,
        { properties: { next: at < 399 ? { $ref: `#/definitions/d${at + 1}` } : {} } },
      ]),
    );
    const text = JSON.stringify({ $schema, definitions, properties: { a: { $ref: '#/definitions/d0' } } });
    const { artifact, lines } = await run({ 'a.json': text }, { type: 'schemas' });
    expect(artifact === null).toBe(false);
    expect(lines).toEqual([
      'a.json:1:1 warning schema-portability: The schema is valid, but the validator ajv, which many tools use, cannot compile it: too many schemas reference one another in a row.',
    ]);
  });

  it.each([
    ['https://example.com/b', 'b.schema.json'],
    ['https://example.com/b.json', 'b.json'],
    ['b', 'b.yaml'],
  ])('%s is found by the $id of %s beside it', async ($ref, name) => {
    const $schema = uris['2020-12'];
    const id = new URL($ref, 'https://example.com/a').href;
    const { lines, json } = await run(
      {
        'schemas/a.json': JSON.stringify({ $schema, $id: 'https://example.com/a', properties: { b: { $ref } } }),
        [`schemas/${name}`]: JSON.stringify({ $schema, $id: id, type: 'string' }),
      },
      { type: 'schemas' },
    );
    expect(lines).toEqual([]);
    expect(json).toContain('"type": "string"');
  });

  it('a file beside it with another $id is not taken for it', async () => {
    const $schema = uris['2020-12'];
    const { lines } = await run(
      {
        'a.json': JSON.stringify({ $schema, $ref: 'https://example.com/b.json' }),
        'b.json': JSON.stringify({ $schema, $id: 'https://example.org/b.json' }),
      },
      { type: 'schemas' },
    );
    expect(lines).toEqual([expect.stringMatching(/error ref-remote: /)]);
  });
});
