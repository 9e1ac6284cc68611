import { expect, test } from 'vitest';
import { connectionState } from '../../src/model/connection.ts';
import { findResource } from '../../src/registry/lives.ts';
import { readConnection } from '../../src/sync/connect.ts';
import { follow } from '../../src/sync/follow.ts';
import { createSyncQueue } from '../../src/sync/queue.ts';
import { createPulls } from '../../src/pulls/pulls.ts';
import { createWorld } from '../registry/world.ts';

const url = 'https://git.test/acme/apis.git';
const api = (version: string, more = '') => `openapi: 3.1.0\ninfo: {title: Pay, version: ${version}}\n${more}`;
const listed = (slug: string) => `resources:\n  - { path: pay.yaml, slug: ${slug} }\n`;

/** Each step: what is pushed, and the states that begin with it, by slug. */
const steps: [pushed: Record<string, string>, begins: Record<string, string>][] = [
  [{ 'stele.yaml': listed('pay'), 'pay.yaml': api('1.0.0') }, { pay: 'synced' }],
  [{ 'stele.yaml': listed('pay'), 'pay.yaml': api('1.1.0') }, {}],
  [{ 'stele.yaml': listed('pay'), 'pay.yaml': api('1.2.0', 'broken: true') }, { pay: 'failed' }],
  [{ 'stele.yaml': listed('pay'), 'pay.yaml': api('1.2.1', 'broken: true') }, {}],
  [{ 'stele.yaml': listed('pay'), 'pay.yaml': api('1.3.0') }, { pay: 'synced' }],
  [
    { 'stele.yaml': listed('money'), 'pay.yaml': api('1.3.0') },
    { pay: 'detached', money: 'synced' },
  ],
  [{ 'stele.yaml': listed('money'), 'pay.yaml': api('1.4.0') }, {}],
  [
    { 'stele.yaml': listed('pay'), 'pay.yaml': api('1.4.0') },
    { pay: 'synced', money: 'detached' },
  ],
  [{ 'other.yaml': 'title: Other.' }, { pay: 'detached' }],
];

test('a state of a connection is said since when it began, through all of them', async () => {
  const { registry: made, source } = createWorld({});
  let clock = Date.parse('2026-01-01T00:00:00Z');
  const now = () => new Date(clock);
  const registry = { ...made, now };
  const id = await follow(registry, 'acme', {
    url,
    branch: null,
    credential: null,
    discover: '',
    visibility: 'public',
    validation: 'lenient',
  });
  const queue = createSyncQueue(registry, createPulls);
  const expected: Record<string, unknown> = {};
  for (const [files, begins] of steps) {
    clock += 3_600_000;
    source.push(url, files);
    await (
      await queue.request('acme', id, 'manual')
    ).done;
    for (const [slug, state] of Object.entries(begins)) expected[slug] = { state, since: now().toISOString() };
    const seen: Record<string, unknown> = {};
    for (const slug of Object.keys(expected)) {
      const resource = (await findResource(registry, { org: 'acme', type: 'apis', slug }))!;
      const { connection } = resource;
      const { repository, document } = await readConnection(registry, { ...resource, connection: connection! });
      const { state, since } = connectionState(repository?.value ?? null, document);
      seen[slug] = { state, since };
    }
    expect(seen).toEqual(expected);
  }
  await queue.close();
});
