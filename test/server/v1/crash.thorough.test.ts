import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createKey } from '../../../src/registry/keys/keys.ts';
import { openFsBucket } from '../../../src/store/fs.ts';
import { createRefs } from '../../../src/store/refs.ts';
import { newId } from '../../../src/registry/registry.ts';
import { sampleOf } from '../../sample.ts';
import { createTestRegistry } from '../registry.ts';
import { documentOf } from './api.ts';

let folder: string;
let key: string;
let child: ChildProcess;
let url: string;

async function start(): Promise<void> {
  child = fork(fileURLToPath(new URL('child.ts', import.meta.url)), [folder], { execArgv: [], stdio: 'inherit' });
  [[url]] = (await once(child, 'message')) as [[string]];
}

async function kill(): Promise<void> {
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

async function call(method: string, path: string, body?: object, repeatable?: string) {
  const response = await fetch(url + path, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      ...(repeatable !== undefined && { 'idempotency-key': repeatable }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: response.status, json: (await response.json()) as Record<string, unknown> };
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stele-crash-'));
  const registry = createTestRegistry();
  const refs = createRefs(await openFsBucket(folder), { ...registry, uniqueId: () => newId(registry) });
  const author = { actor: 'operator:test', origin: null };
  key = (await createKey({ ...registry, refs }, { org: 'acme', name: 'test', scopes: ['admin'] }, author)).text;
  await start();
});
afterAll(async () => {
  await kill();
  await rm(folder, { recursive: true });
});

test('a server is killed while it works: a repetition with the same Idempotency-Key ends what was begun, once', async () => {
  // Each is killed a little later than the one before.
  const rounds = sampleOf([0, 1, 2, 3, 4], 2, 2);
  for (const round of rounds) {
    const slug = `pay-${round}`;
    const create = () => call('POST', '/v1/apis', { name: 'Pay', slug }, `create-${round}`);
    const publish = () => call('POST', `/v1/apis/${slug}/spec`, { document: documentOf(null) }, `publish-${round}`);
    // The answer, where it comes before the end: what was acknowledged must be what is told again.
    const early: Record<string, unknown>[] = [];
    const work = create()
      .then((answer) => early.push(answer.json))
      .then(publish)
      .then((answer) => early.push(answer.json))
      .catch(() => undefined);
    await delay(round * 6);
    await kill();
    await work;
    await start();
    const created = await create();
    expect(created.status).toBe(201);
    const published = await publish();
    expect([200, 201]).toContain(published.status);
    if (early[0]) expect(created.json).toEqual(early[0]);
    if (early[1]) expect(published.json).toEqual(early[1]);
    const { json } = await call('GET', `/v1/apis/${slug}/versions`);
    expect(json['items']).toMatchObject([{ version: '1.0.0' }]);
  }
  const { json } = await call('GET', '/v1/apis');
  expect(json['items']).toHaveLength(rounds.length);
});
