import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

test('a Node that is too old says so, and loads nothing else', async () => {
  const check = fileURLToPath(new URL('../../src/cli/require-node.js', import.meta.url));
  const lie = `Object.defineProperty(process.versions, 'node', { value: '24.11.0' }); import(${JSON.stringify(check)})`;
  await expect(promisify(execFile)(process.execPath, ['-e', lie])).rejects.toMatchObject({
    code: 2,
    stderr:
      'Stele needs Node 26 or newer, and this is 24.11.0: run "npx --yes --package node@26 stele …", or install one from https://nodejs.org.\n',
  });
});
