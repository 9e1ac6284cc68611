import { expect, test } from 'vitest';
import { anonymous } from '../../../src/model/access.ts';
import { digestOf } from '../../../src/model/digest.ts';
import type { Resource, Version } from '../../../src/model/resource.ts';
import { listReadable } from '../../../src/registry/readable.ts';
import { createSite } from '../../../src/site/site.ts';
import { homePage, organizationPage } from '../../../src/site/pages/listings.ts';
import { createTestRegistry } from '../../server/registry.ts';

const registry = createTestRegistry();
const site = createSite(registry, 'http://registry.test');
const manifest = digestOf('manifest');

/** Published resources, and for how many of them a name, a state or a date was read in one turn of the event loop: the most until now. */
function manyResources(count: number): { resources: Resource[]; most: () => number } {
  let read = new Set<number>();
  let most = 0;
  const note = <T>(index: number, value: T): T => {
    if (read.size === 0) setImmediate(() => (read = new Set()));
    most = Math.max(most, read.add(index).size);
    return value;
  };
  const resources = Array.from({ length: count }, (_, index): Resource => {
    const time = new Date(1_700_000_000_000 + index * 1000).toISOString();
    const version: Version = {
      label: '1.0.0',
      manifest,
      content: manifest,
      get publishedAt() {
        return note(index, time);
      },
      get status() {
        return note(index, { state: 'active' as const });
      },
    };
    return {
      org: 'acme',
      type: 'apis',
      slug: `api-${String(index).padStart(6, '0')}`,
      get name() {
        return note(index, `API ${index}`);
      },
      description: '',
      visibility: 'public',
      ruleset: null,
      connection: null,
      versions: [version],
      latest: '1.0.0',
      latestPinned: false,
      validation: null,
      createdAt: time,
      deletedAt: null,
    };
  });
  return { resources, most: () => most };
}

test('the page of an organization with 10,000 APIs shows 2,000, and others have their turn while it is made', async () => {
  const { resources, most } = manyResources(10_000);
  const html = await organizationPage(site, 'acme', null, { resources, sites: [] });
  expect(most()).toBeLessThanOrEqual(1500);
  const rows = [...html.matchAll(/<li class="row"[^>]*>.*?<strong>([^<]*)</gs)].map(([, name]) => name);
  expect(rows).toEqual(resources.slice(0, 2000).map(({ name }) => name));
  expect(html).toContain('8000 more are not shown.');
  expect(html).toContain('API 9999');
});

test('so have they while the home page with 10,000 APIs is made', async () => {
  const { resources, most } = manyResources(10_000);
  const html = await homePage(site, resources, []);
  expect(most()).toBeLessThanOrEqual(1500);
  const newest = html.slice(html.indexOf('<aside'));
  expect(newest.indexOf('API 9999')).toBeGreaterThan(0);
  expect(newest.indexOf('API 9999')).toBeLessThan(newest.indexOf('API 9998'));
});

test('and while 10,000 resources are listed', async () => {
  const { resources, most } = manyResources(10_000);
  const all = async () => resources.map((value) => ({ value }));
  const refs = { ...registry.refs, all } as unknown as typeof registry.refs;
  expect(await listReadable({ ...registry, refs }, anonymous)).toEqual(resources);
  expect(most()).toBeLessThanOrEqual(1500);
});
