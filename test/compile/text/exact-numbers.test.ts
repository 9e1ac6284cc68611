import { describe, expect, it, test } from 'vitest';
import { parseJson } from '../../../src/model/json.ts';
import { exactInteger, nearestMultiple, parseExactly } from '../../../src/model/exact-numbers.ts';
import { writeYaml } from '../../../src/compile/text/represent.ts';
import { compareDocuments } from '../../../src/diff/compare-documents.ts';
import { renderDocument } from '../../../src/render/render.ts';
import { excerptOf } from '../../../src/render/excerpt.ts';
import { run } from '../run.ts';

const least = '-9223372036854775808';
const most = '9223372036854775807';

/** A schema as JSON text, in which every place that takes a number has a long one. */
const schema = (number = most) =>
  `{ "type": "integer", "minimum": ${least}, "maximum": ${number}, "enum": [1, ${number}], "default": ${number}, "example": ${number} }`;
const responses = '"responses": { "200": { "description": "Done." } }';
const api = (body: string) => `{ "openapi": "3.0.3", "info": { "title": "Numbers", "version": "1.0.0" },
  "paths": { "/a": { "post": { "requestBody": { "content": { "application/json": { "schema": ${body} } } }, ${responses} } } } }`;
const object = (body: string) => `{ "type": "object", "required": ["id"], "properties": { "id": ${body} } }`;

/** A ruleset with a rule that has a long number. */
const ruleset = (start: string) =>
  `${start}rules:\n  a: { given: $, then: { function: enumeration, functionOptions: { values: [${least}, ${most}] } } }\n`;

/** The numbers of more than 15 digits in a text. */
const numbersIn = (text: string | null) => new Set(text?.match(/(?<![\w.])-?\d{16,}/g) ?? []);
const both = new Set([least, most]);

describe('every digit of an integer is published', () => {
  it.each([
    ['JSON, and YAML made of it', { 'api.json': api(schema()) }],
    ['YAML, and JSON made of it', { 'api.yaml': api(schema()).replace('{ "openapi"', '{ openapi') }],
    ['a bundle', { 'api.yaml': api('{ "$ref": "id.yaml" }'), 'id.yaml': schema() }],
    ['a bundle of JSON', { 'api.json': api('{ "$ref": "id.json#/a" }'), 'id.json': `{ "a": ${schema()} }` }],
    ['a bundle of an extension', { 'api.json': `${api('{}').slice(0, -1)}, "x-a": { "b": { "$ref": "id.json" } } }`, 'id.json': schema() }],
    ['an example elsewhere', { 'api.json': api('{}').replace('"schema": {}', '"examples": { "a": { "externalValue": "a.json" } }'), 'a.json': `[${least}, ${most}]` }],
    ['a schema', { 's.json': `{ "$schema": "http://json-schema.org/draft-07/schema#", "minimum": ${least}, "maximum": ${most} }` }],
    ['a bundle of schemas', { 's.json': '{ "$schema": "http://json-schema.org/draft-07/schema#", "items": { "$ref": "t.json" } }', 't.json': `{ "minimum": ${least}, "maximum": ${most} }` }],
    ['a ruleset', { '.spectral.yaml': ruleset('') }],
    ['a ruleset of several files', { '.spectral.yaml': 'extends: ./base.yaml\nrules: {}\n', 'base.yaml': ruleset('') }],
    ['a ruleset that extends another file', { '.spectral.yaml': ruleset('extends: ./base.yaml\n'), 'base.yaml': 'rules: {}\n' }],
    ['a part of a ruleset', { '.spectral.yaml': `x-stele-partial: true\n${ruleset('')}  bad: { given: $, then: { function: nothing } }\n` }],
    ['a schema whose references are rewritten', { 's.json': `{ "$schema": "http://json-schema.org/draft-07/schema#", "minimum": ${least}, "definitions": { "a": { "maximum": ${most} } }, "items": { "$ref": "s.json#/definitions/a" } }` }],
  ])('%s', async (_, files: Record<string, string>) => {
    const { json, yaml, lines } = await run(files, { type: null, validation: 'lenient' });
    expect(lines.filter((line) => line.includes('error'))).toEqual([]);
    expect([numbersIn(json), numbersIn(yaml)]).toEqual([both, both]);
  }); // prettier-ignore

  it('what overlays and an audience leave', async () => {
    const overlay = `{ "overlay": "1.0.0", "info": { "title": "O", "version": "1" }, "actions": [
      { "target": "$.info", "update": { "x-most": ${most} } }, { "target": "$.paths[?@.x > 1]", "remove": true } ] }`;
    for (const audience of [null, 'public']) {
      const view = { overlays: ['o.json'], audience };
      const { json, yaml } = await run(
        {
          'api.json': api(`{ "minimum": ${least} }`).replace('"paths": {', `"paths": { "/b": { "x": ${most} },`),
          'o.json': overlay,
        },
        { type: 'apis', view },
      );
      expect([numbersIn(json), numbersIn(yaml)]).toEqual([both, both]);
      expect(json).not.toContain('/b');
    }
  });
});

it('a warning names each number that others read as another, and no other', async () => {
  const { lines } = await run({
    'a.yaml': `$schema: http://json-schema.org/draft-07/schema#
examples:
- 9007199254740993
- 18446744073709551616
- 0.1000000000000000055
- 0.1000000000000000055511151231257827
- 0.10000000000000001
- 1.0
- -0
- 1e300
- 12345678901234567890.5
- 0xFFFFFFFFFFFFFFFF
`,
  });
  expect(lines.filter((line) => line.includes('number-'))).toEqual([
    'a.yaml:3:3 warning number-precision: The integer 9007199254740993 is beyond 2^53, and most parsers read it as 9007199254740992. Use a smaller number or a string.',
    'a.yaml:5:3 warning number-precision: The number 0.1000000000000000055 has more digits than parsers keep. They read it, and the format generated here writes it, as 0.1. Use fewer digits or a string.',
    'a.yaml:11:3 warning number-precision: The number 12345678901234567890.5 has more digits than parsers keep. They read it, and the format generated here writes it, as 12345678901234567000. Use fewer digits or a string.',
    'a.yaml:12:3 warning number-precision: The integer 0xFFFFFFFFFFFFFFFF is beyond 2^53, and most parsers read it as 18446744073709552000. Use a smaller number or a string.',
  ]);
});

const published = (json: string) => ({ type: 'apis' as const, kind: 'openapi' as const, json: Buffer.from(json) });

describe('a change of the last digit is a change', () => {
  const [from, to] = [most, '9223372036854775806'];
  it.each([
    ['"minimum"', 'minimum-decreased'],
    ['"maximum"', 'maximum-decreased'],
    ['"exclusiveMaximum": true, "maximum"', 'maximum-decreased'],
    ['"multipleOf"', 'multiple-of-changed'],
    ['"default"', 'default-changed'],
    ['"example"', 'example-changed'],
    ['"enum": [1, ', 'enum-value-added enum-value-removed'],
    ['"x-extensible-enum": [1, ', 'extensible-enum-value-added extensible-enum-value-removed'],
    ['"type": "array", "maxItems"', 'max-items-decreased'],
  ])('%s', (keyword, codes) => {
    const written = (number: string) =>
      published(api(object(`{ "type": "integer", ${keyword}${keyword.endsWith(', ') ? `${number}]` : `: ${number}`} }`)));
    const { changes } = compareDocuments(written(from), written(to));
    const named = changes.map(({ code }) => code.replace(/^(?:request-)?property-/, ''));
    expect(named.sort().join(' ')).toBe(codes);
    const texts = changes.map((change) => JSON.stringify(change)).join();
    expect(texts).toMatch(/775807.*775806|775806.*775807/);
    expect(texts).not.toContain('rawJSON');
  }); // prettier-ignore

  it('a listed value that a new limit refuses by its last digit', () => {
    const written = (more: string) => published(api(object(`{ "enum": [1, ${most}]${more} }`)));
    const { changes } = compareDocuments(written(''), written(`, "maximum": ${to}`));
    expect(changes).toMatchObject([{ verdict: 'breaking', code: 'request-property-maximum-set' }]);
    expect(compareDocuments(written(''), written(`, "maximum": ${most}`)).verdict).toBe('none');
  });

  it('the digest of the operation is another one', () => {
    const text = (number: string) => api(`{ "maximum": ${number} }`);
    expect(compareDocuments(published(text(from)), published(text(from))).verdict).toBe('none');
    expect(compareDocuments(published(text(from)), published(text(`${from}.0`))).verdict).toBe('none');
    expect(compareDocuments(published(text('9007199254740993')), published(text('9007199254740992'))).changes).toMatchObject([
      { code: 'request-body-maximum-decreased', before: '9007199254740993', after: '9007199254740992' },
    ]);
  }); // prettier-ignore
});

describe('pages', () => {
  it('show every digit: of limits, values, examples and samples', () => {
    const { html, markdown } = renderDocument(published(api(object(schema()))))!;
    expect(html.replaceAll(/<[^>]*>/g, '')).not.toMatch(/922337203685477[^5]|9223372036854775(?!80[78])/);
    expect(html).toContain(`${least} to ${most}`);
    expect(markdown).toContain(most);
    const part = { operation: 'POST /a' } as never;
    expect(numbersIn(excerptOf(published(api(object(schema()))), part))).toEqual(both);
  });

  it.each([
    [`{ "type": "integer", "minimum": ${most} }`, `"id": ${most}`],
    [`{ "type": "integer", "minimum": ${most}, "exclusiveMinimum": true }`, '"id": 9223372036854775808'],
    [`{ "type": "integer", "maximum": ${least} }`, `"id": ${least}`],
    [`{ "type": "integer", "minimum": ${most}, "multipleOf": 10 }`, '"id": 9223372036854775810'],
    [`{ "type": "array", "minItems": 2, "items": { "type": "integer", "example": ${least} } }`, '-9223372036854775807'],
  ])('a sample of %s has %s', (given, shown) => {
    const text = renderDocument(published(api(object(given))))!.html.replaceAll('&quot;', '"').replaceAll(/<[^>]*>/g, '');
    expect(text).toContain(shown);
  }); // prettier-ignore
});

test('what a double holds stays a number, whatever it looks like', () => {
  for (const text of ['0', '-0', '1.0', '1e2', '1e300', '1e24', '0.1', '0.10000000000000001', '9007199254740992', '5e-324', '123456789012345680000'])
    expect([text, parseExactly(`[${text}]`)]).toEqual([text, parseJson(`[${text}]`)]);
  for (const [text, integer] of [
    ['9007199254740993', 9007199254740993n],
    ['9.007199254740993e15', 9007199254740993n],
    ['9007199254740993.000', 9007199254740993n],
    ['18446744073709551616', 18446744073709551616n],
    ['+0000000000000000009007199254740993', 9007199254740993n],
    ['-0x20000000000001', -9007199254740993n],
    ['0o400000000000000001', 9007199254740993n],
  ] as const)
    expect([text, exactInteger(text, Number(integer))]).toEqual([text, integer]);
  expect(writeYaml({ a: 9007199254740993n, b: [-9007199254740993n] })).toBe('a: 9007199254740993\nb:\n- -9007199254740993\n');
  expect(JSON.stringify({ a: [9007199254740993n] })).toBe('{"a":[9007199254740993]}');
}); // prettier-ignore

test('the nearest multiple, below and above, of both kinds of numbers', () => {
  expect([nearestMultiple(7, 3, true), nearestMultiple(7, 3, false), nearestMultiple(-7, 3, true)]).toEqual([6, 9, -9]);
  const large = 9223372036854775807n;
  expect([nearestMultiple(large, 1, true), nearestMultiple(large, 10, true)]).toEqual([large, 9223372036854775800n]);
  expect([nearestMultiple(large, 10, false), nearestMultiple(-large, 10, true)]).toEqual([
    9223372036854775810n,
    -9223372036854775810n,
  ]);
});
