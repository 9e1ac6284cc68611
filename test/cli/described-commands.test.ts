import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { commandCodes, type CommandCode } from '../../src/cli/manage/command-codes.ts';
import { createProgram } from '../../src/cli/program.ts';
import { describedField, describedParameter } from '../../src/server/v1/described-field.ts';
import { description } from '../server/v1/described.ts';
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runHere } from './in-process.ts';

interface Plain {
  name: string;
  takes?: object;
  prints?: string;
  says?: string;
}

const all = description.operations.flatMap((operation) =>
  (operation.commands as readonly Plain[]).map((plain) => ({ ...plain, operation })),
);

test.each(all)(
  '$name takes what its operation takes, and says what came of it',
  ({ operation, takes = {}, ...plain }) => {
    for (const name of Object.keys(takes))
      if (name.startsWith('/')) expect(describedField(operation, name, false).name).toBe(name);
      else if (name.startsWith('?')) expect(describedParameter(operation, name)?.name).toBe(name);
      else expect(operation.path).toContain(`{${name}}`);
    const code = (commandCodes as Readonly<Record<string, CommandCode>>)[operation.id];
    expect([plain.prints, plain.says, code?.line, code?.say].some(Boolean)).toBe(true);
  },
);

test('code of commands is of operations that have a command', () => {
  expect(Object.keys(commandCodes).filter((id) => !all.some(({ operation }) => operation.id === id))).toEqual([]);
});

test('a command waits for no others, unless it needs them', async () => {
  const namesFor = async (called: string) => (await createProgram({ called })).commands.map((each) => each.name());
  for (const called of ['lint', 'serve', 'build']) expect(await namesFor(called)).toEqual([called]);
  for (const called of ['keys', 'yank', '--help', '']) {
    expect(await namesFor(called)).toEqual(expect.arrayContaining(['keys', 'organizations', 'yank']));
    expect(await namesFor(called)).not.toContain('lint');
  }
  for (const called of ['unknown', 'help', 'sites', 'completion'])
    expect(await namesFor(called)).toEqual(expect.arrayContaining(['keys', 'organizations', 'yank', 'lint']));
  expect((await runHere(['completion', 'bash'])).stdout).toContain('"keys create"');
});

test('all that is given is sent, and nothing else', async () => {
  const bodies: unknown[] = [];
  await using server = createServer(async (request, response) => {
    if (request.method === 'POST') bodies.push(JSON.parse(await text(request)));
    response.end(JSON.stringify({ organization: 'acme', id: '1', secret: 's' }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const registry = ['--registry', `http://127.0.0.1:${(server.address() as AddressInfo).port}`];
  const run = (...words: string[]) => runHere([...words, ...registry], { env: { STELE_KEY: 'k' } });
  await run('keys', 'create', '--name', 'ci', '--scope', 'read', 'publish', '--resource', 'apis/a', 'apis/b');
  await run('webhooks', 'create', 'https://ci.test/hook', '--event', 'sync.failed');
  expect(bodies).toEqual([
    { name: 'ci', scopes: ['read', 'publish'], resources: ['apis/a', 'apis/b'] },
    { url: 'https://ci.test/hook', events: ['sync.failed'] },
  ]);
});

test('an unknown type of event is refused before anybody is asked', async () => {
  const { code, stderr } = await runHere(['webhooks', 'create', 'https://ci.test/hook', '--event', 'version.gone']);
  expect([code, stderr]).toEqual([2, expect.stringContaining('Allowed choices are version.published,')]);
});

test.each(['', ' ', ','])(
  'an option that is empty (%j) asks nobody: a key for nothing is not one for all',
  async (empty) => {
    const asked: string[] = [];
    await using server = createServer((request, response) => {
      asked.push(`${request.method} ${request.url}`);
      response.end(JSON.stringify({ organization: 'acme', id: '1', secret: 's' }));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const registry = ['--registry', `http://127.0.0.1:${(server.address() as AddressInfo).port}`];
    for (const words of [
      ['keys', 'create', '--name', 'ci', '--scope', 'read', '--resource', empty],
      ['keys', 'create', '--name', 'ci', '--scope', 'read', '--resource', 'apis/a', empty],
      ['organizations', 'give', '--group', 'g', '--scope', 'read', '--resource', empty],
      ['webhooks', 'create', 'https://ci.test/hook', '--resource', empty],
    ]) {
      const { code, stderr } = await runHere([...words, ...registry], { env: { STELE_KEY: 'k' } });
      expect([code, stderr], words.join(' ')).toEqual([2, expect.stringContaining('--resource is empty')]);
    }
    expect(asked.filter((each) => each.startsWith('POST'))).toEqual([]);
  },
);

test('a name that no path can have is not there, also in a data folder', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'stele-names-'));
  const here = ['--data', join(folder.path, 'data'), '--org', 'stele'];
  await runHere(['keys', 'create', '--name', 'first', '--scope', 'admin', ...here]);
  for (const id of ['a/b', 'a'.repeat(3000)]) {
    const { code, stderr } = await runHere(['keys', 'revoke', id, ...here]);
    expect([code, stderr]).toEqual([2, expect.stringContaining('The data folder has no keys/')]);
  }
});
