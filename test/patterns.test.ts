import { readdirSync, readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { readDescription } from '../src/server/v1/api-description.ts';
import { isPortable } from './portable-pattern.ts';

/** What Stele publishes about itself: the management API's description, and the schemas of its configuration, of stele.yaml and of rulesets. */
const schemas = new URL('../content/schemas/', import.meta.url);
const published: [string, unknown][] = [
  ['management.yaml', readDescription().document],
  ...readdirSync(schemas).map((name): [string, unknown] => [
    name,
    JSON.parse(readFileSync(new URL(name, schemas), 'utf8')),
  ]),
];

/** Every regular expression in a schema, with where it stands. */
function patternsIn(node: unknown, at: string): [string, string][] {
  if (typeof node !== 'object' || node === null) return [];
  return Object.entries(node).flatMap(([key, value]): [string, string][] => {
    const own: [string, string][] = key === 'pattern' && typeof value === 'string' ? [[`${at}/${key}`, value]] : [];
    const names = key === 'patternProperties' ? Object.keys(value as object) : [];
    return [
      ...own,
      ...names.map((name): [string, string] => [`${at}/${key}`, name]),
      ...patternsIn(value, `${at}/${key}`),
    ];
  });
}

test.for(published)('the patterns of %s work in JavaScript, Python, Go and Java', ([name, schema]) => {
  const patterns = patternsIn(schema, name);
  for (const [, pattern] of patterns) expect(() => new RegExp(pattern, 'u')).not.toThrow();
  expect(patterns.filter(([, pattern]) => !isPortable(pattern))).toEqual([]);
});

test.for(readdirSync(schemas))('%s is a valid schema, so Stele need not check it when it starts', (name) => {
  const schema = JSON.parse(readFileSync(new URL(name, schemas), 'utf8')) as object;
  expect(new Ajv2020({ strict: false }).validateSchema(schema)).toBe(true);
});

test('there are patterns to look at', () => {
  const count = published.map(([name, schema]) => patternsIn(schema, name).length);
  expect(count.reduce((sum, each) => sum + each)).toBeGreaterThan(30);
});

test.each([
  '^a$',
  '^[a-z0-9]+(?:-[a-z0-9]+)*$',
  '^(?:@[^/]{1,63}/)?(?:a|b)$',
  String.raw`^[\x21-\x7e]*$`,
  String.raw`^[\]^~:-]\.$`,
])('portable: %s', (pattern) => expect(isPortable(pattern)).toBe(true));

test.each([
  '(?!a)',
  '(?=a)',
  '(?<=a)b',
  '(?<name>a)',
  '(a)',
  String.raw`(?:a)\1`,
  String.raw`[^\p{Cc}]`,
  String.raw`\u0041`,
  String.raw`\d`,
  String.raw`[\w-]`,
  String.raw`\bword`,
  'a.b',
  'a+?',
  'a++',
  '(?:a)*+',
  'a{1001}',
  '[a-z&&[b]]',
  '[a[b]',
  '[a--b]',
  '(?:a',
  'a)',
])('not portable: %s', (pattern) => expect(isPortable(pattern)).toBe(false));
