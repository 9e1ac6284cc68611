import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Remote } from '../../src/source/source.ts';
import { openWorld, type World } from './world.ts';

let world: World;
let log: string;
beforeEach(async () => {
  world = await openWorld();
  log = join(world.folder, 'ssh.log');
  const bin = join(world.folder, 'bin');
  mkdirSync(bin);
  // In the place of ssh: writes its arguments and environment down, and runs the remote command here.
  const lines = [
    '#!/bin/sh',
    `printf '%s\\n' "$@" > ${log}`,
    `env >> ${log}`,
    'for last; do :; done',
    'eval "exec $last"',
  ];
  writeFileSync(join(bin, 'ssh'), lines.join('\n'), { mode: 0o755 });
});
afterEach(() => world[Symbol.asyncDispose]());

function open(hosts: readonly string[] | null = ['git.test', 'git.test:2222', '[fd00::1]']) {
  const searchPath = `${join(world.folder, 'bin')}:/usr/bin:/bin`;
  return world.openSource({ hosts, searchPath, lookup: async () => ['93.184.216.34'] });
}

const keyFile = "/keys/it's 100% mine";
const at = (url: string): Remote => ({ url, ref: 'refs/heads/main', credential: { kind: 'ssh', keyFile } });

describe('a source over ssh', () => {
  test('asks ssh for nothing but the key, the checked address and a known host', async () => {
    const repository = world.createRepository();
    const commit = repository.commit({ files: { 'a.yaml': 'a: 1\n' } });
    const source = open();
    const remote = at(`ssh://git@git.test:2222${repository.folder}`);
    expect(await source.tip(remote)).toEqual({ found: true, commit });
    const [file] = await (await source.snapshot(remote, commit)).read(['a.yaml']);
    expect(file?.found).toBe(true);

    const said = readFileSync(log, 'utf8').split('\n');
    const options = said.filter((_, index) => said[index - 1] === '-o');
    expect(options).toEqual(
      expect.arrayContaining([
        'BatchMode=yes',
        'StrictHostKeyChecking=yes',
        'HostName=93.184.216.34',
        'HostKeyAlias=[git.test]:2222',
        'IdentitiesOnly=yes',
        'IdentityAgent=none',
        `IdentityFile="/keys/it's 100%% mine"`,
        'ForwardAgent=no',
      ]),
    );
    expect(said.slice(0, 2)).toEqual(['-F', '/dev/null']);
    expect(said).toContain('git@git.test');
    expect(said).toContain('HOME=/nonexistent');
    expect(said.filter((line) => /^(?:SSH_|DISPLAY)/.test(line))).toEqual([]);
  });

  test('understands user@host:path', async () => {
    const repository = world.createRepository();
    const commit = repository.commit({ files: {} });
    expect(await open().tip(at(`git@git.test:${repository.folder}`))).toEqual({ found: true, commit });
    const said = readFileSync(log, 'utf8').split('\n');
    expect(said).toContain('HostKeyAlias=git.test');
    expect(said).toContain(`git-upload-pack '${repository.folder}'`);
  });

  test('gives no text of the path to a shell', async () => {
    const trap = join(world.folder, 'trapped');
    const work = open().tip(at(`git@git.test:${world.folder}/$(touch\${IFS}${trap});'\`touch\${IFS}${trap}\`'.git`));
    expect(await work).toEqual({ found: false, detail: expect.stringContaining('There is no repository at') });
    expect(() => readFileSync(trap)).toThrow('ENOENT');
  });

  test('refuses a host in a private network that the configuration does not name', async () => {
    const source = world.openSource({ hosts: null, lookup: async () => ['10.0.0.1'] });
    await expect(source.tip(at('git@git.test:a.git'))).rejects.toMatchObject({ code: 'forbidden' });
  });
});
