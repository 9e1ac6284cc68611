import { siteCoordinate } from '../../src/sites/model/documentation-site.ts';
import { deleteRecord, restoreRecord } from '../../src/registry/lives.ts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { quotaNames, type Quotas } from '../../src/config/organization-config.ts';
import type { UserConfig } from '../../src/config.ts';
import { createResource } from '../../src/registry/change-resource.ts';
import { createKey, revokeKey } from '../../src/registry/keys/keys.ts';
import { rotateKey } from '../../src/registry/keys/change-key.ts';
import { usageOf, type Usage } from '../../src/registry/maintenance/quotas.ts';
import type { Registry } from '../../src/registry/registry.ts';
import { deleteDraft } from '../../src/sites/registry/drafts.ts';
import { createSiteRecord } from '../../src/sites/registry/site-record.ts';
import { createRefs } from '../../src/store/refs.ts';
import { createTestRegistry, publishVersion, setStatus } from '../server/registry.ts';
import { author, deploy, handbook, writeSite } from '../sites/server/site-world.ts';

const when = '2026-03-01T12:00:00.000Z';
const given = { org: 'acme', name: 'ci', scopes: ['read' as const] };
const resource = (slug: string) => ({ org: 'acme', type: 'apis', slug }) as const;

function limited(quotas: Partial<Quotas>, more: UserConfig = {}): ReturnType<typeof createTestRegistry> {
  return createTestRegistry({ organizations: { acme: { quotas } }, ...more });
}

/** Another process on the same store. */
function beside(registry: Registry): Registry {
  const { now, monotonic } = registry;
  let count = 0;
  return {
    ...registry,
    refs: createRefs(registry.bucket, { now, monotonic, uniqueId: () => `beside${count++}`, maxAge: 0 }),
  };
}

async function refused(work: () => Promise<unknown>, quota: string): Promise<void> {
  await expect(work()).rejects.toMatchObject({ code: 'quota_exceeded', extra: { quota } });
}

describe('what an organization may have at most', () => {
  test('resources: created, published and undeleted; deleted ones make room', async () => {
    const registry = limited({ resources: 2 });
    await createResource(registry, resource('a'), { name: 'A' }, author);
    await publishVersion(registry, '@acme/apis/b', '1.0.0');
    await refused(() => createResource(registry, resource('c'), { name: 'C' }, author), 'resources');
    await refused(() => publishVersion(registry, '@acme/apis/c', '1.0.0'), 'resources');
    await publishVersion(registry, '@acme/apis/b', '1.0.1');
    // What is taken is a conflict, not a question of room.
    await expect(createResource(registry, resource('a'), { name: 'A' }, author)).rejects.toMatchObject({
      code: 'conflict',
    });
    await deleteRecord(registry, resource('a'), author);
    await createResource(registry, resource('c'), { name: 'C' }, author);
    await refused(() => restoreRecord(registry, resource('a'), author), 'resources');
    await publishVersion(registry, '@other/apis/x', '1.0.0');
  });

  test('versions and their bytes: withdrawn ones make room, the same again needs none', async () => {
    const registry = limited({ versions: 2 });
    for (const label of ['1.0.0', '1.0.1']) await publishVersion(registry, '@acme/apis/pay', label);
    await refused(() => publishVersion(registry, '@acme/apis/pay', '1.0.2'), 'versions');
    await expect(publishVersion(registry, '@acme/apis/pay', '1.0.1')).rejects.toThrow('unchanged');
    await setStatus(registry, '@acme/apis/pay', '1.0.0', { state: 'withdrawn', reason: 'leak', since: when });
    await publishVersion(registry, '@acme/apis/pay', '1.0.2');

    const before = registry.bucket;
    const { bytes } = await usageOf(registry, 'acme');
    const small = { ...registry, bucket: before, config: limited({ bytes: bytes + 10 }).config };
    const objects = async () => (await Array.fromAsync(registry.objects.list())).length;
    const count = await objects();
    await refused(() => publishVersion(small, '@acme/apis/pay', '1.0.3'), 'bytes');
    // It is refused before anything is stored.
    expect(await objects()).toBe(count);
  });

  test('sites, their files and the bytes of both', async () => {
    const registry = limited({ sites: 1, drafts: 2 });
    await writeSite(registry, { 'index.md': '# Home', 'a.md': 'A' });
    await refused(() => writeSite(registry, { 'b.md': 'B' }), 'drafts');
    await writeSite(registry, { 'a.md': 'Longer' });
    await deleteDraft(registry, handbook, 'a.md', author);
    await writeSite(registry, { 'd.md': 'D' });
    const other = { org: 'acme', slug: 'other' };
    await refused(() => createSiteRecord(registry, other, { title: 'Other' }, author), 'sites');
    await deleteRecord(registry, siteCoordinate(handbook), author);
    await createSiteRecord(registry, other, { title: 'Other' }, author);
    await refused(() => restoreRecord(registry, siteCoordinate(handbook), author), 'sites');

    const tight = limited({ bytes: 300 });
    await writeSite(tight, { 'index.md': '# Home' });
    await refused(() => writeSite(tight, { 'big.md': 'x'.repeat(300) }), 'bytes');
    await refused(() => deploy(tight), 'bytes');
    expect(await usageOf(tight, 'acme')).toMatchObject({ bytes: 6, drafts: 1 });
  });

  test('live keys: a maximum for all organizations, which revoked and expired ones do not count for', async () => {
    const registry = createTestRegistry({ quotas: { keys: 2 } });
    const first = await createKey(registry, given, author);
    await createKey(registry, { ...given, expiresAt: '2020-01-01T00:00:00.000Z' }, author);
    await createKey(registry, given, author);
    await refused(() => createKey(registry, given, author), 'keys');
    await createKey(registry, { ...given, org: 'other' }, author);
    await revokeKey(registry, 'acme', first.key.id, author);
    await createKey(registry, given, author);
    expect(createTestRegistry().config.quotas).toMatchObject({ keys: 1000, bytes: null });
  });

  test('a key is replaced also where there are as many as may be, until there are twice as many', async () => {
    const registry = createTestRegistry({ quotas: { keys: 2 } });
    const [first, second] = [await createKey(registry, given, author), await createKey(registry, given, author)];
    const third = await rotateKey(registry, 'acme', first.key.id, 0, author);
    await rotateKey(registry, 'acme', second.key.id, 60, author);
    await rotateKey(registry, 'acme', third.key.id, 60, author);
    expect(await usageOf(registry, 'acme')).toMatchObject({ keys: 4 });
    await refused(() => rotateKey(registry, 'acme', third.key.id, 60, author), 'keys');
    await refused(() => createKey(registry, given, author), 'keys');
  });

  test('what changes add at the same time counts together', async () => {
    const registry = limited({ resources: 5, keys: 5 });
    const made = await Promise.allSettled(
      Array.from({ length: 20 }, (_, index) => createResource(registry, resource(`r${index}`), { name: 'R' }, author)),
    );
    expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(5);
    const keys = await Promise.allSettled(Array.from({ length: 20 }, () => createKey(registry, given, author)));
    expect(keys.filter(({ status }) => status === 'fulfilled')).toHaveLength(5);
    expect(await usageOf(registry, 'acme')).toMatchObject({ resources: 5, keys: 5 });
    // Nothing is held back for those that were refused.
    await deleteRecord(registry, resource('r0'), author);
    await createResource(registry, resource('again'), { name: 'Again' }, author);
  });
});

describe('how much an organization has', () => {
  /** Counted by reading everything. */
  async function walk(registry: Registry): Promise<Omit<Usage, 'keys'>> {
    const all = async (kind: string) =>
      (await registry.refs.all<never>(`${kind}/acme/`)).map(({ value }) => value) as Record<string, unknown>[];
    const [resources, sites, drafts] = [await all('resources'), await all('sites'), await all('site-files')];
    const sum = (list: readonly { bytes?: number }[]) => list.reduce((total, { bytes = 0 }) => total + bytes, 0);
    type Item = { bytes?: number; status?: { state: string } };
    const versions = resources
      .flatMap((each) => each['versions'] as Item[])
      .filter(({ status }) => status!.state !== 'withdrawn');
    const files = drafts.flatMap(({ file }) => (file === null ? [] : [{ bytes: (file as { size: number }).size }]));
    return {
      bytes: sum(versions) + sum(sites.flatMap((each) => each['deployments'] as Item[])) + sum(files),
      resources: resources.filter(({ deletedAt }) => deletedAt === null).length,
      versions: versions.length,
      sites: sites.filter(({ deletedAt }) => deletedAt === null).length,
      drafts: files.length,
    };
  }

  test('is exact after any changes, beside another process and after a restart', async () => {
    const step = fc.record({ what: fc.nat(8), which: fc.nat(2), where: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        const here = createTestRegistry();
        const nodes = [here, beside(here)];
        for (const { what, which, where } of steps) {
          const registry = nodes[Number(where)]!;
          const slug = `s${which}`;
          const site = { org: 'acme', slug };
          const acts: (() => Promise<unknown>)[] = [
            () => publishVersion(registry, `@acme/apis/${slug}`, `1.0.${steps.length}`),
            () => publishVersion(registry, `@acme/apis/${slug}`, '1.0.0'),
            () => setStatus(registry, `@acme/apis/${slug}`, '1.0.0', { state: 'withdrawn', reason: 'x', since: when }),
            () => deleteRecord(registry, resource(slug), author),
            () => restoreRecord(registry, resource(slug), author),
            () => writeSite(registry, { 'index.md': `# ${steps.length}`, 'a.md': slug }, {}, site),
            () => deploy(registry, site),
            () => deleteRecord(registry, siteCoordinate(site), author),
            () => deleteDraft(registry, site, 'a.md', author),
          ];
          await acts[what]!().catch(() => undefined);
          await usageOf(nodes[which % 2]!, 'acme');
        }
        const known = await walk(beside(here));
        for (const registry of [beside(here), nodes[1]!])
          expect(await usageOf(registry, 'acme')).toEqual({ ...known, keys: 0 });
      }),
      { numRuns: 25 },
    );
  });

  test('every quota is counted', () => {
    expect(Object.keys(createTestRegistry().config.quotas).sort()).toEqual([...quotaNames].sort());
  });
});
