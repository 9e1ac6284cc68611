import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createApp } from '../../../src/server/app.ts';
import { listen, type Listening } from '../../../src/server/listen.ts';
import { docMarkdownPath, docPath, readDocs } from '../../../src/site/docs/docs.ts';
import { ask, type Answer } from '../http.ts';
import { createTestQueue, createTestRegistry } from '../registry.ts';

const names = readDocs().map(({ name }) => name);

/** The documentation, as it is served: at the root, and below a path. */
describe.each(['http://registry.test', 'http://registry.test/contracts'])('at %s', (url) => {
  let server: Listening;
  const base = new URL(url).pathname.replace(/\/$/, '');

  beforeAll(async () => {
    const registry = createTestRegistry();
    const queue = createTestQueue(registry);
    server = await listen(createApp({ registry, queue, url, isReady: () => true }), { host: '127.0.0.1', port: 0 });
  });
  afterAll(() => server.close(0));

  const get = (target: string, accept = 'text/html', more: [string, string][] = []): Promise<Answer> =>
    ask(server.port, { target: base + target, headers: [['Accept', accept], ...more] });

  const known = new Map<string, Promise<number>>();
  function statusOf(path: string): Promise<number> {
    if (!known.has(path))
      known.set(
        path,
        get(path).then(({ status }) => status),
      );
    return known.get(path)!;
  }

  test.each(names)('%s is a page whose links all lead to an answer', async (name) => {
    const page = await get(docPath(name));
    expect(page.status).toBe(200);
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    const html = page.body.toString();
    expect(html).not.toMatch(/<[^>]*\s(?:style|on[a-z]+)=/);
    expect(html).not.toContain('<!-- stele');
    expect(html).not.toContain('&lt;!--');
    const paths = [...html.matchAll(/href="([^"#]+)/g)].map(([, href]) => href!).filter((href) => href.startsWith('/'));
    expect(paths.length).toBeGreaterThan(names.length);
    for (const path of new Set(paths)) {
      expect(path.startsWith(`${base}/`), path).toBe(true);
      expect(await statusOf(path.slice(base.length).replaceAll('&amp;', '&')), path).toBe(200);
    }
  });

  test.each(names)('%s is Markdown for whoever asks for that, with whole links', async (name) => {
    const chosen = await get(docPath(name), 'text/markdown, text/html;q=0.5');
    const named = await get(docMarkdownPath(name), '*/*');
    expect(named.headers.get('content-type')).toBe('text/markdown; charset=utf-8');
    expect(chosen.body.equals(named.body)).toBe(true);
    const text = named.body.toString();
    expect(text).toMatch(/^# \S/);
    expect(text).not.toMatch(/^---$/m);
    expect(text).not.toMatch(/\]\([a-z-]+\.md/);
    for (const [, path] of text.matchAll(/\]\(http:\/\/registry\.test([^)#]*)/g)) {
      expect(path!.startsWith(`${base}/`)).toBe(true);
      expect(await statusOf(path!.slice(base.length)), path).toBe(200);
    }
  });

  test('discovery documents list every page', async () => {
    const llms = (await get('/llms.txt')).body.toString();
    const sitemap = (await get('/sitemap.xml')).body.toString();
    for (const name of names) {
      expect(llms).toContain(`](${url}${docMarkdownPath(name)})`);
      expect(sitemap).toContain(`<loc>${url}${docPath(name)}</loc>`);
    }
  });

  test('both addresses of the first page answer; what is not a page does not', async () => {
    expect((await get('/docs')).body.equals((await get('/docs/')).body)).toBe(true);
    for (const path of [
      '/docs/absent',
      '/docs/index',
      '/docs/..%2foperating',
      '/docs/operating/more',
      '/docs/constructor',
    ])
      expect((await get(path)).status, path).toBe(404);
  });

  test('conditions, codings, methods', async () => {
    const page = await get('/docs/urls');
    expect(page.headers.get('vary')).toBe('Accept, Accept-Encoding');
    expect(page.headers.get('cache-control')).toBe('public, max-age=60, must-revalidate');
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect((await get('/docs/urls', 'text/html', [['If-None-Match', page.headers.get('etag')!]])).status).toBe(304);
    const coded = await get('/docs/urls', 'text/html', [['Accept-Encoding', 'br']]);
    expect(coded.headers.get('content-encoding')).toBe('br');
    const head = await ask(server.port, { method: 'HEAD', target: `${base}/docs/urls` });
    expect([head.status, head.body.byteLength]).toEqual([200, 0]);
    expect((await ask(server.port, { method: 'POST', target: `${base}/docs/urls` })).status).toBe(405);
  });
});
