import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parsePath } from '../../../../src/compile/ruleset/spectral/path/json-path.ts';
import { compilePattern } from '../../../../src/compile/ruleset/spectral/pattern.ts';
import { select } from './select.ts';

const document = {
  info: { title: 'T', none: null },
  paths: {
    '/a': { get: { tags: ['x', 'y'], responses: { 200: {}, 404: {} } }, put: { summary: 's' } },
    '/b': { get: { parameters: [{ name: 'id', in: 'path', schema: { type: 'string' } }] }, parameters: [] },
  },
};

describe('expressions select the nodes that Spectral selects', () => {
  test.each<[expression: string, pointers: string[]]>([
    ['$', ['']],
    ['$.info.title', ['/info/title']],
    ['$["info"][title,none]', ['/info/none', '/info/title']],
    ['$.paths[*][get, put]', ['/paths/~1a/get', '/paths/~1a/put', '/paths/~1b/get']],
    ['$.paths[*]~', ['~/paths/~1a', '~/paths/~1b']],
    ['$.paths[?(@property.match(/^.b$/))]', ['/paths/~1b']],
    ["$.paths[*][?(@property === 'get')].responses[?(@property >= 400)]~", ['~/paths/~1a/get/responses/404']],
    ['$..[?(@.in == "path")].schema', ['/paths/~1b/get/parameters/0/schema']],
    ['$..parameters[?(@.in == "path" && @.schema.type != "integer")]', ['/paths/~1b/get/parameters/0']],
    ["$..[?(@property === 'name')]^", ['/paths/~1b/get/parameters/0']],
    ["$..[?(@property === 'name')]^.schema", ['/paths/~1b/get/parameters/0/schema']],
    ["$..[?(@property === 'name')]^^", ['/paths/~1b/get/parameters']],
    ["$..[?(@property === 'name')]^~", ['~/paths/~1b/get/parameters/0']],
    ['$...schema', ['/paths/~1b/get/parameters/0/schema']],
    ['$paths[*]', ['/paths/~1a', '/paths/~1b']],
    ['$..tags[0]', ['/paths/~1a/get/tags/0']],
    ['$..tags[-1:]', ['/paths/~1a/get/tags/1']],
    ['$..tags[(@.length-1)]', ['/paths/~1a/get/tags/1']],
    ["$.paths[*][?(@property in ['put', 'post'])]", ['/paths/~1a/put']],
    ['$.paths[?(/A$/i.test(@property))]', ['/paths/~1a']],
    ["$.paths[*].get.tags[?(@.indexOf('y') === 0)]", ['/paths/~1a/get/tags/1']],
    [
      '$.paths..',
      [
        '/paths',
        '/paths/~1a',
        '/paths/~1a/get',
        '/paths/~1a/get/responses',
        '/paths/~1a/get/responses/200',
        '/paths/~1a/get/responses/404',
        '/paths/~1a/get/tags',
        '/paths/~1a/put',
        '/paths/~1b',
        '/paths/~1b/get',
        '/paths/~1b/get/parameters',
        '/paths/~1b/get/parameters/0',
        '/paths/~1b/get/parameters/0/schema',
        '/paths/~1b/parameters',
      ],
    ],
  ])('%s', (expression, pointers) => {
    expect(select(document, [expression])).toEqual([pointers]);
  });

  test('all expressions are evaluated in one traversal', () => {
    const expressions = ['$..get', '$.paths[*].get', '$..responses[*]', '$..[?(@.summary)]', '$..get'];
    const each = expressions.map((expression) => select(document, [expression])[0]);
    expect(select(document, expressions)).toEqual(each);
  });

  test('a member of null is no match, also negated', () => {
    expect(select(document, ['$.info[?(!@.a)]', '$.info[?(@.a.b == 1)]', '$.info[?(@ == null)]'])).toEqual([
      ['/info/title'],
      [],
      ['/info/none'],
    ]);
  });
});

describe('references', () => {
  const linked = {
    a: { $ref: '#/defs/A' },
    list: [{ $ref: '#/defs/A' }, { $ref: '#/defs/none' }],
    defs: {
      A: { type: 'object', next: { $ref: '#/defs/A' }, b: { $ref: '#/defs/B' } },
      B: { $ref: '#/defs/C' },
      C: { x: 1 },
    },
  };

  test('a node behind references is selected where it is defined, and cycles end', () => {
    expect(select(linked, ['$.a.type', '$..x', '$.list[*]', '$.a.next.next.b.x'])).toEqual([
      ['/defs/A/type'],
      ['/defs/C/x'],
      ['/defs/A', '/list/1'],
      ['/defs/C/x'],
    ]);
  });

  test('filters see what references lead to', () => {
    expect(select(linked, ['$.list[?(@.next.b.x == 1)]'])).toEqual([['/defs/A']]);
  });

  test('with "resolved: false" a reference is a member', () => {
    expect(select(linked, ['$.a.type', '$..$ref'], { isResolved: false })).toEqual([
      [],
      ['/a/$ref', '/defs/A/b/$ref', '/defs/A/next/$ref', '/defs/B/$ref', '/list/0/$ref', '/list/1/$ref'],
    ]);
  });
});

test.each([
  '$..[?(@.constructor.constructor("return process")())]',
  '$..[?(@["constructor"]("a"))]',
  "$..[?('a'.replace('a', 'b'))]",
  '$..[?(process.exit())]',
  '$..[?(@.a = 1)]',
  '$..[(@.length + process.pid)]',
  '$..[?(@root.constructor())]',
  '$..[?(@.match(@.pattern))]',
  '$..[?(new Function("x"))]',
  `$..[?(${'('.repeat(200)}@${')'.repeat(200)})]`,
  `$${'.a'.repeat(2000)}`,
  'info',
  '$.a[?(@.b]',
])('%s is refused', (expression) => {
  expect(() => parsePath(expression)).toThrow(SyntaxError);
});

test('functions that stand uncalled are true, and nothing of the program is reached through them', () => {
  const expressions = ['@["constructor"]', '@.toString', '@.constructor.name == "Object"'];
  const through = ['@["constructor"]["constructor"]', '@.toString.prototype', '@["__proto__"]["__proto__"]'];
  const filters = [...expressions, ...through].map((filter) => `$[?(${filter})]`);
  expect(select({ a: {} }, filters)).toEqual([['/a'], ['/a'], ['/a'], [], [], []]);
});

describe('patterns', () => {
  test.each<[pattern: string, matching: string[], others: string[]]>([
    ['^[a-z]+$', ['abc'], ['aBc']],
    ['/^[a-z]+$/i', ['aBc'], ['a1']],
    ['/^[A-Z]\\w+\\/$/u', ['Ab/'], ['ab/']],
    [String.raw`^(?!.*\b(SNAPSHOT)\b)\d+\.\d+`, ['1.2', '1.2-RC'], ['1.2 SNAPSHOT', 'a']],
    ['^(?!integer|number)', ['string'], ['integer', 'number']],
    ['^((?!_hooks).)*$', ['/a', ''], ['/a/_hooks']],
    [String.raw`(?!https?://localhost)(https?://.*):(\d*)\/?(.*)`, ['see http://a:1/'], ['http://localhost:80']],
    ['(?=a)(?!ab)a.', ['ac', 'abac'], ['ab']],
    ['\\{\\}', ['/{}'], ['/{a}']],
  ])('%s', (pattern, matching, others) => {
    const { matches } = compilePattern(pattern);
    expect(matching.filter((text) => !matches(text))).toEqual([]);
    expect(others.filter((text) => matches(text))).toEqual([]);
    const [, source = pattern, flags = ''] = /^\/(.+)\/([a-z]*)$/.exec(pattern) ?? [];
    const native = RegExp(source, flags);
    expect([...matching, ...others].filter((text) => native.test(text))).toEqual(matching);
  });

  test.each(['(', '(a)\\1', 'a(?=b)', '(?<=a)b', `(${'a'.repeat(3000)})`])('%s is refused', (pattern) => {
    expect(() => compilePattern(pattern)).toThrow(SyntaxError);
  });

  test('no pattern takes more than linear time', () => {
    expect(compilePattern('^(a+)+$').matches(`${'a'.repeat(50_000)}b`)).toBe(false);
  });
});

test("nimma's parser imports nothing that generates or runs code", () => {
  const folder = new URL('.', import.meta.resolve('nimma/parser'));
  const files = readdirSync(folder).filter((name) => name.endsWith('.mjs'));
  const imported = files.flatMap((name) =>
    [...readFileSync(new URL(name, folder), 'utf8').matchAll(/\bfrom '([^']+)'|\bimport\(([^)]+)\)/g)].map(
      ([, from, dynamic]) => from ?? dynamic,
    ),
  );
  expect(imported.filter((name) => !/^\.\/[a-z]+\.mjs$/.test(name ?? ''))).toEqual([]);
});
