import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkConfig } from '../../../src/config/load-config.ts';
import { isSlug, parseAddress, parseCoordinate, slugFrom } from '../../../src/model/address.ts';
import { isLabel, labelFromVersion } from '../../../src/model/label.ts';
import { createOrganization } from '../../../src/registry/keys/change-rights.ts';
import { runHere } from '../../cli/in-process.ts';
import { badNames, ofJavaScript } from '../../bad-values.ts';
import { createTestRegistry } from '../registry.ts';
import { documentOf, openApi, unlimited, type Api } from './api.ts';

/** Every place that takes a name is tried with bad ones. */

let api: Api;
beforeAll(async () => {
  api = await openApi(createTestRegistry({ ...unlimited, organizations: { acme: {} }, quotas: { keys: 10_000 } }));
  await api.call('POST', '/v1/apis', { body: { name: 'Pay', slug: 'pay' } });
});
afterAll(() => api[Symbol.asyncDispose]());

test.each([...ofJavaScript, 'CONSTRUCTOR', 'Constructor'])('%s is no slug, label or organization', (name) => {
  expect([isSlug(name), isLabel(name)]).toEqual([false, false]);
  expect(parseAddress(`/@${name}`)).toBeNull();
  expect(parseAddress(`/@acme/apis/${name}`)).toBeNull();
  expect(parseCoordinate(`@acme/apis/pay@${name}`)).toBeNull();
  // A document that is called so gets another name.
  for (const made of [slugFrom(name), labelFromVersion(name)]) expect(made).toMatch(/^[a-z0-9].*[a-z0-9]$/i);
  expect(isSlug(slugFrom(name)!) && isLabel(labelFromVersion(name)!)).toBe(true);
});

test.each([...ofJavaScript, 'stele', 'local', 'new', '', 'a--b', '-a', 'ünï', 'a'.repeat(64)])(
  'nobody creates the organization %j',
  async (name) => {
    const author = { actor: 'user:x', origin: null };
    await expect(createOrganization(api.registry, name, null, author)).rejects.toMatchObject({ code: 'malformed' });
  },
);

test.each(ofJavaScript)('%s is no name in the configuration', (name) => {
  const named = (value: unknown) => JSON.parse(`{${JSON.stringify(name)}:${JSON.stringify(value)}}`) as object;
  const secret = { env: 'PATH' };
  const login = { issuer: 'https://id.test', clientId: 'x', clientSecret: secret, sessionSecret: secret };
  const configurations: object[] = [
    { organizations: named({}) },
    { organizations: { acme: { teams: named({ owners: ['@a'] }) } } },
    { hosts: named({ kind: 'gitlab', url: 'https://git.test', webhookSecret: secret }) },
    { credentials: named({ host: 'git.test', username: 'x', password: secret }) },
    { sites: { hosts: named('@acme/sites/x') } },
    { login: { ...login, organizations: named([{ organization: 'acme', scopes: ['read'] }]) } },
    { login: { ...login, others: named({ issuer: 'https://other.test', clientId: 'x', clientSecret: secret }) } },
  ];
  for (const config of configurations)
    expect(() => checkConfig(config, { base: '/', data: '/' }), JSON.stringify(config)).toThrow(/invalid/);
});

test.each(['constructor', '__proto__', 'toString', 'a--b', 'ünï', ' ', '../x'])('--org %j is refused', async (name) => {
  for (const args of [
    ['keys', 'create', '--name', 'x', '--scope', 'read'],
    ['serve', '--port', '0'],
    ['init'],
    ['discover', '.'],
  ]) {
    const { code } = await runHere([
      ...args,
      '--org',
      name,
      ...(args[0] === 'init' ? [] : ['--data', '/nowhere/there']),
    ]);
    expect(code, args.join(' ')).toBe(2);
  }
});

describe('over /v1', () => {
  /** Each place: a request with the name in it. `isSlug`, `isLabel`: what names it takes. */
  const places: { place: string; takes: (name: string) => boolean; ask(name: string): Parameters<Api['call']> }[] = [
    { place: 'slug of an API', takes: isSlug, ask: (slug) => ['POST', '/v1/apis', { body: { name: 'N', slug } }] },
    { place: 'slug of a site', takes: isSlug, ask: (slug) => ['POST', '/v1/sites', { body: { title: 'N', slug } }] },
    {
      place: 'label',
      takes: isLabel,
      ask: (version) => ['POST', '/v1/apis/pay/spec', { body: { document: documentOf(null, `N ${version}`), version } }],
    },
    { place: 'pinned label', takes: isLabel, ask: (latest) => ['PATCH', '/v1/apis/pay', { body: { latest } }] },
    { place: 'version in a path', takes: isLabel, ask: (name) => ['GET', `/v1/apis/pay/versions/${encodeURIComponent(name)}`] },
    { place: 'API in a path', takes: isSlug, ask: (name) => ['GET', `/v1/apis/${encodeURIComponent(name)}/versions`] },
    { place: 'ruleset', takes: () => false, ask: (name) => ['PATCH', '/v1/apis/pay', { body: { ruleset: `@acme/rulesets/${name}` } }] },
    { place: 'organization of a check', takes: () => false, ask: (name) => ['POST', '/v1/check', { body: { coordinate: `@${name}/apis/pay`, document: documentOf('9.0.0') } }] },
    { place: 'resource of a key', takes: () => false, ask: (name) => ['POST', '/v1/keys', { body: { name: 'k', scopes: ['bad'], resources: [`apis/${name}`] } }] },
    { place: 'name of a key', takes: (name) => /\S/.test(name), ask: (name) => ['POST', '/v1/keys', { body: { name, scopes: ['read'] } }] },
    { place: 'consumer', takes: () => true, ask: (name) => ['PUT', `/v1/consumers/${encodeURIComponent(name)}`, { body: { contracts: [] } }] },
    { place: 'topic', takes: () => true, ask: (name) => ['PATCH', '/v1/apis/pay', { body: { topics: [name] } }] },
    { place: 'rule of the health', takes: () => true, ask: (name) => ['GET', `/v1/organizations/acme/health?rule=${encodeURIComponent(name)}`] },
    { place: 'search', takes: () => true, ask: (name) => ['GET', `/v1/apis?q=${encodeURIComponent(name)}`] },
  ]; // prettier-ignore

  test.each(places)('$place', async ({ takes, ask }) => {
    const wrong: string[] = [];
    for (const name of badNames) {
      const answer = await api.call(...ask(name));
      if (answer.status >= 500 || (answer.status < 300 && !takes(name)))
        wrong.push(`${JSON.stringify(name)}: ${answer.status}`);
    }
    expect(wrong).toEqual([]);
    expect((await api.call('GET', '/v1/apis/pay')).status).toBe(200);
  });
});
