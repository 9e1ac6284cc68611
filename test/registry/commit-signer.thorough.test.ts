import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseSshKey } from '../../src/model/ssh-signature.ts';
import { signerOf } from '../../src/registry/commit-signer.ts';
import { parseCommit } from '../../src/source/git-format.ts';
import { createWorld } from './world.ts';

const run = promisify(execFile);
let folder: string;
let env: Record<string, string>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stele-signer-'));
  const who = { NAME: 'A', EMAIL: 'a@stele.test', DATE: '1767225660 +0000' };
  const both = ['AUTHOR', 'COMMITTER'].flatMap((role) =>
    Object.entries(who).map(([name, value]) => [`GIT_${role}_${name}`, value]),
  );
  env = { PATH: process.env['PATH']!, HOME: folder, GNUPGHOME: folder, GIT_CONFIG_NOSYSTEM: '1', ...Object.fromEntries(both) }; // prettier-ignore
  await run('git', ['init', '-q', folder], { env });
});

afterAll(() => rm(folder, { recursive: true, force: true }));

/** A commit that git signs with this configuration, as it is stored. */
async function signedCommit(...settings: string[]): Promise<Buffer> {
  const options = settings.flatMap((each) => ['-c', each]);
  await run('git', [...options, '-C', folder, 'commit', '-q', '--allow-empty', '-S', '-m', 'Add refunds'], { env });
  const { stdout } = await run('git', ['-C', folder, 'cat-file', 'commit', 'HEAD'], { env, encoding: 'buffer' });
  return stdout;
}

function ask(commit: Buffer, ...keys: string[]) {
  const signers = keys.map((key, index) => ({ name: `Person ${index + 1}`, key }));
  const { registry } = createWorld();
  const acme = { repositories: [], owners: [], defaults: {}, signers };
  const config = { ...registry.config, organizations: { acme } };
  return signerOf({ config }, 'acme', parseCommit(commit)!.signature);
}

async function sshKey(type: string, ...more: string[]): Promise<{ file: string; key: string; fingerprint: string }> {
  const file = join(folder, `${type}${more.join('')}`);
  await run('ssh-keygen', ['-q', '-t', type, ...more, '-N', '', '-C', 'a@stele.test', '-f', file]);
  const { stdout } = await run('ssh-keygen', ['-l', '-f', `${file}.pub`]);
  return { file, key: (await readFile(`${file}.pub`, 'utf8')).trim(), fingerprint: stdout.split(' ')[1]! };
}

test.each([
  ['ed25519', '-a', '2'],
  ['rsa', '-b', '2048'],
  ['ecdsa', '-b', '256'],
  ['ecdsa', '-b', '384'],
  ['ecdsa', '-b', '521'],
])('a commit that is signed with an ssh key of %s %s %s', async (type, ...more) => {
  const { file, key, fingerprint } = await sshKey(type, ...more);
  const commit = await signedCommit('gpg.format=ssh', `user.signingkey=${file}`);
  expect(await ask(commit, key)).toEqual({ name: 'Person 1', key: fingerprint });
  const changed = Buffer.from(commit.toString('latin1').replace('Add refunds', 'Add returns'), 'latin1');
  expect(await ask(changed, key)).toBe(null);
  expect(await ask(commit)).toBe(null);
  expect(await ask(commit, 'ssh-ed25519 AAAA', 'nonsense')).toBe(null);
});

const hasGpg = existsSync('/usr/bin/gpg') && existsSync('/usr/bin/gpg-agent');

test.skipIf(!hasGpg)(
  `a commit that is signed with an OpenPGP key${hasGpg ? '' : ' (skipped: there is no gpg)'}`,
  async () => {
    const gpg = (...options: string[]) => run('gpg', ['--batch', '--quiet', '--passphrase', '', ...options], { env });
    await gpg('--quick-generate-key', 'A <a@stele.test>', 'ed25519', 'sign', 'never');
    await gpg('--quick-generate-key', 'B <b@stele.test>', 'ed25519', 'sign', 'never');
    const [a, b] = await Promise.all(['a', 'b'].map(async (name) => (await gpg('--armor', '--export', `${name}@stele.test`)).stdout)); // prettier-ignore
    const commit = await signedCommit('user.signingkey=a@stele.test');
    const { stdout } = await gpg('--with-colons', '--fingerprint', 'a@stele.test');
    const fingerprint = /^fpr:+([0-9A-F]{40}):/m.exec(stdout)![1]!.toLowerCase();
    expect(await ask(commit, b!, a!)).toEqual({ name: 'Person 2', key: fingerprint });
    expect(await ask(commit, b!)).toBe(null);
    const changed = Buffer.from(commit.toString('latin1').replace('Add refunds', 'Add returns'), 'latin1');
    expect(await ask(changed, a!)).toBe(null);
  },
);

test('a signature for something else, one that is torn, and a commit without one are by nobody', async () => {
  const { file, key } = await sshKey('ed25519', '-a', '1');
  const commit = await signedCommit('gpg.format=ssh', `user.signingkey=${file}`);
  const { payload } = parseCommit(commit)!.signature!;
  await writeFile(join(folder, 'payload'), payload);
  await run('ssh-keygen', ['-q', '-Y', 'sign', '-n', 'file', '-f', file, join(folder, 'payload')]);
  const text = (await readFile(join(folder, 'payload.sig'), 'utf8')).trimEnd();
  const registry = createWorld().registry;
  const signers = [{ name: 'A', key }];
  const acme = { repositories: [], owners: [], defaults: {}, signers };
  const config = { ...registry.config, organizations: { acme } };
  expect(await signerOf({ config }, 'acme', { payload, text })).toBe(null);
  const { text: own } = parseCommit(commit)!.signature!;
  expect(await signerOf({ config }, 'acme', { payload, text: own })).not.toBe(null);
  const lines = own.split('\n');
  for (let at = 0; at < lines.length; at++)
    expect(await signerOf({ config }, 'acme', { payload, text: lines.toSpliced(at, 1).join('\n') })).toBe(null);
  expect(parseCommit(payload)!.signature).toBe(null);
  expect(await signerOf({ config }, 'acme', null)).toBe(null);
});

test('what is no public key is none', () => {
  for (const line of ['', 'ssh-ed25519', 'ssh-ed25519 AAAA', 'ssh-rsa AAAAC3NzaC1lZDI1NTE5AAAAIA==', 'x y z'])
    expect(parseSshKey(line)).toBe(null);
});
