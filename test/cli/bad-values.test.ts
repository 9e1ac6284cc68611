import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createProgram } from '../../src/cli/program.ts';
import { nothings } from '../bad-values.ts';
import { commandLine, commandsOf, inputsOf } from './command-lines.ts';
import { runHere } from './in-process.ts';

/** Every option and argument of every command with nothing in it. What else is wrong with a value: the thorough test. */

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stele-nothing-'));
  await mkdir(join(folder, 'home'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('nothing is no value, and does nothing', async () => {
  const commands = commandsOf(await createProgram());
  test.each(commands)('%s', async (name, command) => {
    const taken: string[] = [];
    for (const input of inputsOf(command))
      for (const nothing of nothings) {
        const line = commandLine(name, command, input, nothing);
        const { code, stdout, stderr } = await runHere(line, { cwd: folder, env: { HOME: join(folder, 'home') } });
        const isRefused = / is empty\. Give it a value\.|Allowed choices are| is not a /.test(stderr);
        if (code !== 2 || stdout !== '' || !isRefused) taken.push(`${line.join(' ')}: ${code} ${stderr}`);
      }
    expect(taken).toEqual([]);
    expect(await readdir(folder)).toEqual(['home']);
  });
});

test.each(['PORT', 'STELE_DATA', 'STELE_KEY', 'STELE_REGISTRY', 'STELE_ORG'])(
  '%s that is empty is as if it were not set',
  async (variable) => {
    const env = { HOME: join(folder, 'home'), [variable]: '' };
    for (const [args, says] of [
      [['serve', './nowhere'], /^There is no folder at .*nowhere\.\n$/],
      [['keys', 'list', '--org', 'acme'], /\.stele holds no store\. Check --data\.\n$/],
      [['keys', 'list'], /^Set --org to the organization\.\n$/],
      [['keys', 'list', '--registry', 'http://127.0.0.1:9'], /^Log in with/],
    ] as const) {
      const cwd = await mkdtemp(join(folder, 'home', 'empty-'));
      expect((await runHere(args, { cwd, env })).stderr).toMatch(says);
    }
  },
);

test('an organization that is not there gets and has nothing, and to read makes no store', async () => {
  const cwd = await mkdtemp(join(folder, 'home', 'typo-'));
  await writeFile(join(cwd, 'registry.config.json'), JSON.stringify({ organizations: { acme: {} } }));
  await mkdir(join(cwd, 'pages'));
  await writeFile(join(cwd, 'pages', 'index.md'), '# Home\n');
  const run = (...args: string[]) => runHere(args, { cwd, env: { HOME: join(folder, 'home') } });
  expect((await run('repositories')).code).toBe(0);
  expect(await readdir(cwd)).toEqual(['pages', 'registry.config.json']);
  await run('keys', 'create', '--org', 'acme', '--name', 'ci', '--scope', 'read');
  for (const line of [
    ['keys', 'create', '--org', 'acmee', '--name', 'ci', '--scope', 'read'],
    ['webhooks', 'create', 'https://ci.test/hook', '--org', 'acmee'],
    ['sites', 'publish', '@acmee/sites/guide', 'pages'],
    ['sites', 'preview', '@acmee/sites/guide', 'pages'],
    ['webhooks', 'list', '--org', 'acmee'],
  ]) {
    const { code, stderr } = await run(...line);
    expect([code, stderr], line.join(' ')).toEqual([2, expect.stringMatching(/^There is no organization acmee\. Did/)]);
  }
});
