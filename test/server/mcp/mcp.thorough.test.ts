import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { expect, test } from 'vitest';
import { badNames, badValues } from '../../bad-values.ts';
import { documentOf, openWorld } from './mcp-world.ts';

const command = fileURLToPath(new URL('../../../src/cli.ts', import.meta.url));
test.each(['a registry', 'a data folder'])('stele mcp answers over stdin and stdout, from %s', async (from) => {
  await using world = await openWorld();
  const folder = await mkdtemp(join(tmpdir(), 'stele-mcp-'));
  try {
    const file = join(folder, 'pay.json');
    await writeFile(file, JSON.stringify({ openapi: '3.1.0', ...documentOf('string') }));
    const config = join(folder, 'registry.config.json');
    await writeFile(config, '{"organizations": {"acme": {}}}');
    const run = (...args: string[]) => [command, ...args, '--data', join(folder, 'data'), '--config', config];
    const here = ['publish', file, '@acme/apis/pay', '--version', '2.0.0'];
    if (from === 'a data folder') await promisify(execFile)(process.execPath, run(...here));
    const args = from === 'a data folder' ? run('mcp') : [command, 'mcp', '--registry', world.url.origin];
    const env = { ...(process.env as Record<string, string>), STELE_KEY: world.key };
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(new StdioClientTransport({ command: process.execPath, args, env, cwd: folder }));
    const given = { document: '@acme/apis/pay', operation: 'pay' };
    const { content } = await client.callTool({ name: 'read_operation', arguments: given });
    expect((content as [{ text: string }])[0].text).toMatch(
      /^\{"document":"@acme\/apis\/pay@2.0.0".*"amount":\{"type":"string"\}/,
    );
    await client.close();
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('every argument of every tool, with every bad name and value: an answer, or what is wrong with it', async () => {
  await using world = await openWorld();
  const { client } = await world.connect(world.key);
  const { tools } = await client.listTools();
  const values = [...badNames, ...Object.values(badValues), null, 1, true, [], ['a'], {}, { a: 1 }];
  const well: Record<string, string> = { query: 'pay', document: '@acme/apis/pay', operation: 'pay', schema: 'Payment', from: '1.0.0' }; // prettier-ignore
  for (const { name, inputSchema } of tools) {
    const [all, required] = [Object.keys(inputSchema.properties ?? {}), inputSchema.required ?? []];
    const given = Object.fromEntries(required.map((argument) => [argument, well[argument]!]));
    for (const argument of all)
      for (const value of values) {
        const asked = [name, argument, value];
        const { content, isError } = await client.callTool({ name, arguments: { ...given, [argument]: value } });
        const [{ text }] = content as [{ text: string }];
        if (isError)
          expect([...asked, JSON.parse(text)]).toEqual([...asked, { error: expect.stringMatching(/^[\w@"].*\.$/s) }]); // prettier-ignore
        else expect(text).not.toContain('@hidden');
      }
  }
  expect(world.registry.logged.filter(({ level }) => level === 'error')).toEqual([]);
});
