import { describe, expect, test } from 'vitest';
import { checkConfig, type LoginConfig } from '../../../src/config.ts';
import { knownGroups, organizationsOf, readGroups } from '../../../src/server/login/claims.ts';

function loginOf(organizations: NonNullable<LoginConfig['organizations']>): LoginConfig {
  const secret = { env: 'SECRET' };
  const login = {
    issuer: 'https://id.test',
    clientId: 'x',
    clientSecret: secret,
    sessionSecret: secret,
    organizations,
  };
  return checkConfig({ login }, { base: '/', data: '/' }).login!;
}

describe('the claim', () => {
  test.each([
    [{ groups: ['a', 'b', 'a'] }, ['a', 'b']],
    [{ groups: 'a' }, ['a']],
    [{ groups: [] }, []],
    [{ groups: ['a', 1, null, { b: 1 }] }, ['a']],
    [{ groups: { a: true } }, []],
    [{ groups: null }, []],
    [{}, null],
  ])('%j gives %j', (claims, groups) => {
    expect(readGroups(claims, 'groups')).toEqual(groups);
  });

  test('is not looked for among what every object has', () => {
    expect(readGroups({}, 'constructor')).toBeNull();
    expect(readGroups({}, '__proto__')).toBeNull();
  });
});

describe('organizations', () => {
  const login = loginOf({
    staff: [{ organization: 'acme', scopes: ['publish', 'read'] }],
    ops: [
      { organization: 'acme', scopes: ['admin'] },
      { organization: 'globex', scopes: ['read'] },
    ],
    '*': [{ organization: 'commons', scopes: ['read'] }],
  });

  test('are those of all groups together, and everybody has what * has', () => {
    expect(organizationsOf(login, [])).toEqual({ commons: ['read'] });
    expect(organizationsOf(login, ['staff', 'ops'])).toEqual({
      acme: ['read', 'publish', 'admin'],
      globex: ['read'],
      commons: ['read'],
    });
  });

  test('are not given for groups that nobody configured', () => {
    expect(organizationsOf(login, ['other', 'toString', '__proto__'])).toEqual({ commons: ['read'] });
    expect(knownGroups(login, ['other', 'staff', '*', 'toString', '__proto__'])).toEqual(['staff']);
  });

  test('cannot be the prototype of anything', () => {
    const granted = organizationsOf(loginOf({ staff: [{ organization: '__proto__', scopes: ['admin'] }] }), ['staff']);
    expect(Object.hasOwn(granted, 'acme')).toBe(false);
    expect(Object.getPrototypeOf(granted)).toBe(Object.prototype);
  });
});
