import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { DoctorCheck } from '../../src/cli/setup/checks.ts';
import { runStele } from '../e2e/stele.ts';
import { runHere } from './in-process.ts';

const keyMaker = 'ssh-keygen';

let folder: string;

beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), 'stele-doctor-'))));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function makeFolder(name: string): string {
  mkdirSync(join(folder, name));
  return join(folder, name);
}

describe('stele init', () => {
  test.each([
    { name: 'repository', args: [], org: 'local', follows: "{ url: '.' }," },
    { name: 'named', args: ['--org', '1-a', "https://git.example/it's.git"], org: '1-a', follows: `{ url: "https://git.example/it's.git" },` }, // prettier-ignore
    { name: 'empty', args: [], org: 'local', follows: "// { url: '.' }," },
  ])('writes a configuration that holds: $name', async ({ name, args, org, follows }) => {
    const cwd = makeFolder(name);
    if (name === 'repository') mkdirSync(join(cwd, '.git'));
    const made = await runHere(['init', ...args], { cwd });
    expect(made).toEqual({ code: 0, stdout: 'registry.config.ts\n', stderr: expect.stringContaining('stele doctor') as string }); // prettier-ignore
    const text = readFileSync(join(cwd, 'registry.config.ts'), 'utf8');
    expect(text).toContain(`      repositories: [\n        ${follows}`);
    // A name that the configuration does not have is refused, and the one that it has is not.
    const keys = ['keys', 'create', '--name', 'ci', '--scope', 'read', '--org'];
    expect(await runStele([...keys, 'other'], { cwd })).toMatchObject({ code: 2, stdout: '' });
    expect(await runStele([...keys, org], { cwd })).toMatchObject({ code: 0 });
  });
});

describe('stele doctor', () => {
  test('names key files that ssh and git hosts do not take', async () => {
    const cwd = makeFolder('keys');
    const file = (name: string) => join(cwd, name);
    const create = (name: string, passphrase: string) =>
      execFileSync(keyMaker, ['-q', '-t', 'ed25519', '-N', passphrase, '-f', file(name)]);
    create('good', '');
    create('locked', 'secret');
    writeFileSync(file('open'), readFileSync(file('good')), { mode: 0o644 });
    const names = ['good', 'locked', 'open', 'absent'];
    const keys = Object.fromEntries(names.map((name) => [name, { sshKeyFile: name }]));
    const app = { githubApp: { appId: 1, privateKeyFile: 'absent' } };
    writeFileSync(join(cwd, 'registry.config.json'), JSON.stringify({ credentials: { ...keys, app } }));
    const { code, stdout } = await runHere(['doctor', '--json'], { cwd });
    const { checks } = JSON.parse(stdout) as { checks: DoctorCheck[] };
    expect(
      checks.filter(({ name }) => name.startsWith('key ')).map(({ name, state, detail }) => [name, state, detail]),
    ).toEqual([
      ['key good', 'ok', 'can be used'],
      ['key locked', 'problem', expect.stringContaining('passphrase')],
      ['key open', 'problem', expect.stringContaining('bad permissions')],
      ['key absent', 'problem', expect.stringContaining('No such file')],
      ['key app', 'problem', expect.stringContaining('cannot be read')],
    ]);
    expect(code).toBe(1);
  });
});
