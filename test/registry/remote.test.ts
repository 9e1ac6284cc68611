import { afterEach, expect, test, vi } from 'vitest';
import { remoteOf } from '../../src/registry/remote.ts';
import { createWorld } from './world.ts';

afterEach(() => vi.unstubAllEnvs());

test('a credential that is bound to a host goes to no other', async () => {
  vi.stubEnv('GIT_TOKEN', 'secret');
  const { registry } = createWorld({
    credentials: { git: { env: 'GIT_TOKEN', host: 'git.test' }, port: { env: 'GIT_TOKEN', host: 'git.test:8443' } },
    sync: { hosts: ['git.test', 'git.test:8443', 'evil.test'] },
  });
  const at = (url: string, credential: string) => remoteOf(registry, { url, branch: 'main', credential });
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
