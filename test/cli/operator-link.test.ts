import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { checkConfig } from '../../src/config/load-config.ts';
import { openRegistry } from '../../src/open.ts';
import { openServer } from '../../src/open-server.ts';
import { useLink } from '../console/harness.ts';
import { createBrowser } from '../server/login/browser.ts';
import { createTestQueue } from '../server/registry.ts';
import { runHere } from './in-process.ts';

test('`stele operator link` prints a link that signs in at the running server, once', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'stele-'));
  const registry = await openRegistry(checkConfig({}, { base: folder, data: folder }), () => undefined);
  registry.ownKey.make();
  const queue = createTestQueue(registry);
  const server = await openServer(registry, queue, { host: '127.0.0.1', port: 0 });
  try {
    const { code, stdout, stderr } = await runHere(['operator', 'link', '--data', folder, '--registry', server.url]);
    expect([code, stderr]).toEqual([0, 'Whoever opens it first is the operator. It works for a day.\n']);
    const link = stdout.trim();
    expect(link).toContain(`${server.url}/login/link?token=`);
    expect((await useLink(createBrowser(), link)).url).toBe(`${server.url}/console/new`);
    expect((await useLink(createBrowser(), link)).status).toBe(400);
    const other = await runHere(['operator', 'link', '--data', folder, '--registry', 'http://127.0.0.1:1', '--json']);
    const elsewhere = (JSON.parse(other.stdout) as { link: string }).link.replace('http://127.0.0.1:1', server.url);
    expect((await useLink(createBrowser(), elsewhere)).status).toBe(400);
    const none = await runHere(['operator', 'link', '--data', folder]);
    expect([none.code, none.stderr]).toEqual([2, expect.stringContaining('Use --registry')]);
  } finally {
    await queue.close();
    await server.close(100);
    await registry.close();
    await rm(folder, { recursive: true, force: true });
  }
});
