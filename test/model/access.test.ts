import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  anonymous,
  formatPrincipal,
  isAllowed,
  mayHandOn,
  isResourceGlob,
  scopes,
  type Principal,
  type Scope,
  type Target,
} from '../../src/model/access.ts';
import { resourceTypes } from '../../src/model/address.ts';
import { slugs } from './arbitraries.ts';
import { timesAsMany } from '../sample.ts';

function keyOf(org: string, granted: Scope[], resources: string[] | null = null): Principal {
  return { kind: 'key', id: 'k1', org, scopes: granted, resources };
}

const whole = (scope: Scope) => ({ scopes: [scope], resources: null });

const principals: Record<string, Principal> = {
  anonymous,
  operator: { kind: 'operator', id: 'cli' },
  reader: keyOf('acme', ['read']),
  publisher: keyOf('acme', ['publish']),
  keeper: keyOf('acme', ['keys']),
  admin: keyOf('acme', ['admin']),
  powerless: keyOf('acme', []),
  styler: keyOf('acme', ['publish'], ['rulesets/st*']),
  narrowed: keyOf('acme', ['admin'], ['apis/pay-*', 'schemas/*']),
  shut: keyOf('acme', ['admin'], []),
  stranger: keyOf('other', ['admin']),
  user: { kind: 'user', id: 'issuer|u1', organizations: { acme: [whole('publish')], other: [whole('admin')] } },
  nobody: { kind: 'user', id: 'issuer|u2', organizations: {} },
};

const targets: Record<string, Target> = {
  'acme itself': { org: 'acme' },
  'its public apis/pay-in': { org: 'acme', resource: { type: 'apis', slug: 'pay-in', visibility: 'public' } },
  'its private apis/pay-in': { org: 'acme', resource: { type: 'apis', slug: 'pay-in', visibility: 'private' } },
  'its private apis/hr': { org: 'acme', resource: { type: 'apis', slug: 'hr', visibility: 'private' } },
  'its new schemas/hr': { org: 'acme', resource: { type: 'schemas', slug: 'hr' } },
  'its private rulesets/style': { org: 'acme', resource: { type: 'rulesets', slug: 'style', visibility: 'private' } },
};

const letters = { read: 'r', publish: 'p', approve: 'o', keys: 'k', admin: 'a' };

/** Who may do what: r, p, o, k and a for read, publish, approve, keys and admin, `-` where not. One column a target, in the order above. */
const table: Record<string, string[]> = {
  anonymous: ['-----', 'r----', '-----', '-----', '-----', '-----'],
  operator: ['rpoka', 'rpoka', 'rpoka', 'rpoka', 'rpoka', 'rpoka'],
  reader: ['r----', 'r----', 'r----', 'r----', 'r----', 'r----'],
  publisher: ['rp---', 'rp---', 'rp---', 'rp---', 'rp---', 'r----'],
  keeper: ['rpok-', 'rpok-', 'rpok-', 'rpok-', 'rpok-', 'r-ok-'],
  admin: ['rpoka', 'rpoka', 'rpoka', 'rpoka', 'rpoka', 'rpoka'],
  powerless: ['-----', 'r----', '-----', '-----', '-----', '-----'],
  styler: ['-----', 'r----', '-----', '-----', '-----', 'rp---'],
  narrowed: ['-----', 'rpoka', 'rpoka', '-----', 'rpoka', '-----'],
  shut: ['-----', 'r----', '-----', '-----', '-----', '-----'],
  stranger: ['-----', 'r----', '-----', '-----', '-----', '-----'],
  user: ['rp---', 'rp---', 'rp---', 'rp---', 'rp---', 'r----'],
  nobody: ['-----', 'r----', '-----', '-----', '-----', '-----'],
};

describe('the policy', () => {
  test('is this table', () => {
    const actual = Object.fromEntries(
      Object.entries(principals).map(([name, principal]) => [
        name,
        Object.values(targets).map((target) =>
          scopes.map((scope) => (isAllowed(principal, scope, target) ? letters[scope] : '-')).join(''),
        ),
      ]),
    );
    expect(actual).toEqual(table);
  });

  test('who has keys hands on no more than that, and nothing that reaches rulesets', () => {
    const may = (given: Scope[], resources: string[] | null = null, who = principals['keeper']!) =>
      mayHandOn(who, 'acme', { scopes: given, resources });
    expect([may(['publish']), may(['keys']), may(['publish'], ['apis/*']), may(['read'], ['*/*'])]).not.toContain(
      false,
    );
    expect([may(['admin']), may(['publish'], ['*/style']), may(['publish', 'read'], ['rulesets/x'])]).not.toContain(
      true,
    );
    expect(may(['admin'], ['rulesets/x'], principals['admin'])).toBe(true);
    expect(may(['read'], null, principals['narrowed'])).toBe(false);
    expect(may(['read'], null, principals['stranger'])).toBe(false);
  });

  test('names that JavaScript knows grant nothing', () => {
    const user: Principal = { kind: 'user', id: 'u', organizations: {} };
    for (const org of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
      for (const scope of scopes) expect(isAllowed(user, scope, { org })).toBe(false);
    }
  });

  test('a scope includes the ones before it, for every principal and target', () => {
    const principal = fc.oneof(
      fc.constantFrom(...Object.values(principals)),
      fc.record({
        kind: fc.constant('key' as const),
        id: fc.constant('k'),
        org: fc.constantFrom('acme', 'other'),
        scopes: fc.subarray([...scopes]),
        resources: fc.option(fc.array(fc.constantFrom('apis/*', '*/pay-*', 'schemas/hr', '*/*'))),
      }),
    );
    fc.assert(
      fc.property(principal, fc.constantFrom(...Object.values(targets)), (who, target) => {
        const [read, publish, , , admin] = scopes.map((scope) => isAllowed(who, scope, target));
        expect([admin && !publish, publish && !read]).toEqual([false, false]);
      }),
    );
  });

  test('making a resource public takes no right away and gives only read', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...Object.values(principals)),
        fc.constantFrom(...scopes),
        slugs,
        (who, scope, slug) => {
          const [open, closed] = (['public', 'private'] as const).map((visibility) =>
            isAllowed(who, scope, { org: 'acme', resource: { type: 'apis', slug, visibility } }),
          );
          expect(open).toBe(scope === 'read' ? true : closed);
        },
      ),
    );
  });
});

describe('resource globs', () => {
  function matches(glob: string, type: (typeof resourceTypes)[number], slug: string): boolean {
    return isAllowed(keyOf('acme', ['read'], [glob]), 'read', {
      org: 'acme',
      resource: { type, slug, visibility: 'private' },
    });
  }

  test.each([
    ['apis/pay', 'pay', true],
    ['apis/pay', 'pay-in', false],
    ['apis/pay-*', 'pay-in', true],
    ['apis/pay-*', 'pay-', true],
    ['apis/pay-*', 'pay', false],
    ['apis/*-in', 'pay-in', true],
    ['apis/*', 'anything', true],
    ['*/*', 'anything', true],
    ['schemas/*', 'anything', false],
    ['apis/a*a', 'a', false],
    ['apis/a*a', 'aa', true],
    ['apis/a*b*c', 'a-b-b-c', true],
    ['apis/a*b*c', 'a-c-b', false],
    ['apis/**', 'x', true],
    ['apis/*ab*ab*', 'abab', true],
    ['apis/*ab*ab*', 'abb', false],
  ])('%s takes in apis/%s: %s', (glob, slug, expected) => {
    expect(isResourceGlob(glob)).toBe(true);
    expect(matches(glob, 'apis', slug)).toBe(expected);
  });

  test('mean what the regular expression with .* for each star means', () => {
    const glob = fc.stringMatching(/^(?:apis|schemas|\*)\/[ab*-]{1,8}$/);
    const slug = fc.stringMatching(/^[ab-]{1,10}$/);
    fc.assert(
      fc.property(glob, fc.constantFrom(...resourceTypes), slug, (text, type, name) => {
        const expected = new RegExp(`^${text.replace('*/', '[a-z]+/').replace(/\*/g, '.*')}$`).test(`${type}/${name}`);
        expect(matches(text, type, name)).toBe(expected);
      }),
      { numRuns: 500 * timesAsMany },
    );
  });

  test('a glob of many stars comes to its end', () => {
    const glob = `apis/${'*a'.repeat(20_000)}`;
    expect(matches(glob, 'apis', 'a'.repeat(20_000))).toBe(true);
    expect(matches(glob, 'apis', `${'a'.repeat(39_999)}b`)).toBe(false);
  });

  test.each([
    '',
    '*',
    'apis',
    'apis/',
    '/x',
    'apis/x/y',
    'pages/x',
    'apis/X',
    'apis/x.y',
    'apis/[a]',
    'apis/../x',
    'apis/x\n',
    `apis/${'a'.repeat(64)}`,
  ])('%j is none', (text) => expect(isResourceGlob(text)).toBe(false));
});

test('a principal is written down by its kind and id', () => {
  expect(Object.values(principals).map(formatPrincipal).slice(0, 3)).toEqual(['anonymous', 'operator:cli', 'key:k1']);
  expect(formatPrincipal(principals.user!)).toBe('user:issuer|u1');
});
