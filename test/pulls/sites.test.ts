import { findSite } from '../../src/registry/lives.ts';
import { expect, test } from 'vitest';
import { anonymous } from '../../src/model/access.ts';
import { openPage, findPage } from '../../src/sites/registry/read-site.ts';
import { openSitePreview } from '../../src/sites/registry/site-preview.ts';
import { api, open, seven, url, waitFor } from './pulls-scene.ts';

const site = { org: 'acme', slug: 'handbook' };
const settings = (more = '') =>
  `sites:\n  - {path: docs, slug: handbook, title: Handbook, visibility: public${more}}\n`;
const hint = { kind: 'pull', repository: 'acme/apis', pull: seven, isOpen: true } as const;

/** What the host was told of a request with these files, after its target has those. */
async function check(target: Record<string, string>, request: Record<string, string>) {
  const scene = await open();
  const { source, sync, hook, checked, host } = scene;
  source.push(url, { 'pay.yaml': api('1.0.0'), ...target });
  await sync();
  const head = source.push(url, { 'pay.yaml': api('1.0.0'), ...target, ...request }, { branch: 'refs/pull/7/head' });
  await hook(hint);
  await checked(head);
  await waitFor(() => expect(host.told.some((one) => one.commit === head && one.state !== 'running')).toBe(true));
  const found = host.told.filter(({ commit, name }) => commit === head && name.startsWith('stele @acme/sites'));
  return { ...scene, found };
}

test('a request that changes a site is told what it would be, with a link to a preview', async () => {
  const target = { 'stele.yaml': settings(), 'docs/index.md': '# Home\n', 'docs/old.md': '# Old\n' };
  const { found, registry } = await check(target, {
    'docs/index.md': '# Home\n\nSee [more](more.md).\n\n::reference @acme/apis/pay\n',
    'docs/more.md': '# More\n',
  });
  expect(found).toMatchObject([
    { name: 'stele @acme/sites/handbook', state: 'success', title: 'Would be published', annotations: [] },
  ]);
  const [{ summary, url: link }] = found as [(typeof found)[0]];
  for (const part of ['3 pages, 0 errors, 0 warnings.', '- Changed: `index.md` Home', '- New: `more.md` More'])
    expect(summary).toContain(part);
  expect(summary).not.toContain('old.md');
  const [, token] = /^https:\/\/r\.test\/previews\/([0-9a-z-]+)\/$/.exec(link!)!;
  expect(summary).toContain(`[Preview of the site](${link})`);
  const { granted, registry: view } = (await openSitePreview(registry, anonymous, token!))!;
  expect((await openPage(view, granted, findPage(granted, 'more.md')!)).markdown.join('')).toContain('More');
  expect(granted.contents.embeds).toHaveProperty('@acme/apis/pay');
  expect((await findSite(registry, site))?.value.current).toBe('1');
});

test('a site that a request would make has a preview, and is not made', async () => {
  const { found, registry } = await check({}, { 'stele.yaml': settings(), 'docs/index.md': '# Home\n' });
  expect(found).toMatchObject([{ state: 'success', title: 'Would be published' }]);
  const [, token] = /previews\/([0-9a-z-]+)\/$/.exec(found[0]!.url!)!;
  expect((await openSitePreview(registry, anonymous, token!))?.granted.site.title).toBe('Handbook');
  expect(await findSite(registry, site)).toBeNull();
});

test.each([
  ['', 'Handbook'],
  [', visibility: private', undefined],
])('a site that a request would make is as visible as its repository, unless it says%s', async (said, title) => {
  const named = `sites:\n  - {path: docs, slug: handbook, title: Handbook${said}}\n`;
  const { found, registry } = await check({}, { 'stele.yaml': named, 'docs/index.md': '# Home\n' });
  const [, token] = /previews\/([0-9a-z-]+)\/$/.exec(found[0]!.url!)!;
  expect((await openSitePreview(registry, anonymous, token!))?.granted.site.title).toBe(title);
});

test('a site that would be rejected says where, in files of the repository', async () => {
  const { found } = await check(
    { 'stele.yaml': settings(', blockOn: warn'), 'docs/index.md': '# Home\n' },
    { 'docs/index.md': '# Home\n\n[Nowhere](gone.md)\n' },
  );
  expect(found).toMatchObject([{ state: 'failure', annotations: [{ path: 'docs/index.md', line: 3 }] }]);
});

test('a page may embed an API that the same request adds', async () => {
  const { found } = await check(
    { 'stele.yaml': settings(', blockOn: warn'), 'docs/index.md': '# Home\n' },
    { 'extra.yaml': api('1.0.0').replace('Pay', 'Extra'), 'docs/index.md': '# Home\n\n::reference @acme/apis/extra\n' },
  );
  expect(found).toMatchObject([{ state: 'success' }]);
});

test('a request whose stele.yaml no longer names a site is told that the site stays as it is', async () => {
  const { found } = await check(
    { 'stele.yaml': settings(), 'docs/index.md': '# Home\n' },
    { 'stele.yaml': settings().replace('handbook', 'renamed') },
  );
  expect(found.toSorted((one, other) => one.name.localeCompare(other.name))).toMatchObject([
    {
      name: 'stele @acme/sites/handbook',
      state: 'neutral',
      title: 'stele.yaml no longer names the site. The published site stays.',
    },
    { name: 'stele @acme/sites/renamed', state: 'success', title: 'Would be published' },
  ]);
});

test('a request that leaves a site alone says nothing of it', async () => {
  const target = { 'stele.yaml': settings(), 'docs/index.md': '# Home\n' };
  expect((await check(target, { 'pay.yaml': api('1.1.0') })).found).toEqual([]);
});
