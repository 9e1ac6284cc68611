import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createPathGlob, fillTemplate, highestPlaceholder, pathGlobProblem, starsIn } from '../../src/model/glob.ts';
import { timesAsMany } from '../sample.ts';

describe('a pattern of paths', () => {
  test.each([
    ['services/*/openapi.yaml', 'services/pay/openapi.yaml', ['pay']],
    ['services/*/openapi.yaml', 'services/pay/v2/openapi.yaml', null],
    ['services/*/openapi.yaml', 'services/openapi.yaml', null],
    ['services/*/openapi.yaml', 'other/services/pay/openapi.yaml', null],
    ['**/openapi.yaml', 'openapi.yaml', ['']],
    ['**/openapi.yaml', 'a/b/openapi.yaml', ['a/b']],
    ['**/openapi.yaml', 'a/b/my-openapi.yaml', null],
    ['apis/**/*.yaml', 'apis/pay.yaml', ['', 'pay']],
    ['apis/**/*.yaml', 'apis/a/b/pay.yaml', ['a/b', 'pay']],
    ['apis/**/v*/*.yaml', 'apis/a/v2/pay.yaml', ['a', '2', 'pay']],
    ['apis/**', 'apis/a/b.yaml', ['a/b.yaml']],
    // Found with seed 1237975755: `**` at the end is what is inside a folder, not the folder itself.
    ['b./**', 'b.', null],
    ['b./**', 'b./a', ['a']],
    ['*/**', 'a', null],
    ['*/**', 'a/b', ['a', 'b']],
    ['**', 'a', ['a']],
    ['b./**/*', 'b.', null],
    ['a/**/b/c', 'a/c', null],
    ['*-*.yaml', 'a-b-c.yaml', ['a', 'b-c']],
    ['*.*.yaml', 'a.yaml', null],
    ['a*a', 'a', null],
    ['*/.well-known/*.json', 'x/.well-known/openapi.json', ['x', 'openapi']],
    ['a[b]?.yaml*', 'a[b]?.yaml', ['']],
    ['A*', 'a', null],
  ])('%s of %s takes %j', (pattern, path, taken) => {
    expect(pathGlobProblem(pattern)).toBeNull();
    expect(createPathGlob(pattern)(path)).toEqual(taken);
  });

  test.each([
    ['a/../*', 'has a ".." beside a "*"'],
    ['a/**b', 'has a "**" that does not stand alone between slashes'],
    ['a/***', 'has a "**" that does not stand alone between slashes'],
    ['**/a/**', 'has more than one "**"'],
    ['*a*a*a*a*a*a*a*a*a*', 'has more than 9 stars'],
  ])('%s is none: it %s', (pattern, why) => {
    expect(pathGlobProblem(pattern)).toBe(why);
  });

  test('what the stars took, put back, is the path', () => {
    const name = fc.string({ unit: fc.constantFrom('a', 'b', '.', '-', '*'), minLength: 1, maxLength: 6 });
    const part = fc.oneof(name, fc.constant('**'));
    const paths = fc.array(fc.stringMatching(/^[ab.-]{1,6}$/), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 5 }), paths, (parts, names) => {
        const pattern = parts.join('/');
        fc.pre(pathGlobProblem(pattern) === null);
        const path = names.join('/');
        const taken = createPathGlob(pattern)(path);
        expect(taken !== null).toBe(bySlowRules(pattern.split('/'), names));
        if (taken === null) return;
        expect(taken).toHaveLength(starsIn(pattern));
        let at = 0;
        const filled = pattern.split('/').flatMap((segment) => {
          const text = segment.replace(/\*+/g, () => taken[at++]!);
          return segment === '**' && text === '' ? [] : [text];
        });
        expect(filled.join('/')).toBe(path);
      }),
      { numRuns: 500 * timesAsMany },
    );
  });

  test('a hostile pattern over hostile paths is nothing but work in proportion', () => {
    const match = createPathGlob(`${'a/'.repeat(200)}**/${'*a'.repeat(8)}b`);
    const path = `${'a/'.repeat(1000)}${'a'.repeat(2000)}c`;
    for (let n = 0; n < 2000; n++) expect(match(path)).toBeNull();
  });
});

test('a template is filled with what the stars took, once', () => {
  expect(fillTemplate('{1}-{2}{3}', ['{2}', '$&'])).toBe('{2}-$&');
  expect(highestPlaceholder('{1}-{3}{x}{0}')).toBe(3);
  expect(highestPlaceholder('none')).toBe(0);
});

/** What a pattern means, tried in every way. */
function bySlowRules(pattern: readonly string[], names: readonly string[]): boolean {
  const [first, ...rest] = pattern;
  if (first === undefined) return names.length === 0;
  if (first === '**' && rest.length === 0) return names.length > 0;
  if (first === '**') return [...names, null].some((_, taken) => bySlowRules(rest, names.slice(taken)));
  const [name, ...others] = names;
  if (name === undefined) return false;
  const escaped = first.replace(/[.-]/g, '\\$&').replaceAll('*', '.*');
  return new RegExp(`^${escaped}$`).test(name) && bySlowRules(rest, others);
}
