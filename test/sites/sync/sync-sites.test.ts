import { findSite } from '../../../src/registry/lives.ts';
import { describe, expect, test } from 'vitest';
import { checkConfig } from '../../../src/config/load-config.ts';
import { sandboxLost } from '../../../src/compile/compile.ts';
import { checkSettingsFile, settingsFrom } from '../../../src/compile/repository-settings.ts';
import { readSettings } from '../../compile/read-settings.ts';
import { readChildMessage } from '../../../src/compile/sandbox/sandbox-messages.ts';
import type { SettingsSite } from '../../../src/compile/sandboxes.ts';
import { anonymous } from '../../../src/model/access.ts';
import { grantSite } from '../../../src/sites/registry/read-site.ts';
import { followSites } from '../../../src/sites/registry/publish-site.ts';
import { putDraft } from '../../../src/sites/registry/drafts.ts';
import { syncSites } from '../../../src/sites/sync/sync-sites.ts';
import type { Syncing } from '../../../src/sync/runs.ts';
import { snapshotOf } from '../../registry/world.ts';
import { changeResource, createTestRegistry, publishVersion, type TestRegistry } from '../../server/registry.ts';
import { author, deploy, handbook, writeSite } from '../server/site-world.ts';

const { limits } = checkConfig({}, { base: '/', data: '/nowhere' });
const url = 'https://github.com/acme/docs';
const docs: SettingsSite = { path: 'docs', slug: 'handbook', title: 'Handbook', visibility: 'public' };

function syncingOf(registry: TestRegistry): Syncing {
  const repository = { org: 'acme', url, branch: null, discover: '', visibility: 'private' } as Syncing['repository'];
  const { signal } = new AbortController();
  return { registry, repository, run: { id: 'run' } as Syncing['run'], signal, tags: async () => [] };
}

function sync(registry: TestRegistry, commit: string, files: Record<string, string>, sites = [docs]) {
  return syncSites(syncingOf(registry), snapshotOf(url, commit, files), sites);
}

describe('a site in a repository', () => {
  test('is published from its folder with each commit that changes it', async () => {
    const registry = createTestRegistry();
    const files = { 'docs/index.md': '# Home', 'docs/a/b.md': 'B', 'docs/x.html': '<p>', 'src/other.md': 'no' };
    const first = await sync(registry, 'c1', files);
    expect(first).toMatchObject({
      lost: null,
      documents: [
        {
          path: 'docs',
          outcome: 'published',
          detail: '@acme/sites/handbook: deployment 1. 1 warning.',
          report: expect.stringMatching(/^sha256:/) as string,
        },
      ],
    });
    expect(await sync(registry, 'c2', { ...files, 'src/other.md': 'changed' })).toMatchObject({
      lost: null,
      documents: [],
      change: { sites: { handbook: { outcome: 'unchanged', detail: null } } },
    });
    await sync(registry, 'c3', { ...files, 'docs/a/b.md': 'B2' });
    const granted = await grantSite(registry, anonymous, handbook);
    expect(Object.keys(granted!.contents.pages)).toEqual(['a/b.md', 'index.md']);
    expect(granted!.deployment).toMatchObject({
      label: '2',
      origin: { repository: url, commit: 'c3', folder: 'docs' },
    });
    await expect(putDraft(registry, handbook, 'c.md', Buffer.from('x'), author)).rejects.toMatchObject({
      code: 'conflict',
    });
  });

  test('says of each page which commit changed it last, and no more than the deployments tell', async () => {
    const registry = createTestRegistry();
    const at = (day: number) => `2026-05-0${day}T00:00:00.000Z`;
    const publish = (day: number, files: Record<string, string>) =>
      syncSites(syncingOf(registry), snapshotOf(url, `c${day}`, files, at(day)), [docs]);
    await publish(1, { 'docs/index.md': '# Home', 'docs/b.md': 'B' });
    await publish(2, { 'docs/index.md': '# Home', 'docs/b.md': 'B2', 'docs/c.md': 'C' });
    await publish(3, { 'docs/index.md': '# Home', 'docs/b.md': 'B2', 'docs/c.md': 'C' });
    const { contents, deployment } = (await grantSite(registry, anonymous, handbook))!;
    expect(deployment.label).toBe('2');
    expect(Object.entries(contents.pages).map(([path, { lastChange }]) => [path, lastChange])).toEqual([
      ['b.md', { at: at(2) }],
      ['c.md', { at: at(2) }],
      ['index.md', { at: at(1), isEarlier: true }],
    ]);
  });

  test('stays as it is while a commit cannot be published', async () => {
    const registry = createTestRegistry();
    await sync(registry, 'c1', { 'docs/index.md': '# Home' });
    const { documents } = await sync(registry, 'c2', { 'docs/index.md': '---\ntitle: [\n---\n' });
    expect(documents).toMatchObject([{ outcome: 'rejected', report: expect.stringMatching(/^sha256:/) as string }]);
    expect((await findSite(registry, handbook))!.value.current).toBe('1');
  });

  test('is tried again if the sandbox that renders it died', async () => {
    const registry = createTestRegistry();
    const renderPages = () => Promise.reject(sandboxLost('It ended with SIGKILL.'));
    const broken = { ...registry, compiler: { ...registry.compiler, renderPages } };
    const files = { 'docs/index.md': '# Home' };
    expect(await sync(broken, 'c1', files)).toMatchObject({
      documents: [],
      change: { sites: {} },
      lost: expect.stringMatching(/^docs: The process that compiles documents stopped/) as string,
    });
    expect(await sync(registry, 'c1', files)).toMatchObject({ documents: [{ outcome: 'published' }], lost: null });
  });

  test('that stele.yaml no longer names is detached, once, and stays as it is; an invalid stele.yaml detaches none', async () => {
    const registry = createTestRegistry();
    const files = { 'docs/index.md': '# Home' };
    const syncing = syncingOf(registry);
    const at = async (commit: string, named: SettingsSite[] | null) => {
      const { documents, change } = await syncSites(syncing, snapshotOf(url, commit, files), named);
      Object.assign(syncing.repository, change);
      return { outcomes: documents.map(({ site, outcome }) => [site, outcome]), state: change.sites?.['handbook'] };
    };
    await at('c1', [docs]);
    expect(await at('c2', null)).toMatchObject({ outcomes: [], state: { outcome: 'published' } });
    const detached = { outcome: 'detached', detail: 'stele.yaml no longer names the site. The published site stays.' };
    expect(await at('c3', [])).toMatchObject({ outcomes: [['@acme/sites/handbook', 'detached']], state: detached });
    expect(await at('c4', [])).toMatchObject({ outcomes: [], state: detached });
    expect((await grantSite(registry, anonymous, handbook))?.deployment.label).toBe('1');
    expect(await at('c5', [docs])).toMatchObject({ state: { outcome: 'unchanged', detail: null } });
  });

  test('is not taken from another repository, nor from files that were sent', async () => {
    const registry = createTestRegistry();
    await writeSite(registry, { 'index.md': 'sent' });
    await deploy(registry);
    const { documents } = await sync(registry, 'c1', { 'docs/index.md': '# Home' });
    expect(documents).toMatchObject([{ outcome: 'rejected' }]);
    expect((await findSite(registry, handbook))!.value.current).toBe('1');
  });

  test('with settings that no site can have is named in the run', async () => {
    const registry = createTestRegistry();
    const bad = { ...docs, theme: { accent: 'url(x)' } };
    const { documents } = await sync(registry, 'c1', { 'docs/index.md': '# Home' }, [bad]);
    expect(documents).toMatchObject([
      { path: 'docs', outcome: 'rejected', detail: expect.stringContaining('accent') as string },
    ]);
  });
});

describe('stele.yaml', () => {
  const read = (text: string) => readSettings({ path: 'stele.yaml', bytes: Buffer.from(text) }, limits);

  test('names sites', () => {
    const text =
      'sites:\n  - path: docs\n    slug: handbook\n    title: Handbook\n    navigation:\n      - page: index.md\n';
    expect(read(text).settings!.sites).toEqual([
      { path: 'docs', slug: 'handbook', title: 'Handbook', navigation: [{ page: 'index.md' }] },
    ]);
    const checked = checkSettingsFile({ path: 'stele.yaml', bytes: Buffer.from(text) }, limits);
    const message = { type: 'settings', ...checked, rss: 1 };
    expect(readChildMessage(message)).toEqual(message);
    const json = JSON.stringify({ sites: [{ path: 'docs', slug: '../x', title: 'y' }] });
    expect(() => settingsFrom('stele.yaml', { ...checked.written!, json })).toThrow('The sandbox read no settings.');
  });

  test('with a site without a title is refused', () => {
    expect(read('sites:\n  - path: docs\n    slug: handbook\n').settings).toBeNull();
  });

  test('with a loop of aliases in navigation is refused', () => {
    const text =
      'sites:\n  - path: docs\n    slug: handbook\n    title: x\n    navigation: &n\n      - title: a\n        items: *n\n';
    expect(read(text).settings).toBeNull();
  });
});

describe('a site that embeds the latest version', () => {
  test('is published again when there is a newer one, once, with the same pages', async () => {
    const registry = createTestRegistry();
    await publishVersion(registry, '@acme/apis/pay', '1.0.0');
    await writeSite(registry, {
      'index.md': '::reference @acme/apis/pay\n',
      'old.md': '::reference @acme/apis/pay@1.0.0\n',
    });
    await deploy(registry);
    expect(await followSites(registry)).toBe(0);
    await publishVersion(registry, '@acme/apis/pay', '1.1.0');
    await writeSite(registry, { 'index.md': 'not published yet' });
    expect(await followSites(registry)).toBe(1);
    expect(await followSites(registry)).toBe(0);
    const granted = await grantSite(registry, anonymous, handbook);
    expect(granted!.deployment).toMatchObject({ label: '2', followed: '@acme/apis/pay is 1.1.0.', by: 'follow:acme' });
    const labels = Object.values(granted!.contents.embeds).map(({ label }) => label);
    expect(labels.sort()).toEqual(['1.0.0', '1.1.0']);
    expect(granted!.contents.pages['index.md']!.facts.embeds).toHaveLength(1);
  });

  test.each([
    ['public', 'sent', 1],
    ['private', 'sent', 0],
    ['private', 'in git', 1],
  ] as const)(
    'of a %s API that comes later, with files that were %s, is published again: %i',
    async (visibility, how, times) => {
      const registry = createTestRegistry();
      const files = { 'index.md': '::reference @acme/apis/pay\n\n::operation @acme/apis/pay@2.0.0 GET /pets\n' };
      if (how === 'sent') {
        await writeSite(registry, files);
        await deploy(registry);
      } else await sync(registry, 'c1', { 'docs/index.md': files['index.md'] });
      expect(await followSites(registry)).toBe(0);
      await publishVersion(registry, '@acme/apis/pay', '1.0.0', { visibility });
      expect(await followSites(registry)).toBe(times);
      await publishVersion(registry, '@acme/apis/pay', '2.0.0', { visibility });
      expect(await followSites(registry)).toBe(times);
      expect(await followSites(registry)).toBe(0);
      const { embeds } = (await grantSite(registry, anonymous, handbook))!.contents;
      expect(Object.values(embeds).map(({ label }) => label)).toEqual(times === 0 ? [] : ['2.0.0', '2.0.0']);
    },
  );

  test('stays as it is when the API is made private to another organization', async () => {
    const registry = createTestRegistry();
    await publishVersion(registry, '@other/apis/pay', '1.0.0');
    await writeSite(registry, { 'index.md': '::reference @other/apis/pay\n' });
    await deploy(registry);
    await publishVersion(registry, '@other/apis/pay', '1.1.0');
    await changeResource(registry, '@other/apis/pay', (resource) => ({ ...resource, visibility: 'private' }));
    expect(await followSites(registry)).toBe(0);
  });
});
