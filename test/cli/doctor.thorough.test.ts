import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runStele } from '../e2e/stele.ts';
import { runHere } from './in-process.ts';

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
