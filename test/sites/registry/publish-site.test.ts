import {
  siteCoordinate,
  type DeployedPage as Page,
  type DeploymentContents,
} from '../../../src/sites/model/documentation-site.ts';
import { deleteRecord, findSite, restoreRecord } from '../../../src/registry/lives.ts';
import { describe, expect, test, vi } from 'vitest';
import { collectGarbage } from '../../../src/registry/maintenance/gc.ts';
import { fsck } from '../../../src/registry/fsck.ts';
import { tooLarge } from '../../../src/sites/registry/check-site.ts';
import { digestOf } from '../../../src/model/digest.ts';
import type { Outline } from '../../../src/model/outline.ts';
import { deleteDraft, listDrafts, putDraft, putDraftPage } from '../../../src/sites/registry/drafts.ts';
import { readPlace } from '../../../src/sites/registry/bundles.ts';
import { publishAgain } from '../../../src/sites/registry/publish-site.ts';
import { findPage, grantSite, openPage } from '../../../src/sites/registry/read-site.ts';
import { changeSite, createSiteRecord } from '../../../src/sites/registry/site-record.ts';
import { anonymous } from '../../../src/model/access.ts';
import { neighboursOf, readingOrder, shownNavigation } from '../../../src/sites/pages/site-navigation.ts';
import { createTestRegistry, publishVersion } from '../../server/registry.ts';
import { author, deploy, handbook, png, writeSite } from '../server/site-world.ts';

const rulesOf = ({ report }: { report: { problems: { rule: string }[] } }) => report.problems.map(({ rule }) => rule);

describe('publishing a site', () => {
  test('appends a deployment and makes it the one that is served', async () => {
    const registry = createTestRegistry();
    await writeSite(registry, { 'index.md': '# Home', 'guide/intro.md': 'Text', 'logo.png': png });
    const made = await deploy(registry);
    expect(made).toMatchObject({ outcome: 'published', deployment: { label: '1' }, rendered: 2 });
    expect((await findSite(registry, handbook))!.value).toMatchObject({ current: '1' });
    const granted = await grantSite(registry, anonymous, handbook);
    const { html } = await openPage(registry, granted!, findPage(granted!, 'guide/intro.md')!);
    expect(html).toEqual(['<p>Text</p>\n']);
  });

  test('files that arrive together are one object, those of each site', async () => {
    const registry = createTestRegistry();
    const other = { org: 'acme', slug: 'other' };
    await writeSite(registry, { 'index.md': '# Home' });
    await writeSite(registry, { 'index.md': '# Home' }, {}, other);
    const put = async (path: string, site = handbook) => {
      const { file } = await putDraft(registry, site, path, Buffer.from(`Text of ${path}`), author);
      expect(String(await readPlace(registry, file))).toBe(`Text of ${path}`);
      return file.bundle;
    };
    const [first, second, elsewhere] = await Promise.all([put('a.md'), put('b.md'), put('a.md', other)]);
    expect([first === second, first === elsewhere]).toEqual([true, false]);
    expect(await put('c.md')).not.toBe(first);
    expect((await fsck(registry)).damages).toEqual([]);
  });

  test('renders only what changed, and changes nothing if nothing did', async () => {
    const registry = createTestRegistry();
    await writeSite(registry, { 'index.md': '# Home', 'a.md': 'A', 'b.md': 'B' });
    await deploy(registry);
    expect(await deploy(registry)).toMatchObject({ outcome: 'unchanged', rendered: 0, deployment: { label: '1' } });
    await writeSite(registry, { 'a.md': 'A2' });
    expect(await deploy(registry)).toMatchObject({ outcome: 'published', rendered: 1, deployment: { label: '2' } });
    await changeSite(registry, handbook, { navigation: [{ page: 'b.md' }] }, author);
    expect(await deploy(registry)).toMatchObject({ outcome: 'published', rendered: 0 });
  });

  test('publishes an earlier deployment again, with the same bytes', async () => {
    const registry = createTestRegistry();
    await writeSite(registry, { 'index.md': 'one' });
    const first = await deploy(registry);
    await writeSite(registry, { 'index.md': 'two' });
    await deploy(registry);
    const again = await publishAgain(registry, handbook, '1', author);
    expect(again).toMatchObject({ outcome: 'published', deployment: { label: '3', again: '1' } });
    expect(first.outcome === 'published' && first.deployment.manifest).toBe(again.deployment.manifest);
    await expect(publishAgain(registry, handbook, '9', author)).rejects.toMatchObject({ code: 'not_found' });
  });

  test('a site that is not made takes no file from the deleted one whose name it wants', async () => {
    const registry = createTestRegistry();
    await writeSite(registry, { 'index.md': 'one' });
    await deleteRecord(registry, siteCoordinate(handbook), author);
    const asked = { title: 'Again', redirects: { a: 'https://elsewhere.test/' } };
    await expect(createSiteRecord(registry, handbook, asked, author)).rejects.toMatchObject({ code: 'malformed' });
    await restoreRecord(registry, siteCoordinate(handbook), author);
    expect(await listDrafts(registry, handbook)).toHaveLength(1);
    await deleteRecord(registry, siteCoordinate(handbook), author);
    await createSiteRecord(registry, handbook, { title: 'Again' }, author);
    expect(await listDrafts(registry, handbook)).toEqual([]);
  });

  test('one of two at the same time is first, and the other is not lost', async () => {
    const registry = createTestRegistry();
    await writeSite(registry, { 'index.md': 'one' });
    const other = { ...handbook };
    const both = await Promise.all([deploy(registry), deploy(registry, other)]);
    expect(both.map(({ outcome }) => outcome).sort()).toEqual(['published', 'unchanged']);
  });

  test('a page that is saved while the site is rendered is in the next deployment, and not half in this one', async () => {
    const plain = createTestRegistry();
    await writeSite(plain, { 'index.md': '[A](a.md)', 'a.md': 'Old.' });
    const { compiler } = plain;
    const registry = {
      ...plain,
      compiler: {
        ...compiler,
        renderer: compiler.renderer,
        async renderPages(...given: Parameters<typeof compiler.renderPages>) {
          await writeSite(plain, { 'a.md': 'New.', 'b.md': 'More.' });
          return compiler.renderPages(...given);
        },
      },
    };
    const htmlOf = async () => {
      const { contents, ...granted } = (await grantSite(plain, anonymous, handbook))!;
      const page = contents.pages['a.md']!;
      return [Object.keys(contents.pages), (await openPage(plain, { contents, ...granted }, page)).html];
    };
    expect(await deploy(registry)).toMatchObject({ outcome: 'published', deployment: { label: '1' } });
    expect(await htmlOf()).toEqual([['a.md', 'index.md'], ['<p>Old.</p>\n']]);
    expect(await deploy(plain)).toMatchObject({ deployment: { label: '2' }, rendered: 2 });
    expect(await htmlOf()).toEqual([['a.md', 'b.md', 'index.md'], ['<p>New.</p>\n']]);
  });

  test('keeps its bytes through garbage collection, and fsck finds nothing', async () => {
    const registry = createTestRegistry();
    await writeSite(registry, { 'index.md': '# Home', 'big.md': 'word '.repeat(60_000), 'logo.png': png });
    await deploy(registry);
    for (let run = 0; run < 3; run++) await collectGarbage(registry, { grace: 0, quarantine: 0 });
    expect((await fsck(registry)).damages).toEqual([]);
    const granted = await grantSite(registry, anonymous, handbook);
    await expect(openPage(registry, granted!, findPage(granted!, 'big.md')!)).resolves.toBeDefined();
  });

  test('a deleted site is gone, and its name can be used again', async () => {
    const registry = createTestRegistry();
    await writeSite(registry, { 'index.md': 'one' });
    await deploy(registry);
    await deleteRecord(registry, siteCoordinate(handbook), author);
    expect(await grantSite(registry, anonymous, handbook)).toBeNull();
    await createSiteRecord(registry, handbook, { title: 'Again', visibility: 'public' }, author);
    expect(await grantSite(registry, anonymous, handbook)).toBeNull();
    await writeSite(registry, { 'index.md': 'other' });
    expect(await deploy(registry)).toMatchObject({ outcome: 'published', deployment: { label: '1' } });
  });
});

describe('a check before publishing', () => {
  test('finds links, images, headings, pages and references that lead nowhere', async () => {
    const registry = createTestRegistry();
    const text = '[a](gone.md) [b](guide.md#no) [c](../out.md) ![d](no.png)\n\n::reference @acme/apis/none\n';
    const versions = [
      { title: 'None', folder: 'v9/' },
      { title: 'One', folder: 'v1/' },
    ];
    const files = { 'index.md': text, 'guide.md': '## Yes', 'v1/index.md': 'One' };
    await writeSite(registry, files, { navigation: [{ page: 'lost.md' }], versions });
    const made = await deploy(registry, handbook, true);
    expect(made.outcome).toBe('checked');
    expect(rulesOf(made).sort()).toEqual([
      'site-anchor-missing',
      'site-image-missing',
      'site-link-broken',
      'site-link-broken',
      'site-page-missing',
      'site-reference-missing',
      'site-version-missing',
    ]);
    expect((await findSite(registry, handbook))!.value.current).toBeNull();
  });

  test('names each page whose address another file has', async () => {
    const registry = createTestRegistry();
    const hidden = ['data.json.md', 'guide.md.md', 'llms.txt.md', 'search.json.md'];
    const seen = ['index.md', 'guide.md', 'guide/index.md', 'v1.0.md', 'other.json.md', 'sub/llms.txt.md'];
    const files = Object.fromEntries([...hidden, ...seen].map((path) => [path, `# ${path}`]));
    await writeSite(registry, { ...files, 'data.json': '{}' });
    const { report } = await deploy(registry);
    expect(report.problems.map(({ rule, file }) => [rule, file])).toEqual(
      hidden.map((path) => ['site-page-hidden', path]),
    );
  });

  test('blocks where the site asks for that', async () => {
    const registry = createTestRegistry();
    await writeSite(registry, { 'index.md': '[a](gone.md)' }, { blockOn: 'warn' });
    expect(await deploy(registry)).toMatchObject({ outcome: 'rejected' });
    await changeSite(registry, handbook, { blockOn: 'error' }, author);
    expect(await deploy(registry)).toMatchObject({ outcome: 'published' });
    expect(rulesOf(await deploy(registry))).toEqual(['site-link-broken']);
  });

  test('refuses redirects that loop, and sends nobody elsewhere', async () => {
    const registry = createTestRegistry();
    await writeSite(registry, { 'index.md': 'x' }, { redirects: { a: 'b', b: 'a' } });
    const made = await deploy(registry);
    expect(made.outcome).toBe('rejected');
    expect(new Set(rulesOf(made))).toEqual(new Set(['site-redirect-loop']));
    for (const to of ['https://evil.example/', '//evil.example', '/\\evil.example', '../out'])
      await expect(changeSite(registry, handbook, { redirects: { a: to } }, author)).rejects.toMatchObject({
        code: 'malformed',
      });
  });

  test('says of an API that the publisher may not read no more than of one that does not exist', async () => {
    const registry = createTestRegistry();
    await publishVersion(registry, '@other/apis/secret', '1.0.0', { visibility: 'private' });
    await writeSite(registry, { 'index.md': '::reference @other/apis/secret\n' });
    const { publishSite: publish, sentFiles } = await import('../../../src/sites/registry/publish-site.ts');
    const sent = await sentFiles(registry, handbook);
    const made = await publish(registry, { site: handbook, ...sent, reader: anonymous, author });
    expect(rulesOf(made)).toEqual(['site-reference-missing']);
  });

  test('reads an API once, however many of its operations pages embed', async () => {
    const registry = createTestRegistry();
    registry.compiler.outline = async () => ({ operations: [], truncated: false }) as unknown as Outline;
    await publishVersion(registry, '@acme/apis/pay', '1.0.0');
    const text = Array.from({ length: 40 }, (_, n) => `::operation @acme/apis/pay GET /none${n}\n`).join('\n');
    await writeSite(registry, { 'index.md': text, 'more.md': `${text}\n::operation @acme/apis/pay GET /more\n` });
    const read = vi.spyOn(registry.cache, 'get');
    const made = await deploy(registry, handbook, true);
    expect(rulesOf(made)).toEqual(Array(81).fill('site-operation-missing'));
    expect(read.mock.calls.filter(([name]) => name.startsWith('outline/'))).toHaveLength(1);
  });

  test('refuses a site whose pages have too much together, whatever it blocks on', () => {
    const page = (links: number) => ({ facts: { headings: [], links: Array(links), embeds: [] } }) as unknown as Page;
    expect(tooLarge({ 'a.md': page(100_000), 'b.md': page(99_998) })).toBeNull();
    expect(tooLarge({ 'a.md': page(100_000), 'b.md': page(99_999) })).toMatchObject({ rule: 'site-limit' });
  });

  test('needs a page', async () => {
    const registry = createTestRegistry();
    await writeSite(registry, { 'logo.png': png });
    expect(await deploy(registry)).toMatchObject({
      outcome: 'rejected',
      report: { problems: [{ rule: 'site-empty' }] },
    });
  });
});

describe('a file of a site', () => {
  test.each([
    ['../escape.md'],
    ['a//b.md'],
    ['.hidden.md'],
    ['a/.git/config.md'],
    ['con%2fig.md'],
    ['a\\b.md'],
    ['a\0.md'],
    ['intro.md/x.png'],
    ['llms.txt'],
    ['page.html'],
    ['page.mdx'],
    ['script.js'],
    ['style.css'],
    [`${'a/'.repeat(12)}b.md`],
    [`${'a'.repeat(300)}.md`],
  ])('cannot be %j', async (path) => {
    const registry = createTestRegistry();
    await writeSite(registry, {});
    await expect(putDraft(registry, handbook, path, Buffer.from('text'), author)).rejects.toMatchObject({
      code: 'unsupported_media_type',
    });
  });

  test('is what its bytes say, and HTML is never an image', async () => {
    const registry = createTestRegistry();
    await writeSite(registry, {});
    const html = Buffer.from('<html><script>alert(1)</script></html>');
    for (const path of ['a.png', 'a.jpg', 'a.gif', 'a.webp', 'a.svg', 'a.woff2', 'a.pdf', 'a.mp4'])
      await expect(putDraft(registry, handbook, path, html, author)).rejects.toMatchObject({
        code: 'unsupported_media_type',
      });
    await expect(putDraft(registry, handbook, 'a.png', png, author)).resolves.toMatchObject({
      file: { mediaType: 'image/png' },
    });
  });

  test('that two people change is changed by the first, and the second gets a conflict', async () => {
    const registry = createTestRegistry();
    await writeSite(registry, { 'index.md': 'one' });
    const [draft] = await listDrafts(registry, handbook);
    const guard = ({ generation }: { generation: number }) => {
      if (generation !== draft!.generation.generation) throw new Error('told');
    };
    const page = (markdown: string) => ({ title: 'Home', markdown, api: null });
    await putDraftPage(registry, handbook, 'index.md', page('mine'), author, guard);
    await expect(putDraftPage(registry, handbook, 'index.md', page('yours'), author, guard)).rejects.toThrow('told');
    await deleteDraft(registry, handbook, 'index.md', author);
    expect(await listDrafts(registry, handbook)).toEqual([]);
  });

  test('as a theme is a colour, or a file that fits and is not large', async () => {
    const registry = createTestRegistry();
    for (const accent of ['red', '#12', '#0a7d55;}body{background:url(//evil.example)', 'var(--x)', '#12345g'])
      await expect(writeSiteTheme({ accent })).rejects.toMatchObject({ code: 'malformed' });
    await expect(writeSiteTheme({ logo: 'https://evil.example/logo.png' })).rejects.toMatchObject({
      code: 'malformed',
    });
    await expect(writeSiteTheme({ font: 'logo.png' })).rejects.toMatchObject({ code: 'malformed' });
    await writeSite(
      registry,
      { 'index.md': 'x', 'logo.png': Buffer.concat([png, Buffer.alloc(1024 * 1024)]) },
      { theme: { logo: 'logo.png' } },
    );
    expect(rulesOf(await deploy(registry))).toEqual(['site-theme-too-large']);

    const faint = createTestRegistry();
    await writeSite(faint, { 'index.md': '# Home' }, { theme: { accent: '#fff', accentDark: '#ffcc00' } });
    const { report } = await deploy(faint);
    expect(report.problems.map(({ rule, message }) => `${rule}: ${message}`)).toEqual([
      'site-theme-faint: theme.accent is hard to read on light pages: its contrast is 1.0, and links need 4.5.',
    ]);

    async function writeSiteTheme(theme: Record<string, string>) {
      return createSiteRecord(createTestRegistry(), handbook, { title: 'x', theme }, author);
    }
  });
});

describe('reading a site', () => {
  test('does not look at all its pages again for each reader', async () => {
    const registry = createTestRegistry();
    await writeSite(registry, { 'index.md': '# Home', 'a.md': 'A' });
    await deploy(registry);
    const { contents } = (await grantSite(registry, anonymous, handbook))!;
    const { facts } = contents.pages['a.md']!;
    let looks = 0;
    Object.defineProperty(contents.pages['a.md'], 'facts', { get: () => (looks++, facts) });
    expect((await grantSite(registry, anonymous, handbook))!.contents).toBe(contents);
    expect(looks).toBe(0);
    expect(readingOrder(contents)).toEqual(['index.md', 'a.md']);
    const after = looks;
    readingOrder(contents);
    expect(looks).toBe(after);
  });

  test('does not list all its pages again for each page that is shown', () => {
    let lists = 0;
    const facts = { title: 'A', description: '', order: null, hidden: false, headings: [], links: [], embeds: [] };
    const page = { source: 'x', facts, bundle: digestOf('x'), at: 0, size: 0 };
    const pages = new Proxy({ 'index.md': page, 'a.md': page, 'b.md': page } as DeploymentContents['pages'], {
      ownKeys: (target) => (lists++, Reflect.ownKeys(target)),
    });
    const contents = { pages, settings: { navigation: null, versions: [] } } as unknown as DeploymentContents;
    const show = (path: string) => [shownNavigation(contents, path, '/'), neighboursOf(contents, path)];
    show('a.md');
    const once = lists;
    expect(show('b.md')[1]).toEqual({ previous: 'a.md', next: null });
    expect(lists).toBe(once);
  });
});
