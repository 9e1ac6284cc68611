import { expect, test } from 'vitest';
import schema from '../content/schemas/config.json' with { type: 'json' };
import { checkConfig } from '../src/config/load-config.ts';
import { hostKinds } from '../src/hosts/host.ts';

test('without a configuration the defaults are those of an empty one that was checked', () => {
  const place = { base: '/', data: '/data' };
  // A key makes ajv check it; `log` has only a default.
  expect(checkConfig({}, place)).toEqual(checkConfig({ log: {} }, place));
});

test('of a value with alternatives, the error is about the one that is meant', () => {
  const credentials = { app: { githubApp: { appId: 1, privateKeyFile: 'a.pem' }, host: 'git.test' }, token: { env: 'A', usrname: 'a' } }; // prettier-ignore
  expect(() => checkConfig({ credentials }, { base: '/', data: '/data' })).toThrow(
    'The configuration is invalid: credentials.app.host is not expected here. credentials.token.usrname is not expected here. Did you mean "username"?',
  );
});

test('key files are relative to the configuration', () => {
  const credentials = { app: { githubApp: { appId: 1, privateKeyFile: 'a.pem' } }, ssh: { sshKeyFile: 'keys/a' } };
  expect(checkConfig({ credentials }, { base: '/etc/stele', data: '/data' }).credentials).toEqual({
    app: { githubApp: { appId: 1, privateKeyFile: '/etc/stele/a.pem' } },
    ssh: { sshKeyFile: '/etc/stele/keys/a' },
  });
});

test('a folder is known by its absolute path, however it is written', () => {
  const urls = ['apis', '/srv/apis/', 'file:///srv/apis', 'FILE:///srv/my%20apis', 'https://git.test/apis'];
  const repositories = urls.map((url) => ({ url }));
  const { organizations } = checkConfig({ organizations: { acme: { repositories } } }, { base: '/srv', data: '/data' });
  const known = ['/srv/apis', '/srv/apis', '/srv/apis', '/srv/my apis', 'https://git.test/apis'];
  expect(organizations['acme']!.repositories.map(({ url }) => url)).toEqual(known);
});

test('a value of the wrong form is told with an example, not with a regular expression', () => {
  const fault = (config: unknown) => {
    try {
      checkConfig(config, { base: '/', data: '/data' });
      return '';
    } catch (error) {
      return String(error);
    }
  };
  expect(fault({ url: 'contracts.example.com' })).toContain(
    'url must be written like "https://contracts.example.com".',
  );
  expect(fault({ organizations: { 'Acme Inc': {} } })).toMatch(
    /: organizations\.Acme Inc is not a possible name: it must be written like "acme-payments"\.$/,
  );
  expect(fault({ organizations: { ['a'.repeat(64)]: {} } })).toMatch(
    /is not a possible name: it must have at most 63 characters\.$/,
  );
  const patterns = JSON.stringify(schema).match(/"pattern":"(?:\\.|[^"\\])*","examples":\["/g)!.length;
  expect(patterns).toBe(JSON.stringify(schema).split('"pattern":').length - 1);
});

test('people and jobs are let only into organizations that are there', () => {
  const check = (given: object) => () => checkConfig(given, { base: '/', data: '/data' });
  const job = { issuer: 'https://id.example.com', organization: 'acmee', repository: 'acme/pay' };
  const login = {
    issuer: 'https://id.example.com',
    clientId: 'stele',
    clientSecret: { env: 'A' },
    sessionSecret: { env: 'B' },
    organizations: { developers: [{ organization: 'partner', scopes: ['read'] }] },
  };
  const organizations = { acme: {} };
  expect(check({ organizations, trustedPublishing: [job] })).toThrow(
    'trustedPublishing.0.organization: "acmee" is not one of `organizations`. Did you mean "acme"?',
  );
  expect(check({ organizations, login })).toThrow(
    'login.organizations.developers.0.organization: "partner" is not one of `organizations`.',
  );
  // Without any, organizations are those that are in the store.
  expect(check({ login, trustedPublishing: [job] })).not.toThrow();
});

test('the schema of the configuration knows every kind of git host', () => {
  const { host, repository } = schema.$defs;
  expect(host.properties.kind.enum).toEqual([...hostKinds]);
  expect(Object.keys(repository.properties)).toEqual(expect.arrayContaining([...hostKinds]));
});
