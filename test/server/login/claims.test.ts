import { describe, expect, test } from 'vitest';
import { isAllowed, partOf } from '../../../src/model/access.ts';
import { checkConfig } from '../../../src/config/load-config.ts';
import type { LoginConfig } from '../../../src/config/login-config.ts';
import { readJob } from '../../../src/server/login/token.ts';
import { rightsOf } from '../../../src/registry/keys/people.ts';
import { createTestRegistry } from '../registry.ts';
import { readGroups } from '../../../src/server/login/provider.ts';

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

const organizationsOf = (login: LoginConfig, groups: string[]) => {
  const { refs, config } = createTestRegistry();
  return rightsOf({ refs, config: { ...config, login } }, { actor: 'user:https://id.test#ada', groups });
};

describe('organizations', () => {
  const login = loginOf({
    staff: [{ organization: 'acme', scopes: ['publish', 'read'] }],
    ops: [
      { organization: 'acme', scopes: ['admin'] },
      { organization: 'globex', scopes: ['read'] },
    ],
    '*': [{ organization: 'commons', scopes: ['read'] }],
  });

  test('are those of all groups together, and everybody has what * has', async () => {
    const whole = (...scopes: string[]) => ({ scopes, resources: null });
    expect(await organizationsOf(login, [])).toEqual({ commons: [whole('read')] });
    expect(await organizationsOf(login, ['staff', 'ops'])).toEqual({
      acme: [whole('publish', 'read'), whole('admin')],
      globex: [whole('read')],
      commons: [whole('read')],
    });
  });

  test('are narrowed to some resources as keys are, and the globs of one group widen no other', async () => {
    const teams = loginOf({
      payments: [{ organization: 'acme', scopes: ['publish'], resources: ['apis/pay-*', 'sites/pay'] }],
      everyone: [{ organization: 'acme', scopes: ['read'] }],
    });
    const organizations = await organizationsOf(teams, ['payments', 'everyone']);
    const principal = { kind: 'user', id: 'u', organizations } as const;
    const pay = { org: 'acme', resource: { type: 'apis', slug: 'pay-in' } } as const;
    const other = { org: 'acme', resource: { type: 'apis', slug: 'ledger' } } as const;
    expect(isAllowed(principal, 'publish', pay)).toBe(true);
    expect(isAllowed(principal, 'publish', other)).toBe(false);
    expect(isAllowed(principal, 'publish', { org: 'acme' })).toBe(false);
    expect(isAllowed(principal, 'admin', pay)).toBe(false);
    expect(isAllowed(principal, 'publish', { org: 'acme', resource: { type: 'sites', slug: 'pay' } })).toBe(true);
    expect(partOf(principal, 'acme', 'publish')).toEqual(['apis/pay-*', 'sites/pay']);
    expect(() => loginOf({ a: [{ organization: 'acme', scopes: ['read'], resources: ['pay-*'] }] })).toThrow(
      'resources',
    );
  });

  test('are not given for groups that nobody configured', async () => {
    expect(Object.keys(await organizationsOf(login, ['other', '*', 'toString', '__proto__']))).toEqual(['commons']);
  });

  test('cannot be the prototype of anything', async () => {
    expect(() => loginOf({ staff: [{ organization: '__proto__', scopes: ['admin'] }] })).toThrow(
      /staff\.0\.organization/,
    );
    // Rights are a table without a prototype.
    const granted = await organizationsOf(loginOf({ staff: [{ organization: 'acme', scopes: ['admin'] }] }), ['staff']);
    expect(Object.getPrototypeOf(granted)).toBe(null);
  });
});

describe('a job of a host', () => {
  const common = { iss: 'https://ci.test', sub: 's', jti: 'j', aud: 'a', exp: 1 };
  const gitHub = { ...common, repository: 'acme/apis', ref: 'refs/heads/main' };
  const gitLab = { ...common, project_path: 'acme/apis', ref: 'main', ref_type: 'branch' };

  test.each([
    [{ ...gitHub, ref_type: 'branch' }, 'refs/heads/main'],
    [gitHub, 'refs/heads/main'],
    [{ ...gitHub, ref_type: 'tag' }, null],
    [{ ...gitHub, ref: 'main' }, null],
    [gitLab, 'refs/heads/main'],
    [{ ...gitLab, ref_path: 'refs/heads/main' }, 'refs/heads/main'],
    [{ ...gitLab, ref_path: 'refs/merge-requests/7/head' }, null],
  ])('%j has the ref %s', (claims, ref) => {
    expect(readJob(claims)!.ref).toBe(ref);
  });

  test('has the claims of one host, and none that is longer than 1024 characters', () => {
    expect(readJob({ ...gitHub, project_path: 'acme/apis' })).toBeNull();
    expect(readJob({ ...gitHub, sub: 'x'.repeat(1024) })).not.toBeNull();
    expect(readJob({ ...gitHub, sub: 'x'.repeat(1025) })).toBeNull();
  });
});
