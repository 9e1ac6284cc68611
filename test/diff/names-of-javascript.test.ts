import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { renderDocument } from '../../src/render/render.ts';
import { published } from '../render/published.ts';
import { timesAsMany } from '../sample.ts';
import { anyKeywords } from './any-keywords.ts';
import { compare, taking, told as codesOf, type Json } from './given.ts';
import { written } from './schema-oracle.ts';

/** Members that every object of JavaScript has. */
const names = ['constructor', 'toString', 'valueOf', 'hasOwnProperty', '__proto__'];

/** Documents of both kinds that say the name wherever a table may be asked for it. */
function documentsWith(name: string, type = 'string') {
  const parameters = [{ name: 'a', in: name, style: name, type, collectionFormat: name, format: name, schema: { type, format: name } }];
  const responses = { 200: { description: 'D', headers: { A: { type, collectionFormat: name } }, content: { [name]: { schema: { type, format: name, contentEncoding: name } } } } };
  const flow = { type: 'oauth2', flow: name, scopes: { a: 'b' }, tokenUrl: 'https://a.example' };
  const paths = { '/a': { get: { parameters, responses } } };
  return [
    { swagger: '2.0', info: { title: 'a', version: '1' }, schemes: [name], host: 'a.example:80', securityDefinitions: { a: flow }, paths },
    { openapi: '3.1.0', info: { title: `<${name}>a</${name}>&${name};`, version: '1', description: `<${name}>b</${name}> &${name}; {${name}}` }, servers: [{ url: `${name}://{${name}}:80/{a}`, variables: { a: { default: name } } }], paths },
  ];
} // prettier-ignore

test.each(names)('a document may say %s wherever a table is asked', (name) => {
  const [before, after, other] = [documentsWith(name), documentsWith(name, 'integer'), documentsWith('plain')];
  for (const [at, document] of before.entries()) {
    const told = [compare(document, after[at]!), compare(document, other[at]!), compare(other[at]!, document)];
    expect(JSON.stringify(told)).not.toMatch(/native code|\[object/);
    expect(told[0]!.changes.length).toBeGreaterThan(0);
    const { html, markdown } = renderDocument(published(document))!;
    expect(html + markdown).not.toMatch(/native code|\[object Object\]/);
  }
});

test('tables of the comparison and of pages are asked by names of their own', () => {
  const found: string[] = [];
  for (const folder of ['diff', 'render'])
    for (const file of readdirSync(new URL(`../../src/${folder}/`, import.meta.url), { recursive: true }) as string[]) {
      if (!file.endsWith('.ts')) continue;
      const text = readFileSync(new URL(`../../src/${folder}/${file}`, import.meta.url), 'utf8');
      for (const [, table] of text.matchAll(/\bconst (\w+): Readonly<Record<string,[^=\n]*>> =/g))
        for (const [asked] of text.matchAll(new RegExp(`(?<![\\w.'])${table}\\[(?!['"\\d])[^\\]]+\\]`, 'g')))
          found.push(`${folder}/${file}: ${asked}`);
    }
  // A single character is no name of JavaScript.
  expect(found.filter((each) => !each.includes('classes['))).toEqual([]);
});

test('properties with names of JavaScript are compared as those with others', () => {
  const others = ['__proto__', 'constructor', 'hasOwnProperty'];
  const renamed = (document: Json) =>
    JSON.parse(JSON.stringify(document).replaceAll(/"([abc])"/g, (_, name) => `"${others['abc'.indexOf(name)]}"`)) as Json;
  fc.assert(
    fc.property(anyKeywords(), ({ before, after }) => {
      const [old, current] = [before, after].map(({ root, defs }) => {
        const schemas = Object.fromEntries(Object.entries(defs).map(([name, one]) => [name, written(one, '3.1')]));
        return taking(written(root, '3.1'), { components: { schemas } });
      }) as [Json, Json];
      // Those ask for letters.
      fc.pre(!/patternProperties|propertyNames/.test(JSON.stringify([old, current])));
      expect(codesOf(compare(renamed(old), renamed(current)))).toEqual(codesOf(compare(old, current)));
    }),
    { numRuns: 25 * timesAsMany },
  );
}); // prettier-ignore
