import { afterEach, expect, test, vi } from 'vitest';
import { remoteOf } from '../../src/registry/remote.ts';
import { createWorld } from './world.ts';

afterEach(() => vi.unstubAllEnvs());

test('a credential with a host is not sent to other hosts', async () => {
  vi.stubEnv('GIT_TOKEN', 'secret');
  const { registry } = createWorld({
    credentials: {
      git: { env: 'GIT_TOKEN', host: 'git.test', organizations: ['acme'] },
      port: { env: 'GIT_TOKEN', host: 'git.test:8443', organizations: '*' },
    },
    sync: { hosts: ['git.test', 'git.test:8443', 'evil.test'] },
  });
  const at = (url: string, credential: string) => remoteOf(registry, { org: 'acme', url, branch: 'main', credential });
  const token = { kind: 'token', token: 'secret' };
  expect(await at('https://git.test/a.git', 'git')).toMatchObject({ ref: 'refs/heads/main', credential: token });
  expect(await at('https://git.test:8443/a.git', 'port')).toMatchObject({ credential: token });
  const forbidden = { code: 'forbidden', message: expect.not.stringContaining('secret') as string };
  for (const [url, name] of [
    ['https://evil.test/a.git', 'git'],
    ['https://git.test/a.git', 'port'],
    ['/srv/a.git', 'git'],
  ] as const)
    await expect(at(url, name)).rejects.toMatchObject(forbidden);
});

test('a credential is sent only for its configured organizations', async () => {
  vi.stubEnv('GIT_TOKEN', 'secret');
  const url = 'https://git.test/a.git';
  const { registry } = createWorld({
    credentials: {
      unnamed: { env: 'GIT_TOKEN' },
      listed: { env: 'GIT_TOKEN', organizations: ['acme'] },
      configured: { env: 'GIT_TOKEN' },
      everybody: { env: 'GIT_TOKEN', organizations: ['*'] },
    },
    organizations: { acme: { repositories: [{ url, credential: 'configured' }] } },
    sync: { hosts: ['git.test'] },
  });
  const outcomes: Record<string, string> = {};
  for (const org of ['acme', 'other']) {
    for (const credential of ['unnamed', 'listed', 'configured', 'everybody']) {
      outcomes[`${org} ${credential}`] = await remoteOf(registry, { org, url, branch: null, credential }).then(
        () => 'sent',
        (error: { code?: string }) => error.code ?? 'bug',
      );
    }
  }
  expect(outcomes).toEqual({
    'acme unnamed': 'forbidden',
    'acme listed': 'sent',
    'acme configured': 'sent',
    'acme everybody': 'sent',
    'other unnamed': 'forbidden',
    'other listed': 'forbidden',
    'other configured': 'forbidden',
    'other everybody': 'sent',
  });
});

test('a configured repository cannot use a credential of other organizations', () => {
  const url = 'https://git.test/a.git';
  const config = {
    credentials: { git: { env: 'GIT_TOKEN', organizations: ['other'] } },
    organizations: { acme: { repositories: [{ url, credential: 'git' }] } },
  };
  expect(() => createWorld(config)).toThrow('which acme may not use. Add acme to credentials.git.organizations.');
});
