import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { signInLink } from '../../src/server/login/local-login.ts';
import { codeFrame } from '../../src/site/code-frame.ts';
import { createTestRegistry } from '../server/registry.ts';
import { runHere } from './in-process.ts';

let root: string;
let cwd: string;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'stele-'));
  cwd = join(root, 'apis');
  await mkdir(join(root, '.git'), { recursive: true });
  await mkdir(cwd);
  await writeFile(join(cwd, 'pay.yaml'), 'openapi: 3.1.0\ninfo: {title: Pay}\npaths: {}\n');
});
afterAll(() => rm(root, { recursive: true, force: true }));

test('files are named from the working folder, for people; tools get paths of the repository', async () => {
  expect((await runHere(['lint', 'pay.yaml'], { cwd })).stdout).toMatch(/^pay\.yaml:\d/);
  expect((await runHere(['lint', 'apis/pay.yaml'], { cwd: root })).stdout).toMatch(/^apis\/pay\.yaml:\d/);
  expect((await runHere(['lint', 'pay.yaml', '--format', 'github'], { cwd })).stdout).toContain('file=apis/pay.yaml');
});

test('errors are red where there is colour: on a terminal, or where one asks for it', async () => {
  const red = '\u001b[31merror\u001b[39m';
  const args = ['lint', 'pay.yaml'];
  expect((await runHere([...args, '--color'], { cwd })).stdout).toContain(`${red} schema:`);
  expect((await runHere([...args, '--color'], { cwd, env: { NO_COLOR: '1' } })).stdout).toContain(red);
  expect((await runHere(args, { cwd, env: { FORCE_COLOR: '1' } })).stdout).toContain(red);
  expect((await runHere(args, { cwd })).stdout).not.toContain('\u001b');
  expect((await runHere(['lint', '--color', 'none.yaml'], { cwd })).stderr).toContain('\u001b[31mThere is no file');
});

test('a frame of lines is at most 80 columns wide', () => {
  const lines = [`${'a'.repeat(300)}`, `${'b'.repeat(300)}`];
  const frame = codeFrame(lines, { line: 2, column: 150 });
  expect(Math.max(...frame.split('\n').map(({ length }) => length))).toBeLessThanOrEqual(80);
});

test('a file in another encoding is not shown as text', () => {
  expect(codeFrame(['\u{FFFD}\u{FFFD}o\0p\0e\0n\0'], { line: 1, column: 1 })).toBe('');
});

test('lint says that it found nothing, beside its output', async () => {
  await writeFile(join(cwd, 'good.yaml'), 'openapi: 3.1.0\ninfo: {title: Pay, version: "1"}\npaths: {}\n');
  expect(await runHere(['lint', 'good.yaml'], { cwd })).toEqual({ code: 0, stdout: '', stderr: 'No problems.\n' });
});

test('the link that signs in fits on one line', () => {
  const url = 'http://127.0.0.1:7700';
  expect((url + signInLink(createTestRegistry(), url)).length).toBeLessThan(80);
});
