import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';

const cli = new URL('../../src/cli.ts', import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), 'stele-pipe-'));
const environment = { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] };
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const data = ['--data', join(folder, 'data')];

test.each([[['--help']], [['keys', 'create', '--org', 'stele', '--name', 'x', '--scope', 'read', ...data]]])(
  'a command whose reader has gone ends without a word: %j',
  async (args) => {
    const child = spawn(process.execPath, [cli, ...args], { env: environment });
    child.stdout.destroy();
    let complaint = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (complaint += text));
    expect(await once(child, 'close')).toEqual([0, null]);
    expect(complaint).not.toMatch(/EPIPE|Error/);
  },
);

test('a command that goes on printing ends when its reader has gone', async () => {
  const module = new URL('../../src/cli/process-end.ts', import.meta.url).href;
  const program = `const { endWithReader } = await import(${JSON.stringify(module)});
    endWithReader();
    let lines = 0;
    setInterval(() => (lines++ < 2000 ? console.log('a line') : process.exit(7)), 1);`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], { env: environment });
  child.stdout.destroy();
  expect(await once(child, 'close')).toEqual([0, null]);
});

test('a data folder that cannot be is refused at once', async () => {
  const child = spawn(
    process.execPath,
    [cli, 'keys', 'create', '--org', 'acme', '--name', 'x', '--scope', 'read', '--data', '/proc/x'],
    { env: environment },
  );
  let complaint = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (complaint += text));
  const [code] = (await once(child, 'close')) as [number];
  expect([code, complaint]).toEqual([3, '/proc/x cannot be the data folder: a folder cannot be created there.\n']);
});
