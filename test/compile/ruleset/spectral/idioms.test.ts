import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { binaryOperators, compilers } from '../../../../src/compile/ruleset/spectral/path/filter.ts';
import { parsePath } from '../../../../src/compile/ruleset/spectral/path/json-path.ts';
import { select } from './select.ts';

interface Golden {
  values: Record<string, unknown>;
  /** For each value: `1` selected, `0` not, `x` Spectral fails. */
  filters: Record<string, string>;
  document: unknown;
  paths: Record<string, string[]>;
}

const golden = JSON.parse(readFileSync(new URL('idioms.json', import.meta.url), 'utf8')) as Golden;

/** What Spectral evaluates and Stele refuses, with the reason. */
const refused: Readonly<Record<string, RegExp>> = {
  '@ ? @.x : false': /"\?" inside of a filter is not supported/,
  "@.x?.y == 'get'": /"\?" inside of a filter is not supported/,
  '!@.x?.y': /"\?" inside of a filter is not supported/,
  "@.match(/(g)(e)/)[1] == 'g'": /the result of match is used/,
  '@.x.match(/g/) === true': /the result of match is used/,
  "@.concat('a') == 'geta'": /"concat" is not supported/,
  "@.join(',') == 'get,b'": /"join" is not supported/,
  "@.replace('g','b') == 'bet'": /"replace" is not supported/,
  '@.search(/e/) == 1': /"search" is not supported/,
  'index == 0': /"index" is not known/,
  // A node behind references has several paths, and is visited once.
  "@path == \"$['v']['text']\"": /"@path" is not known/,
};

describe('a filter selects what Spectral selects, or is refused', () => {
  test.each(Object.entries(golden.filters))('%s', (filter, expected) => {
    const expression = `$.v[?(${filter})]`;
    if (Object.hasOwn(refused, filter)) return void expect(() => parsePath(expression)).toThrow(refused[filter]);
    const found = Object.entries(golden.values).map(([name, value]) => {
      const selected = select({ v: { [name]: value } }, [expression])[0]!.length > 0;
      return selected ? '1' : '0';
    });
    // Where Spectral fails, Stele selects nothing and goes on.
    expect(found.join('')).toBe(expected.replaceAll('x', '0'));
  });
});

describe('a path expression selects what Spectral selects', () => {
  test.each(Object.entries(golden.paths))('%s', (expression, expected) => {
    const found = select(golden.document, [expression])[0]!;
    expect(found.map((pointer) => pointer.replace('~/', '/')).sort()).toEqual(expected);
  });
});

test.each([
  '$.v.get,$.v.post',
  '$.v[?()]',
  '$.v[?(@.foo())]',
  '$.v[?(@other())]',
  '$.v[?(@object(1))]',
  '$.v[?(parseInt(@) == 12)]',
  '$.v[?(typeof @ == "string")]',
  '$.v[?(@.x instanceof Object)]',
  '$.v[?(@ && [@.match(/a/)])]',
  '$.v[?(@.match(/a/) + 1)]',
  '$.v[?(@.match(/a/).length > 1)]',
  '$.v[?(@.match(/a/) == @.x)]',
  '$.v[?(@.match(/a/y))]',
  '$.v[?(@.match())]',
  '$.v[?(@.match(/a/, 1))]',
  '$.v[?(@.x == /a/)]',
  '$.v.@@custom(1)',
])('%s is refused: it would never match, or not as Spectral does', (expression) => {
  expect(() => parsePath(expression)).toThrow(SyntaxError);
});

describe("every kind of expression of nimma's parser is evaluated or refused by name", () => {
  const source = (name: string) => readFileSync(new URL(`${name}.mjs`, import.meta.resolve('nimma/parser')), 'utf8');

  test('operators', () => {
    const [, table = ''] = /static binary_ops = \{([^}]*)\}/.exec(source('jsep')) ?? [];
    const theirs = [...table.matchAll(/^\s*'?([^\s':]+)'?:/gm)].map(([, name]) => name!);
    expect(theirs.length).toBeGreaterThan(20);
    expect(Object.keys(binaryOperators).sort()).toEqual(theirs.sort());
  });

  test('expressions', () => {
    const theirs = [...source('jsep').matchAll(/static [A-Z_]+ = '([A-Za-z]+(?:Expression)|Identifier|Literal)'/g)];
    const left = theirs.map(([, name]) => name!).filter((name) => !Object.hasOwn(compilers, name));
    // The parser has the name and never returns one.
    expect(left).toEqual(['ConditionalExpression']);
  });
});
