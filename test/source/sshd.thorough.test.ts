import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkConfig } from '../../src/config/load-config.ts';
import { openRegistry } from '../../src/open.ts';
import type { Source } from '../../src/source/source.ts';
import { testSource, type SourceWorld } from '../contract/source.ts';
import { createFixtureRepository } from '../servers/fixture-repository.ts';
import { hasSshServer, openSshServer, type SshServer } from '../servers/sshd.ts';
import { openWorld, type World } from './world.ts';

const where = hasSshServer ? '' : ' (skipped: no sshd here; Debian has it in openssh-server)';

describe.skipIf(!hasSshServer)(`a source over a real sshd${where}`, () => {
  let world: World;
  let server: SshServer;
  let count = 0;
  beforeAll(async () => {
    world = await openWorld();
    server = await openSshServer(join(world.folder, 'sshd'));
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    await world[Symbol.asyncDispose]();
  });

  function openSource(knownHosts = server.knownHosts): Source {
    return world.openSource({ hosts: [server.host], knownHosts });
  }

  async function open(): Promise<SourceWorld> {
    const folder = join(world.folder, 'root', `${++count}.git`);
    const repository = createFixtureRepository(folder);
    return {
      source: openSource(),
      repository,
      remote: (branch) => ({
        url: server.urlOf(folder),
        ref: branch === null ? 'HEAD' : `refs/heads/${branch}`,
        credential: { kind: 'ssh', keyFile: server.keyFile },
      }),
    };
  }
  // Histories are those of a source over http.
  testSource(open);

  test('gives no text of the path to a shell', async () => {
    const folder = join(world.folder, 'root', "$(touch${IFS}x);'`touch${IFS}x`'&|>x.git");
    const commit = createFixtureRepository(folder).commit({ files: { 'a.yaml': 'a: 1\n' } });
    const { remote, source } = await open();
    const url = server.urlOf(folder).replace(/^ssh:\/\/(.*?)(\/.*)/s, 'ssh://$1$2');
    expect(await source.tip({ ...remote(null), url })).toEqual({ found: true, commit, branch: 'main' });
  });

  test('is refused with a key that is not let in, and with none', async () => {
    const { repository, remote, source } = await open();
    repository.commit({ files: {} });
    const stranger = { ...remote(null), credential: { kind: 'ssh', keyFile: server.strangerKeyFile } as const };
    const refused = { code: 'unreachable', message: expect.stringContaining('rejected the credential') };
    await expect(source.tip(stranger)).rejects.toMatchObject(refused);
    const asked = { code: 'unreachable', message: expect.stringContaining('requires a credential') };
    await expect(source.tip({ ...remote(null), credential: null })).rejects.toMatchObject(asked);
    const absent = { ...remote(null), credential: { kind: 'ssh', keyFile: join(world.folder, 'absent') } as const };
    const unusable = { code: 'unreachable', message: expect.stringContaining('cannot be used') };
    await expect(source.tip(absent)).rejects.toMatchObject(unusable);
  });

  test('says that a key with a passphrase cannot be used, where the host knows it', async () => {
    const { repository, remote, source } = await open();
    repository.commit({ files: {} });
    const locked = { ...remote(null), credential: { kind: 'ssh', keyFile: server.lockedKeyFile } as const };
    const refused = { code: 'unreachable', message: expect.stringContaining('that the key has no passphrase') };
    await expect(source.tip(locked)).rejects.toMatchObject(refused);
  });

  test('is refused when the host key is another, or unknown', async () => {
    const { repository, remote } = await open();
    repository.commit({ files: {} });
    const other = join(world.folder, 'other_hosts');
    const [address = '', kind = ''] = readFileSync(server.knownHosts, 'utf8').split(' ');
    const stranger = readFileSync(`${server.strangerKeyFile}.pub`, 'utf8').split(' ')[1];
    writeFileSync(other, `${address} ${kind} ${stranger}\n`);
    const refusal = { code: 'unreachable', message: expect.stringContaining('known_hosts') };
    await expect(openSource(other).tip(remote(null))).rejects.toMatchObject(refusal);
    writeFileSync(other, '');
    await expect(openSource(other).tip(remote(null))).rejects.toMatchObject(refusal);
  });

  test('is trusted by the file of host keys that the configuration names', async () => {
    const { repository, remote } = await open();
    const commit = repository.commit({ files: {} });
    const sync = { hosts: [server.host], knownHosts: 'sshd/known_hosts' };
    const place = { base: world.folder, data: join(world.folder, 'data') };
    const registry = await openRegistry(checkConfig({ sync, log: { level: 'silent' } }, place));
    expect(await registry.source.tip(remote(null))).toEqual({ found: true, commit, branch: 'main' });
    await registry.close();
  });

  test('has no tip when the repository is gone', async () => {
    const { repository, remote, source } = await open();
    const commit = repository.commit({ files: {} });
    expect(await source.tip(remote(null))).toEqual({ found: true, commit, branch: 'main' });
    rmSync(repository.folder, { recursive: true });
    const { url } = remote(null);
    const detail = `There is no repository at ${url}, or the credential may not see it.`;
    expect(await source.tip(remote(null))).toEqual({ found: false, detail });
  });
});
