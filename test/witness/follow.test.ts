import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { formatNote, parseVerifierKey, signersOf } from '../../src/model/transparency/note.ts';
import { parseCheckpoint } from '../../src/model/transparency/checkpoint.ts';
import { parseTilePath } from '../../src/model/transparency/tiles.ts';
import { hash } from 'node:crypto';
import { publicLogOf, type PublicLog } from '../../src/registry/transparency/public-log.ts';
import { freePort } from '../servers/ports.ts';
import { createLoggedWorld, put } from '../registry/transparency/logged.ts';

/** A log on a host that only serves files. */
async function serveLog(choose: () => PublicLog) {
  const server = createServer((request, response) => {
    const log = choose();
    const path = request.url!.slice('/log/'.length);
    const name = parseTilePath(path);
    void (async () => {
      if (path === 'checkpoint') return formatNote((await log.checkpoint()).note);
      return name && log.tile(name);
    })().then((bytes) => response.writeHead(bytes ? 200 : 404).end(bytes ?? ''));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/log`, close: () => server.close() };
}

async function logWith(label: string): Promise<{ log: PublicLog; more: (label: string) => Promise<void> }> {
  const { registry } = createLoggedWorld();
  const log = (await publicLogOf(registry))!;
  const more = async (each: string): Promise<void> => {
    await put(registry, `@acme/apis/pay@${each}`);
    await log.update();
  };
  await more(label);
  return { log, more };
}

test('stele witness follows a log, goes on after a restart, and cosigns no other history', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'stele-witness-'));
  const honest = await logWith('1.0.0');
  const forged = await logWith('2.0.0');
  let shown = honest.log;
  let looks = 0;
  const served = await serveLog(() => {
    if (shown === forged.log) looks++;
    return shown;
  });
  const policy = join(folder, 'witness.policy');
  writeFileSync(policy, `log ${honest.log.key} ${served.url}\n`);
  const port = await freePort();
  const start = () => {
    const program = fileURLToPath(new URL('../../src/cli.ts', import.meta.url));
    const args = ['witness', '--name', 'witness.test/w', '--policy', policy, '--port', String(port), '--interval', '1', '--data', join(folder, 'data')]; // prettier-ignore
    const env = { ...process.env, STELE_WITNESS_KEY: 'a secret of a witness with 32 characters' };
    const child = spawn(process.execPath, [program, ...args], {
      cwd: folder,
      env,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const key = once(child.stdout, 'data').then(([line]) => parseVerifierKey(String(line).trim().split('\n')[0]!)!);
    return { child, key };
  };
  const stop = async ({ child }: ReturnType<typeof start>) => {
    child.kill('SIGTERM');
    expect((await once(child, 'exit'))[0]).toBe(0);
  };
  const head = async () => {
    const answer = await fetch(`http://127.0.0.1:${port}/${hash('sha256', honest.log.origin)}/checkpoint`).catch(
      () => null,
    );
    return answer?.ok ? parseCheckpoint(await answer.text()) : null;
  };
  let running = start();
  try {
    const key = await running.key;
    await expect.poll(async () => (await head())?.size).toBe(3);
    expect(signersOf((await head())!.note, [key])).toEqual([key]);
    await stop(running);

    await honest.more('1.1.0');
    await Promise.all(['2.1.0', '2.2.0'].map((label) => forged.more(label)));
    running = start();
    expect(await running.key).toEqual(key);
    await expect.poll(async () => (await head())?.size).toBe(5);
    shown = forged.log;
    await honest.more('1.2.0');
    // It has looked at the other history when it looks again.
    await expect.poll(() => looks).toBeGreaterThan(5);
    expect((await head())?.size).toBe(5);
    shown = honest.log;
    await expect.poll(async () => (await head())?.size).toBe(7);
  } finally {
    running.child.kill('SIGKILL');
    served.close();
    rmSync(folder, { recursive: true, force: true });
  }
});
