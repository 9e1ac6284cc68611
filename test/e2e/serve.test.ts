import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createFixtureRepository, type FixtureRepository } from '../servers/fixture-repository.ts';
import { serveStele, type Serving } from './stele.ts';
import { api, synced, get } from './serve-world.ts';

/** The front door: the real command, real git, a real socket. */

let folder: string;
let data: string[];
let repository: FixtureRepository;
let running: Serving | null = null;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stele-serve-'));
  data = ['--data', join(folder, 'data')];
  repository = createFixtureRepository(join(folder, 'apis.git'));
});

afterEach(async () => {
  await running?.stop('SIGKILL').catch(() => null);
  running = null;
  await rm(folder, { recursive: true, force: true });
});

async function serve(...args: string[]): Promise<Serving> {
  running = await serveStele([...args, ...data], { cwd: folder });
  return running;
}

test('a push to a local repository becomes a version; the one before keeps its bytes, also after a restart', async () => {
  const first = repository.commit({ files: { 'pay.yaml': api('Pay', '1.0.0'), 'notes.md': 'no document' } });
  let stele = await serve(repository.folder);
  await synced(stele, first);
  const before = await get(`${stele.url}/@local/apis/pay@1.0.0`, { accept: 'application/yaml' });
  expect(before).toMatchObject({ status: 200, text: api('Pay', '1.0.0'), type: 'application/yaml' });

  // No timer is near: the push itself is noticed.
  const second = repository.commit({ files: { 'pay.yaml': api('Pay', '1.1.0') } });
  await synced(stele, second);
  expect(JSON.parse((await get(`${stele.url}/@local/apis/pay`)).text)).toMatchObject({ info: { version: '1.1.0' } });
  expect(await stele.stop()).toBe(0);

  stele = await serve();
  expect(await get(`${stele.url}/@local/apis/pay@1.0.0`, { accept: 'application/yaml' })).toEqual(before);
  expect((await get(`${stele.url}/@local/apis/pay@^1.0`)).status).toBe(307);
});
