import { expect, test } from 'vitest';
import { checkConfig } from '../../src/config/load-config.ts';
import { repositoryName, assertNoCredential, hasCredential, withoutCredential } from '../../src/model/connection.ts';
import { parseLocation } from '../../src/source/location.ts';

const secret = 'hunter2-secret';
const withSecret: [given: string, shown: string][] = [
  [`https://me:${secret}@git.test/a/b.git`, 'https://git.test/a/b.git'],
  [`https://${secret}@git.test/a/b.git`, 'https://git.test/a/b.git'],
  [`https://:${secret}@git.test/a/b.git`, 'https://git.test/a/b.git'],
  [`http://me:${secret}@10.0.0.5:3000/a`, 'http://10.0.0.5:3000/a'],
  [`HTTPS://me:${secret}@git.test/a`, 'HTTPS://git.test/a'],
  [`https://me:p@${secret}@git.test/a`, 'https://git.test/a'],
  [`https:\\\\me:${secret}@git.test\\a`, 'https:\\\\git.test\\a'],
  [`ssh://git:${secret}@git.test/a/b.git`, 'ssh://git@git.test/a/b.git'],
  [`git+ssh://me:${secret}@git.test/a`, 'git+ssh://git.test/a'],
  [`me:${secret}@git.test:a/b.git`, 'me@git.test:a/b.git'],
];
const without = [
  'https://git.test/a/b.git',
  'https://git.test/a@b/c.git',
  'ssh://git@git.test/a/b.git',
  'git@git.test:a/b.git',
  'git.test:a/b@c.git',
  '/srv/git/me:x@y/z',
  'relative/folder@1',
];

test.each(withSecret)(
  '%s is refused by the configuration and over HTTP in one sentence, and shown as %s',
  (url, shown) => {
    expect(hasCredential(url)).toBe(true);
    expect(withoutCredential(url)).toBe(shown);
    expect(withoutCredential(`Cannot reach ${url}: no answer.`)).not.toContain(
      url.startsWith('me:') ? 'never' : secret,
    );
    expect(repositoryName(url)).not.toContain(secret);
    const sentence =
      /repository URL must not contain a user name or password\. Put the token into an environment variable/;
    expect(() => assertNoCredential(url)).toThrow(sentence);
    expect(() => parseLocation(url, { allowLocalRepositories: true, hosts: null })).toThrow(sentence);
    const organizations = { acme: { repositories: [{ url }] } };
    const check = () => checkConfig({ organizations }, { base: '/', data: '/nowhere' });
    expect(check).toThrow(sentence);
    expect(check).toThrow(/^organizations\.acme\.repositories\.0: /);
    expect(check).not.toThrow(secret);
  },
);

test.each(without)('%s has none, and stays as it is', (url) => {
  expect(hasCredential(url)).toBe(false);
  expect(withoutCredential(url)).toBe(url);
  expect(() => assertNoCredential(url)).not.toThrow();
});

test('the URL of a host has none either, because those of its repositories are made of it', () => {
  for (const member of ['url', 'apiUrl']) {
    const hosts = { gitea: { url: 'https://git.test', [member]: `https://me:${secret}@git.test` } };
    expect(() => checkConfig({ hosts }, { base: '/', data: '/nowhere' })).toThrow(/^hosts\.gitea: a repository URL/);
  }
});

// `stele serve` and the configuration stored it for ever, and only then the sync refused it.
test('a query, which may be a token, is refused before it is stored, too', () => {
  for (const url of [`https://git.test/a/b.git?private_token=${secret}`, `ssh://git@git.test/a/b#${secret}`]) {
    const sentence = /repository URL must not have a query or a fragment\./;
    expect(() => assertNoCredential(url)).toThrow(sentence);
    const organizations = { acme: { repositories: [{ url }] } };
    const check = () => checkConfig({ organizations }, { base: '/', data: '/nowhere' });
    expect(check).toThrow(sentence);
    expect(check).not.toThrow(secret);
  }
});

test('a long text is looked through in linear time', () => {
  const begin = process.cpuUsage().user;
  withoutCredential(`${'a'.repeat(2_000_000)}@${'a:'.repeat(500_000)}`);
  expect(process.cpuUsage().user - begin).toBeLessThan(2_000_000);
});
