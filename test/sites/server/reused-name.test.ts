import { deleteRecord, restoreRecord } from '../../../src/registry/lives.ts';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { siteRef, type DocumentationSite, siteCoordinate } from '../../../src/sites/model/documentation-site.ts';
import { eventsOfSite } from '../../../src/events/events.ts';
import { collectGarbage } from '../../../src/registry/maintenance/gc.ts';
import { fsck } from '../../../src/registry/fsck.ts';
import { changeSite, connectSite, createSiteRecord } from '../../../src/sites/registry/site-record.ts';
import { findDraft, listDrafts } from '../../../src/sites/registry/drafts.ts';
import { publishAgain, sentFiles } from '../../../src/sites/registry/publish-site.ts';
import { previewSite, storeSitePreview } from '../../../src/sites/registry/site-preview.ts';
import type { Registry } from '../../../src/registry/registry.ts';
import { description } from '../../server/v1/described.ts';
import { openApi, type Api } from '../../server/v1/api.ts';
import { author, deploy, writeSite } from './site-world.ts';

/** A private site is deleted, and somebody else takes its name. Nothing leads to the old one. */

const site = { org: 'acme', slug: 'plans' };
const old = { org: 'acme', slug: 'old' };
const secret = 'Zebra';

let api: Api;
let registry: Registry;
let reader: string;
let token: string;

beforeEach(async () => {
  api = await openApi();
  ({ registry } = api);
  reader = await api.makeKey({ scopes: ['read'] });
  await writeSite(registry, { 'index.md': `# ${secret}`, 'zebra.md': secret }, { visibility: 'private' }, site);
  await deploy(registry, site);
  await writeSite(registry, { 'index.md': `# ${secret} again` }, {}, site);
  await deploy(registry, site);
  ({ token } = await preview());
});
afterEach(() => api[Symbol.asyncDispose]());

async function preview(of = site) {
  const sent = await sentFiles(registry, of);
  return previewSite(registry, { site: of, ...sent, reader: { kind: 'operator', id: 'test' }, by: author.actor });
}

async function get(path: string, key?: string) {
  const headers = { accept: 'text/html', ...(key !== undefined && { authorization: `Bearer ${key}` }) };
  const answer = await fetch(api.url + path, { redirect: 'manual', headers });
  return { status: answer.status, text: await answer.text() };
}

async function recreate(of = site): Promise<void> {
  await deleteRecord(registry, siteCoordinate(of), author);
  await createSiteRecord(registry, of, { title: 'Open plans', visibility: 'public' }, author);
}

describe('a site with the name of a deleted one', () => {
  test('does not open its previews, for nobody', async () => {
    expect((await get(`/previews/${token}/`)).status).toBe(404);
    expect((await get(`/previews/${token}/`, reader)).text).toContain(secret);
    await recreate();
    for (const key of [undefined, reader]) {
      const { status, text } = await get(`/previews/${token}/`, key);
      expect([status, text.includes(secret)]).toEqual([404, false]);
    }
    // One of its own is shown.
    await writeSite(registry, { 'index.md': '# Open' }, {}, site);
    expect((await get(`/previews/${(await preview()).token}/`)).text).toContain('Open');
  });

  test('cannot publish its deployments, and counts its own from 1', async () => {
    await recreate();
    for (const label of ['1', '2'])
      await expect(publishAgain(registry, site, label, author)).rejects.toMatchObject({ code: 'not_found' });
    await writeSite(registry, { 'index.md': '# Open' }, {}, site);
    for (const label of ['1', '2', '3']) {
      await writeSite(registry, { 'more.md': label }, {}, site);
      expect(await deploy(registry, site)).toMatchObject({ outcome: 'published', deployment: { label } });
    }
    const again = await publishAgain(registry, site, '1', author);
    expect(again.deployment).toMatchObject({ label: '4', again: '1' });
    expect((await get('/sites/acme/plans/')).text).toContain('Open');
    expect((await fsck(registry)).damages).toEqual([]);
  });

  test.each(['by hand', 'by a sync'])('made %s has none of its files, and their bytes are garbage', async (how) => {
    const bundle = (await findDraft(registry, site, 'index.md'))!.file.bundle;
    await deleteRecord(registry, siteCoordinate(site), author);
    const connection = { repository: 'https://git.test/acme/plans', branch: null, folder: '' };
    if (how === 'by hand') await createSiteRecord(registry, site, { title: 'Open plans' }, author);
    else await connectSite(registry, site, { title: 'Open plans', connection }, author);
    expect(await listDrafts(registry, site)).toEqual([]);
    expect(await findDraft(registry, site, 'index.md')).toBeNull();
    const records = await Array.fromAsync(registry.refs.list('site-files/'));
    const values = await Promise.all(records.map(async (name) => (await registry.refs.read(name))?.value));
    expect(JSON.stringify(values)).not.toContain(bundle);
  });

  test('shows nothing of it at any address', async () => {
    const { admin } = api;
    const addresses = [
      ...['', 'zebra', 'zebra.md', 'feed.atom', 'search.json', 'llms.txt', 'sitemap.xml'].map(
        (path) => `/sites/acme/plans/${path}`,
      ),
      ...description.operations
        .filter(({ method, path }) => method === 'get' && path.startsWith('/v1/sites'))
        .flatMap(({ path }) =>
          ['1', '2'].map((deployment) =>
            path
              .replace('{site}', 'plans')
              .replace('{deployment}', deployment)
              .replace(/\{(page|file)\}/, 'zebra.md'),
          ),
        ),
    ];
    const shows = async (key: string | undefined) => {
      const found: string[] = [];
      for (const address of addresses) {
        const { text } = await get(address, key);
        if (/zebra/i.test(text.replaceAll(address, ''))) found.push(address);
      }
      return found;
    };
    expect(await shows(admin)).toEqual(
      expect.arrayContaining(['/sites/acme/plans/zebra', '/v1/sites/plans/pages', '/v1/sites/plans/files/zebra.md']),
    );
    await recreate();
    await writeSite(registry, { 'index.md': '# Open' }, {}, site);
    await deploy(registry, site);
    expect(await shows(admin)).toEqual([]);
    expect(await shows(undefined)).toEqual([]);
    const { text } = await get('/sites/acme/plans/feed.atom');
    expect(text.match(/<entry>/g)).toHaveLength(1);
    expect(JSON.parse((await get('/v1/sites/plans/deployments', admin)).text)).toMatchObject({ items: [{ id: '1' }] });
    expect((await get('/v1/sites/plans/deployments/2', admin)).status).toBe(404);
  });

  test('has no event that tells of it', async () => {
    await recreate();
    const [after, before] = await Array.fromAsync(registry.refs.history<DocumentationSite>(siteRef(site)));
    expect(eventsOfSite({ url: 'http://registry.test', before: before!, after: after! })).toEqual([]);
    await writeSite(registry, { 'index.md': '# Open' }, {}, site);
    await deploy(registry, site);
    const [published] = await Array.fromAsync(registry.refs.history<DocumentationSite>(siteRef(site)));
    expect(eventsOfSite({ url: 'http://registry.test', before: after!, after: published! })).toMatchObject([
      { event: { type: 'dev.stele.site.published' } },
    ]);
  });
});

test("a pull request's preview of a site that it would make is as hidden as the site that it made", async () => {
  const from = 'https://git.test/acme/fresh';
  const fresh = { org: 'acme', slug: 'fresh' };
  const { deployments, ...like } = (await registry.refs.read<DocumentationSite>(siteRef(site)))!.value;
  const store = (visibility: 'public' | 'private') =>
    storeSitePreview(
      registry,
      {
        site: fresh,
        id: undefined,
        origin: null,
        by: author.actor,
        manifest: deployments[0]!.manifest,
        parts: new Map(),
        fresh: { from, record: { ...like, ...fresh, deployments: [], visibility } },
      },
      7,
    );
  const [open, hidden] = [await store('public'), await store('private')];
  const seen = () =>
    Promise.all([open, hidden].map(async (made) => (await get(`/previews/${made.token}/`)).text.includes(secret)));
  expect(await seen()).toEqual([true, false]);
  const connection = { repository: from, branch: null, folder: '' };
  await connectSite(registry, fresh, { title: 'Fresh', visibility: 'public', connection }, author);
  expect(await seen()).toEqual([true, false]);
  await changeSite(registry, fresh, { visibility: 'private' }, author);
  expect(await seen()).toEqual([false, false]);
  await deleteRecord(registry, siteCoordinate(fresh), author);
  expect(await seen()).toEqual([false, false]);
});

test('a site that comes back has its previews, deployments and files', async () => {
  await deleteRecord(registry, siteCoordinate(site), author);
  await restoreRecord(registry, siteCoordinate(site), author);
  expect((await get(`/previews/${token}/`, reader)).text).toContain(secret);
  expect((await publishAgain(registry, site, '1', author)).deployment.label).toBe('3');
  expect(await listDrafts(registry, site)).toHaveLength(2);
});

describe('in a store that was written before sites had ids', () => {
  /** Makes the site as an earlier program did, with what it then has. */
  async function makeWithoutId(): Promise<void> {
    const found = await registry.refs.read<DocumentationSite>(siteRef(site));
    await registry.refs.update<DocumentationSite>(siteRef(old), () => {
      const { id: _id, ...value } = found!.value;
      return { value: { ...value, ...old, deployments: [], current: null }, change: { ...author, action: 'create' } };
    });
    await writeSite(registry, { 'index.md': `# ${secret}`, 'zebra.md': secret }, {}, old);
    await deploy(registry, old);
    await writeSite(registry, { 'index.md': `# ${secret} again` }, {}, old);
    await deploy(registry, old);
    const records = [siteRef(old), `site-files/acme/old/index.md`].map((name) => registry.refs.read(name));
    expect(JSON.stringify(await Promise.all(records))).not.toContain(found!.value.id);
  }

  test('a site goes on, and one that takes its name has nothing of it', async () => {
    await makeWithoutId();
    expect(await listDrafts(registry, old)).toHaveLength(2);
    const shown = await preview(old);
    expect((await get(`/previews/${shown.token}/`, reader)).text).toContain(secret);
    await writeSite(registry, { 'index.md': `# ${secret} thrice` }, {}, old);
    expect(await deploy(registry, old)).toMatchObject({ deployment: { label: '3' } });
    expect((await publishAgain(registry, old, '1', author)).deployment.label).toBe('4');
    expect((await get('/sites/acme/old/', reader)).text).toContain(secret);
    await recreate(old);
    expect(await listDrafts(registry, old)).toEqual([]);
    expect((await get(`/previews/${shown.token}/`)).status).toBe(404);
    await expect(publishAgain(registry, old, '3', author)).rejects.toMatchObject({ code: 'not_found' });
    await writeSite(registry, { 'index.md': '# Open' }, {}, old);
    expect(await deploy(registry, old)).toMatchObject({ deployment: { label: '1' } });
    for (let run = 0; run < 3; run++) await collectGarbage(registry, { grace: 0, quarantine: 0 });
    expect((await fsck(registry)).damages).toEqual([]);
  });
});
