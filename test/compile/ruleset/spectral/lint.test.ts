import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { lintWithRuleset } from '../../../../src/compile/ruleset/ruleset-evaluate.ts';
import { compileRuleset } from '../../../../src/compile/ruleset/ruleset.ts';
import { lintWithSpectral } from '../../../../src/compile/ruleset/spectral/lint.ts';
import { given, lines } from '../../given.ts';
import { inputOf } from '../../sandbox/memory-load.ts';

const document = {
  openapi: '3.0.3',
  info: { title: 'pets', version: '1' },
  paths: { '/Pets': { get: { operationId: 'list_pets', tags: ['b', 'a'], responses: { 200: { description: '' } } } } },
};

async function lint(ruleset: string, files: Record<string, unknown> = { 'a.json': document }, extended = {}) {
  const json = JSON.stringify(parse(ruleset));
  return lines(await lintWithRuleset(given(files, 'apis'), { json, name: '@acme/rulesets/r', extended }));
}

/** One rule that checks one field of one place. */
function rule(path: string, then: string, more = ''): string {
  return `rules: {r: {given: "${path}", severity: error, ${more} then: ${then}}}`;
}

test('a schema that refers to a file is accepted with a warning, and checks nothing, as in Spectral', async () => {
  const then = (schema: string) => `{function: schema, functionOptions: {schema: ${schema}}}`;
  for (const schema of ['{$ref: ./HAL.yaml}', '{type: string, properties: {a: {$ref: "b.json#/c"}}}']) {
    const text = rule('$.info', then(schema));
    const { entry, files } = given({ 'r.json': parse(text) }, 'rulesets');
    const { problems } = await compileRuleset({ entry, files, input: inputOf('r.json', { type: 'rulesets' }) });
    expect(problems.map(({ rule: name, severity }) => `${severity} ${name}`)).toEqual(['warning ruleset-reference']);
    expect(await lint(text)).toEqual([]);
  }
  expect(await lint(rule('$.info', then('{type: string}')))).toHaveLength(1);
});

test.each<[schema: string, value: unknown, found: number]>([
  ['{const: {a: 1}}', { valueOf: 1 }, 1],
  ['{const: {a: 1, toString: b}}', { toString: 'b', a: 1 }, 0],
  ['{enum: [{a: 1}, {constructor: {a: [1]}}]}', { constructor: { a: [1] } }, 0],
  ['{enum: [{a: 1}, {constructor: {a: [1]}}]}', { constructor: { a: [2] } }, 1],
  ['{uniqueItems: true}', [{ valueOf: 1 }, { valueOf: 1 }], 1],
])('a schema compares values whose members are named like methods: %s', async (schema, value, found) => {
  const ruleset = rule('$.x-a', `{function: schema, functionOptions: {schema: ${schema}}}`);
  expect(await lint(ruleset, { 'a.json': { ...document, 'x-a': value } })).toHaveLength(found);
});

test('a schema compares items that refer to themselves', async () => {
  const ruleset = rule('$.x-a', '{function: schema, functionOptions: {schema: {uniqueItems: true}}}');
  const [a, b] = ['a', 'b'].map((name) => ({ name, next: { $ref: `#/x-b/${name}` } }));
  const [toA, toB] = [{ $ref: '#/x-b/a' }, { $ref: '#/x-b/b' }];
  const found = (items: unknown[]) => lint(ruleset, { 'a.json': { ...document, 'x-b': { a, b }, 'x-a': items } });
  expect(await found([toA, toB])).toEqual([]);
  expect(await found([toA, toB, toA])).toHaveLength(1);
});

test('a schema that goes round in a document for ever is a fault of its rule', async () => {
  const next = '{properties: {next: {$ref: "#"}}}';
  const ruleset = rule('$.x-a', `{function: schema, functionOptions: {schema: ${next}}}`);
  expect(await lint(ruleset, { 'a.json': { ...document, 'x-a': { next: { $ref: '#/x-a' } } } })).toEqual([
    'a.json:1:1 error ruleset-failed: The rule "r" of the ruleset @acme/rulesets/r cannot be applied: its schema follows references of this document that lead back.',
  ]);
});

describe('core functions', () => {
  test.each<[path: string, then: string, found: string[]]>([
    ['$.info', '{field: contact.name, function: truthy}', ['3:3 "contact.name" property must be truthy']],
    ['$.info', '{field: title, function: falsy}', ['4:14 "title" property must be falsy']],
    ['$.info', '{field: license, function: defined}', ['3:3 "license" property must be defined']],
    ['$.info.title', '{function: undefined}', ['4:14 "title" property must be undefined']],
    ['$.info.title', '{function: pattern, functionOptions: {match: ^A}}', ['4:14 "pets" must match the pattern "^A"']],
    [
      '$.info.title',
      '{function: pattern, functionOptions: {match: "/^P/i", notMatch: pe}}',
      ['4:14 "pets" must not match the pattern "pe"'],
    ],
    [
      '$.paths',
      '{field: "@key", function: pattern, functionOptions: {match: "^[^A-Z]*$"}}',
      ['8:5 "/Pets" must match the pattern "^[^A-Z]*$"'],
    ],
    ['$..operationId', '{function: casing, functionOptions: {type: camel}}', ['10:24 must be camel case']],
    ['$..operationId', '{function: casing, functionOptions: {type: flat, separator: {char: _}}}', []],
    [
      '$.info.version',
      '{function: enumeration, functionOptions: {values: ["2", null]}}',
      ['5:16 "1" must be equal to one of the allowed values: "2", null'],
    ],
    ['$..tags', '{function: length, functionOptions: {min: 3}}', ['11:9 "tags" property must be longer than 3']],
    ['$..tags', '{function: alphabetical}', ['12:11 "b" must be placed after "a"']],
    [
      '$.info',
      '{function: xor, functionOptions: {properties: [title, version]}}',
      ['3:3 Just one of "title" and "version" must be defined'],
    ],
    [
      '$.info',
      '{function: or, functionOptions: {properties: [contact, license]}}',
      ['3:3 At least one of "contact" or "license" must be defined'],
    ],
    [
      '$.info',
      '{function: schema, functionOptions: {schema: {required: [contact]}}}',
      ['3:3 "info" property must have required property \'contact\''],
    ],
    [
      '$.info',
      '{function: schema, functionOptions: {schema: {properties: {title: {pattern: ^A}}}}}',
      ['4:14 "title" property must match pattern "^A"'],
    ],
    [
      '$.paths[*][*]',
      '{field: "$.tags[*]", function: pattern, functionOptions: {match: b}}',
      ['13:11 "a" must match the pattern "b"'],
    ],
    ['$.info.title', '{field: any, function: truthy}', []],
  ])('%s %s', async (path, then, found) => {
    expect(await lint(rule(path, then))).toEqual(found.map((line) => `a.json:${line.replace(' ', ' error r: ')}`));
  });

  test('unused components are those that nothing references', async () => {
    const schema = { $ref: '#/components/schemas/A' };
    const api = { ...document, components: { schemas: { A: { type: 'object' }, B: { items: schema } } } };
    const then =
      '{function: unreferencedReusableObject, functionOptions: {reusableObjectsLocation: "#/components/schemas"}}';
    expect(await lint(rule('$.components.schemas', then, 'resolved: false,'), { 'a.json': api })).toEqual([
      'a.json:28:7 error r: Potential orphaned reusable object has been detected',
    ]);
  });

  test('a schema may check a document with cycles', async () => {
    const node = { type: 'object', properties: { next: { $ref: '#/components/schemas/Node' } } };
    const api = { ...document, components: { schemas: { Node: node } } };
    const then =
      '{function: schema, functionOptions: {schema: {properties: {properties: {properties: {next: {required: [title]}}}}}}}';
    expect(await lint(rule('$.components.schemas[*]', then), { 'a.json': api })).toEqual([
      expect.stringContaining("must have required property 'title'"),
    ]);
  });
});

test('a message has its placeholders filled, and a finding its documentation', async () => {
  const ruleset = `
documentationUrl: https://acme.example/rules
rules:
  second: {description: what it asks, documentationUrl: "https://acme.example/s", given: $.openapi, then: {function: falsy}}
  first:
    description: D
    message: "{{property}} {{error}} {{path}} {{description}} {{value}} {{other}}"
    given: $.info.title
    then: {function: falsy}
`;
  const json = JSON.stringify(parse(ruleset));
  const found = await lintWithRuleset(given({ 'a.json': document }, 'apis'), { json, name: 'r' });
  expect(found).toMatchObject([
    { rule: 'second', message: 'what it asks', documentationUrl: 'https://acme.example/s' },
    {
      rule: 'first',
      severity: 'warning',
      message: 'title "title" property must be falsy #/info/title D pets',
      documentationUrl: 'https://acme.example/rules#first',
    },
  ]);
});

describe('which rules apply', () => {
  test('severities of what is extended are changed by name, number, off and true', async () => {
    const ruleset = `
extends: [[spectral:oas, off]]
rules: {info-contact: error, info-description: 2, operation-description: hint, info-license: true, license-url: off}
`;
    const found = await lint(ruleset);
    expect(found.map((line) => line.split(' ').slice(1, 3).join(' ')).sort()).toEqual([
      'error info-contact:',
      'info info-description:',
      'info operation-description:',
      'warning info-license:',
    ]);
  });

  test('all, recommended and off', async () => {
    const names = async (which: string) =>
      new Set((await lint(`extends: [[spectral:oas, ${which}]]`)).map((line) => line.split(' ')[2]));
    const [all, recommended, off] = [await names('all'), await names('recommended'), await names('off')];
    expect(off.size).toBe(0);
    expect(recommended).toContain('info-contact:');
    expect(recommended).not.toContain('info-license:');
    expect(all).toContain('info-license:');
    expect(await names('recommended')).toEqual(
      new Set((await lint('extends: vacuum:oas')).map((line) => line.split(' ')[2])),
    );
  });

  test('formats: of the rule, of the ruleset, and of an alias', async () => {
    const ruleset = `
formats: [oas2]
aliases:
  Any: {targets: [{formats: [oas2], given: $.swagger}, {formats: [oas3], given: $.openapi}]}
rules:
  old: {given: $, then: {function: falsy}}
  new: {formats: [oas3_0], given: "#Any", then: {function: falsy}}
  newer: {formats: [oas3_1], given: $, then: {function: falsy}}
`;
    expect(await lint(ruleset)).toEqual([expect.stringContaining('a.json:2:14 warning new: ')]);
  });

  test('overrides by file and by place', async () => {
    const ruleset = `
rules: {r: {given: "$.info[*]", then: {function: falsy}}}
overrides:
  - {files: ["legacy/*.{json,yaml}"], rules: {r: off}}
  - {files: ["*.json#/info/title"], rules: {r: error}}
`;
    const levels = async (path: string) =>
      (await lint(ruleset, { [path]: document })).map((line) => line.split(' ')[1]);
    expect(await levels('a.json')).toEqual(['error', 'warning']);
    expect(await levels('legacy/a.json')).toEqual([]);
  });

  test('a ruleset that is extended by coordinate; one that leads back to itself is applied once', async () => {
    const base = parse(
      "extends: ['@acme/rulesets/r']\nrules: {base: {given: $.info, then: {function: falsy}}}",
    ) as unknown;
    const json = JSON.stringify(base);
    const extended = { '@acme/rulesets/base@1': { json }, '@acme/rulesets/r': { json } };
    const ruleset = 'extends: ["@acme/rulesets/base@1"]\nrules: {base: error}';
    expect(await lint(ruleset, { 'a.json': document }, extended)).toEqual([expect.stringContaining(' error base: ')]);
  });

  test('JSON Schemas are checked too', async () => {
    const schema = { $schema: 'http://json-schema.org/draft-07/schema#', type: 'object' };
    const ruleset = 'rules: {r: {formats: [json-schema-draft7], given: $, then: {field: title, function: truthy}}}';
    expect(await lint(ruleset, { 's.json': schema })).toEqual([expect.stringContaining(' warning r: ')]);
  });
});

test('a finding in another file is reported there', async () => {
  const files = {
    'openapi.yaml': 'openapi: 3.0.3\ninfo: {title: a, version: "1"}\npaths:\n  /a:\n    $ref: paths/a.yaml\n',
    'paths/a.yaml': 'get:\n  responses: {}\n',
  };
  expect(await lint(rule('$.paths[*].get', '{field: summary, function: truthy}'), files)).toEqual([
    'paths/a.yaml:1:1 error r: "summary" property must be truthy',
  ]);
});

test('many findings of one severity hide none of another, and a cut is reported', () => {
  const ruleset = parse(`
rules:
  hint: {given: "$.tags[*]", severity: hint, then: {field: name, function: truthy}}
  warned: {given: "$.tags[*]", severity: warn, then: {field: name, function: truthy}}
  last: {given: $.info, severity: error, then: {field: contact, function: truthy}}`) as Record<string, unknown>;
  const tags = Array.from({ length: 10_001 }, () => ({}));
  const found = lintWithSpectral(given({ 'a.json': { tags, info: {} } }, 'apis'), {
    ruleset,
    name: 'r',
    find: () => null,
  });
  const counted = Map.groupBy(found, ({ rule: name, severity }) => `${severity} ${name}`);
  expect(Object.fromEntries([...counted].map(([name, { length }]) => [name, length]))).toEqual({
    'info hint': 10_000,
    'warning warned': 10_000,
    'error last': 1,
    'warning ruleset-findings-cut': 1,
    'info ruleset-findings-cut': 1,
  });
  expect(found.at(-1)!.message).toBe(
    'The ruleset r has 10001 findings of severity info in this document. Stele keeps only the first 10000. Make its rules more specific.',
  );
});

describe('matching long texts is work', () => {
  const long = { ...document, info: { title: 'a'.repeat(100_000), version: 'a'.repeat(100_000) } };
  test.each([
    ['pattern', '$.info.title', '{function: pattern, functionOptions: {match: "^b*$"}}'],
    ['casing', '$.info.title', '{function: casing, functionOptions: {type: camel}}'],
    ['schema', '$.info.title', '{function: schema, functionOptions: {schema: {pattern: "^b*$"}}}'],
    ['match', '$.info[?(@.match(/^b*$/))]', '{function: truthy}'],
    ['test', '$.info[?(/^b*$/.test(@))]', '{function: truthy}'],
    ['includes', '$.info[?(@.includes("b"))]', '{function: truthy}'],
    ['===', '$.info[?(@ === @root.info.version)]', '{function: truthy}'],
  ])('%s', (_, path, then) => {
    const ruleset = parse(`rules: {slow: {given: '${path}', severity: error, then: ${then}}}`) as Record<
      string,
      unknown
    >;
    const run = (work: number) =>
      lines(lintWithSpectral(given({ 'a.json': long }, 'apis'), { ruleset, name: 'r', find: () => null, work }));
    expect(run(1000)).toEqual([expect.stringContaining('The rule "slow" of the ruleset r cannot be applied')]);
    expect(run(100_000)).not.toContainEqual(expect.stringContaining('ruleset-failed'));
  });
});

describe('matching costs work at each place, and for each step of a large pattern', () => {
  test.each([
    ['a lookahead that is tried everywhere', '(?=(a+)+$)b', 20_000],
    ['many lookaheads at the start', `^${'(?=.*a)'.repeat(250)}b`, 20_000],
    ['a large pattern', '(a.{1,100}b){5}c', 60_000],
  ])('%s', (_, match, length) => {
    const steps = [{ field: 'title', function: 'pattern', functionOptions: { match } }];
    const ruleset = {
      rules: {
        slow: Object.fromEntries([
          ['given', '$.info'],
          ['th'.concat('en'), steps],
        ]),
      },
    };
    const run = (size: number) => {
      const long = { ...document, info: { title: 'a'.repeat(size), version: '1' } };
      return lines(
        lintWithSpectral(given({ 'a.json': long }, 'apis'), { ruleset, name: 'r', find: () => null, work: 400_000 }),
      );
    };
    expect(run(length)).toEqual([expect.stringContaining('The rule "slow" of the ruleset r cannot be applied')]);
    expect(run(200)).not.toContainEqual(expect.stringContaining('ruleset-failed'));
  });
});

test('each schema of a ruleset has its own patterns', async () => {
  const then = (pattern: string) => `{function: schema, functionOptions: {schema: {pattern: "${pattern}"}}}`;
  const ruleset = `rules: {one: {given: $.info.title, then: ${then('^p')}}, two: {given: $.info.title, then: ${then('^q')}}}`;
  expect(await lint(ruleset)).toEqual(['a.json:4:14 warning two: "title" property must match pattern "^q"']);
});

test('a rule that takes too much work is named, and blocks', () => {
  const ruleset = parse(`
rules:
  quick: {given: $.info, then: {function: falsy}}
  slow: {given: "$..[?(@.x == 1)]", then: {function: falsy}}`) as Record<string, unknown>;
  const found = lintWithSpectral(given({ 'a.json': document }, 'apis'), {
    ruleset,
    name: 'r',
    find: () => null,
    work: 40,
  });
  expect(lines(found)).toEqual([
    'a.json:1:1 error ruleset-failed: The rule "slow" of the ruleset r cannot be applied: it takes too much work on this document. Make its "given" more specific, or its patterns simpler.',
  ]);
});
