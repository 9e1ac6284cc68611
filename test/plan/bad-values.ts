import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parseCoordinate } from '../../src/model/address.ts';
import { createPulls } from '../../src/pulls/pulls.ts';
import { listReadable } from '../../src/registry/readable.ts';
import { follow } from '../../src/sync/follow.ts';
import { createSyncQueue } from '../../src/sync/queue.ts';
import { createWorld } from '../registry/world.ts';

/** Every key of `stele.yaml` with each of these values: it is refused at its place, or publishes under a name that can be asked for. */

interface Shape {
  properties: Record<string, { items?: Shape; properties?: Shape['properties'] }>;
}

const { properties } = JSON.parse(readFileSync('content/schemas/repository.json', 'utf8')) as Shape;
const url = 'https://git.test/acme/mono.git';
const operator = { kind: 'operator', id: 'test' } as const;
const api = 'openapi: 3.1.0\ninfo: { title: Pay, version: 1.0.0 }\npaths: {}\n';

const entry = { path: 'a.yaml', slug: 'pay' };
const site = { path: 'docs', slug: 'guide', title: 'Guide' };
const places: readonly [place: string, keys: readonly string[], settingsWith: (more: object) => object][] = [
  ['the file', Object.keys(properties), (more) => ({ resources: [entry], ...more })],
  ['defaults', Object.keys(properties['defaults']!.properties!), (defaults) => ({ defaults, resources: [entry] })],
  ['an entry', Object.keys(properties['resources']!.items!.properties), (more) => ({ resources: [{ ...entry, ...more }] })],
  ['a site', Object.keys(properties['sites']!.items!.properties), (more) => ({ resources: [entry], sites: [{ ...site, ...more }] })],
]; // prettier-ignore

export function expectPlaces(values: readonly unknown[]): void {
  test.each(places)('stele.yaml: every key of %s', async (_, keys, settingsWith) => {
    let refused = 0;
    for (const key of keys) {
      const { registry, source, events } = createWorld();
      const given = { url, branch: null, credential: null, visibility: 'private', validation: 'strict' } as const;
      const id = await follow(registry, 'acme', { ...given, discover: '' });
      const queue = createSyncQueue(registry, createPulls);
      for (const value of values) {
        const settings = JSON.stringify(settingsWith({ [key]: value }));
        source.push(url, { 'stele.yaml': settings, 'a.yaml': api, 'docs/index.md': '# Guide\n' });
        const run = await (await queue.request('acme', id, 'manual')).done;
        expect([settings, run.state]).toEqual([settings, 'succeeded']);
        const told = run.documents.filter(({ path, outcome }) => path === 'stele.yaml' && outcome === 'rejected');
        refused += told.length;
        for (const { detail } of told)
          expect([settings, detail]).toEqual([settings, expect.stringMatching(/^stele\.yaml:\d+:\d+ \S/)]);
      }
      for (const resource of await listReadable(registry, operator, { org: 'acme' }))
        expect(parseCoordinate(`@acme/${resource.type}/${resource.slug}`)).not.toBeNull();
      expect(refused).toBeGreaterThan(0);
      expect([key, events.filter(({ level }) => level === 'error')]).toEqual([key, []]);
    }
  });
}
