import { join } from 'node:path';
import { digestOf } from '../../src/model/digest.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listReadable } from '../../src/registry/readable.ts';
import { createPulls } from '../../src/pulls/pulls.ts';
import { createSyncQueue } from '../../src/sync/queue.ts';
import { publicLogOf } from '../../src/registry/transparency/public-log.ts';
import { createApp } from '../../src/server/app.ts';
import { listen, type Listening } from '../../src/server/listen.ts';
import { ask, type Answer } from '../server/http.ts';
import { hasNginx, startNginx, type Nginx } from '../servers/nginx.ts';
import { build, filesIn, openFolder, textOf } from '../site/build/build-world.ts';
import { executablePath, openChromium, whySkipped } from './browser/chromium.ts';
import { openSite, type OpenSite } from './browser/site.ts';
import { sampleOf } from '../sample.ts';
import { docsWords } from '../site/docs/words.ts';
import {
  canary,
  comparedFields,
  crawl,
  imageHosts,
  offersToCompare,
  publishEverything,
  withoutOffer,
  withoutProof,
} from './static-world.ts';

/**
 * The static twin behind a real nginx, URL by URL beside the server. What nginx does otherwise is in content/docs/static-differences.md, which
 * `static-differences.thorough.test.ts` writes.
 */
const compared = [...comparedFields, 'content-encoding', 'content-length'];

const accepts = {
  nothing: undefined,
  anything: '*/*',
  json: 'application/json',
  openapi: 'application/vnd.oai.openapi+json;q=0.9, application/yaml;q=0.1',
  yaml: 'text/yaml',
  browser: 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8',
};
const codings = [undefined, 'br', 'gzip, deflate', 'zstd', 'gzip, deflate, br, zstd', 'br;q=0, gzip;q=0.5', 'identity'];

const canRun = hasNginx;
let site: OpenSite;

beforeAll(async () => {
  if (!canRun) return;
  site = await openSite({ cache: { pinned: 7200, latest: 30 }, ...imageHosts });
  await publishEverything(site);
});
afterAll(() => site?.[Symbol.asyncDispose]());

// At the root, nginx answers in static-differences, too.
describe.skipIf(!canRun).for(['/sub'])(
  `nginx under "%s" answers as the server does${hasNginx ? '' : ' (skipped: there is no nginx)'}`,
  (base) => {
    let server: Listening;
    let nginx: Nginx;
    let out: string;
    const ends: AsyncDisposable[] = [];

    beforeAll(async () => {
      const folder = await openFolder();
      ends.push(folder);
      const url = `http://registry.test${base}`;
      const registry = { ...site.registry, config: { ...site.registry.config, url } };
      await (await publicLogOf(registry))!.update();
      const app = createApp({ registry, queue: createSyncQueue(registry, createPulls), url, isReady: () => true });
      server = await listen(app, { host: '127.0.0.1', port: 0 });
      out = join(folder.path, 'site');
      await build(registry, out, { url, precompressed: 'all' });
      nginx = await startNginx(out);
    });

    afterAll(async () => {
      await nginx?.[Symbol.asyncDispose]();
      await server?.close(1000);
      for (const end of ends.toReversed()) await end[Symbol.asyncDispose]();
    });

    /** The same request to both. */
    async function both(path: string, headers: Record<string, string | undefined> = {}, method = 'GET') {
      const given = Object.entries(headers).flatMap(([name, value]) =>
        value === undefined ? [] : [[name, value] as const],
      );
      const [theirs, ours] = await Promise.all([
        ask(server.port, { method, target: `${base}${path}`, headers: given }),
        ask(nginx.port, { method, target: `${base}${path}`, headers: given }),
      ]);
      return { theirs, ours };
    }

    function summary(answer: Answer, hasOffer: boolean): Record<string, unknown> {
      const fields = Object.fromEntries(compared.map((name) => [name, withoutProof(answer.headers.get(name))]));
      const tag = answer.headers.has('repr-digest') ? answer.headers.get('etag') : undefined;
      if (hasOffer) Reflect.deleteProperty(fields, 'content-length');
      const body = hasOffer ? withoutOffer(answer.body, answer.headers.get('content-encoding')) : answer.body;
      return { status: answer.status, ...fields, etag: tag, body: digestOf(body) };
    }

    /** How the two answers differ, in words. */
    function differences(name: string, { theirs, ours }: { theirs: Answer; ours: Answer }): string[] {
      const hasOffer = offersToCompare(name.replaceAll(/^HEAD | as .*$/g, ''));
      const [expected, found] = [summary(theirs, hasOffer), summary(ours, hasOffer)];
      const names = theirs.status < 400 ? Object.keys(expected) : ['status'];
      return names.flatMap((field) =>
        expected[field] === found[field]
          ? []
          : [`${name}: ${field}: ${String(found[field])}, not ${String(expected[field])}`],
      );
    }

    test('every public URL, in every format and coding', async () => {
      const paths = await crawl(server.port, base);
      // Every format is asked for in every coding, of one path or of its neighbours.
      let turn = 0;
      expect(paths.size).toBeGreaterThan(80);
      const found: string[] = [];
      for (const path of paths) {
        for (const [name, accept] of Object.entries(accepts)) {
          // A search that programs ask for is work, and nginx does none.
          if (path === '/search' && name !== 'browser') continue;
          for (const coding of sampleOf(codings, 4, turn++)) {
            const question = `${path} as ${name}, ${coding ?? 'no coding'}`;
            found.push(...differences(question, await both(path, { Accept: accept, 'Accept-Encoding': coding })));
          }
        }
        found.push(...differences(`HEAD ${path}`, await both(path, { Accept: accepts.browser }, 'HEAD')));
      }
      expect(found.slice(0, 40)).toEqual([]);
    });

    test('versions by what stands for them: latest, digests, ranges, escapes, parameters', async () => {
      const pay = '/@acme/apis/pay';
      const manifest = (await versionsOf(pay)).find(({ version }) => version === '1.0.1')!.manifest;
      const paths = [
        `${pay}@latest`,
        `${pay}@latest.yaml`,
        `${pay}@latest/report`,
        `${pay}@${manifest}`,
        `${pay}@${manifest}.yaml`,
        `${pay}@${manifest}/index.md`,
        `${pay}?format=yaml`,
        `${pay}@1.0.1.json?format=yaml`,
        `${pay}/versions?limit=50`,
        `/%40acme/apis/pay%401.0.1`,
        `${pay}@edge%2B7f3a`,
        ...['1', '1.0', '^1', '^1.0', '^1.0.0', '~1', '~1.2', '~1.0.1'].map((range) => `${pay}@${range}`),
        `${pay}@^1.json`,
        `${pay}@%5E1/report`,
        `${pay}@1?format=yaml&a=b`,
        `${pay}@1/index.html`,
        ...['/diff', '/diff.md', '@1.0.1/diff', '@1.0.1/diff.json', '@1.0.0/diff', '@latest/diff', '@1/diff'].map(
          (rest) => `${pay}${rest}`,
        ),
        ...['md', 'html', 'json', 'yaml'].map((format) => `${pay}@1.0.1/diff?format=${format}`),
      ];
      const found: string[] = [];
      for (const path of paths) {
        for (const accept of [accepts.nothing, accepts.yaml, accepts.browser]) {
          const { theirs, ours } = await both(path, { Accept: accept });
          expect([200, 307, 406], path).toContain(theirs.status);
          // nginx writes a few words to whoever does not follow.
          if (theirs.status === 307) for (const each of [theirs, ours]) withoutBody(each);
          found.push(...differences(`${path} as ${accept}`, { theirs, ours }));
        }
      }
      expect(found).toEqual([]);
    });

    test('a page of a site has one address, and others lead to it', async () => {
      const at = '/sites/acme/handbook';
      const paths = ['', '/guide', '/guide/index', '/guide/index.html', '/guide/start.html', '/guide/start/', '/index'];
      paths.push('/old', '/old.html', '/older', '/older/', '/reference/', '/v1.2/notes.html');
      const found: string[] = [];
      for (const path of paths) {
        const { theirs, ours } = await both(`${at}${path}`, { Accept: accepts.browser });
        expect([path, theirs.status]).toEqual([path, 301]);
        for (const each of [theirs, ours]) withoutBody(each);
        found.push(...differences(path, { theirs, ours }));
      }
      expect(found).toEqual([]);
      const absent = ['/none', '/guide/start.md.html', '/logo.png.br', '/v1.2', '/index.html.gz', '/guide/start/x'];
      for (const path of [
        ...absent.map((each) => at + each),
        `/sites/acme/${canary}-site/`,
        '/sites/acme',
        '/sites/',
      ]) {
        const { theirs, ours } = await both(path, { Accept: accepts.browser });
        expect([path, theirs.status, ours.status]).toEqual([path, 404, 404]);
      }
    });

    test('what was withdrawn or deleted is gone, what is private or was never there is absent', async () => {
      const gone = ['/@acme/apis/pay@1.1.1', '/@acme/apis/pay@1.1.1.yaml', '/@acme/apis/pay@1.1.1/report'];
      gone.push('/@acme/apis/old', '/@acme/apis/old@1.0.0', '/@acme/apis/old@7', '/@acme/apis/old/versions');
      const absent = ['/@acme/apis/none', '/@acme/apis/pay@9.9.9', '/@acme/apis/pay@9', '/@nobody', '/none'];
      absent.push(`/@acme/apis/${canary}-api`, `/@acme/apis/${canary}-api@9.9.9-${canary}.json`, `/@${canary}-org`);
      absent.push(
        '/@acme/apis/p%61y',
        '//@acme/apis/pay',
        '/@acme/./apis/pay',
        '/@acme/x/../apis/pay',
        '/@acme/apis/pay/',
      );
      absent.push(
        '/@acme/apis/pay@1.0.0%0a',
        '/@acme/apis/pay%20',
        '/@acme/apis/PAY',
        '/@acme/apis/Pay@1.0.0',
        '/@acme/apis/pay@LATEST',
        '/@acme/apis/pay@Edge%2B7f3a',
        '/@acme/APIS/pay',
        '/@acme/apis/pay@1.0.0/versions',
      );
      const { manifest } = (await versionsOf('/@acme/apis/pay'))[0]!;
      absent.push(
        `/@acme/apis/pay@${manifest.toUpperCase()}`,
        `/@acme/apis/pay@${manifest.replace(/[a-f](?=[^:]*$)/, (digit) => digit.toUpperCase())}`,
      );
      for (const [status, paths] of [
        [410, gone],
        [404, absent],
      ] as const) {
        for (const path of paths) {
          for (const accept of [accepts.browser, accepts.json]) {
            const { theirs, ours } = await both(path, { Accept: accept });
            expect([theirs.status, ours.status], path).toEqual([status, status]);
            expect(ours.headers.get('content-type'), path).toBe(theirs.headers.get('content-type'));
            expect(ours.headers.get('cache-control'), path).toBe(theirs.headers.get('cache-control'));
            expect(ours.headers.get('content-security-policy'), path).toBe(
              theirs.headers.get('content-security-policy'),
            );
          }
        }
      }
      for (const path of [...gone.slice(0, 3), '/none', `/@${canary}-org`]) {
        const { theirs, ours } = await both(path, { Accept: accepts.browser });
        expect(ours.body.toString(), path).toBe(theirs.body.toString());
        const documents = await both(path, { Accept: accepts.json });
        const { instance: _, ...expected } = JSON.parse(documents.theirs.body.toString()) as Record<string, unknown>;
        expect(JSON.parse(documents.ours.body.toString())).toEqual(expected);
      }
    });

    test('nothing of how the build is made can be asked for', async () => {
      const paths = ['/.stele-build.json', '/rules/nginx-http.conf', '/rules/nginx-server.conf', '/404.html'];
      paths.push('/@acme/apis/pay@1.0.0.json.br', '/index.html.gz', '/@acme.json');
      for (const target of paths) {
        const { theirs, ours } = await both(target);
        expect([target, theirs.status, ours.status]).toEqual([target, 404, 404]);
      }
    });

    test('conditions: a document by its digest, in any coding; a page by the tag that nginx gives it', async () => {
      const path = '/@acme/apis/pay@1.0.1.json';
      for (const coding of ['br', undefined]) {
        const { theirs } = await both(path, { 'Accept-Encoding': coding });
        const tag = theirs.headers.get('etag')!;
        for (const value of [
          tag,
          `W/${tag}`,
          `"other", ${tag}`,
          `${tag}, "other"`,
          '*',
          '"other"',
          tag.replace('sha256', 'sha1'),
        ]) {
          const given = { 'Accept-Encoding': coding, 'If-None-Match': value };
          const answers = await both(path, given);
          expect(answers.ours.status, value).toBe(answers.theirs.status);
          expect(answers.ours.headers.get('etag')).toBe(tag);
          expect(answers.ours.headers.get('cache-control')).toBe(answers.theirs.headers.get('cache-control'));
          expect(answers.ours.headers.get('vary')).toBe(answers.theirs.headers.get('vary'));
        }
      }
      const page = { Accept: 'text/html', 'Accept-Encoding': 'br' };
      const { ours: first } = await both('/@acme/apis/pay', page);
      const { ours: second } = await both('/@acme/apis/pay', { ...page, 'If-None-Match': first.headers.get('etag') });
      expect([first.status, second.status]).toEqual([200, 304]);
      const { ours: plain } = await both('/@acme/apis/pay', {
        Accept: 'text/html',
        'If-None-Match': first.headers.get('etag'),
      });
      expect(plain.status).toBe(200);
    });

    test('ranges of a document', async () => {
      for (const range of [
        'bytes=0-9',
        'bytes=5-',
        'bytes=-7',
        'bytes=0-1,4-5',
        'bytes=0-99999999',
        'items=1-2',
        'bytes=99999999-',
      ]) {
        const { theirs, ours } = await both('/@acme/apis/pay@1.0.1.yaml', { Range: range });
        expect(ours.status, range).toBe(theirs.status);
        expect(ours.headers.get('content-range'), range).toBe(theirs.headers.get('content-range'));
        if (theirs.status < 300) expect(ours.body.toString(), range).toBe(theirs.body.toString());
      }
    });

    test('a script of another origin may ask before it sends what is unusual; nothing can be written', async () => {
      const given = { Origin: 'https://else.test', 'Access-Control-Request-Method': 'GET' };
      const fields = ['origin', 'methods', 'headers'].map((each) => `access-control-allow-${each}`);
      for (const path of ['/@acme/apis/pay@1.0.1', '/@acme/apis/pay@1.0.1.json']) {
        const { theirs, ours } = await both(path, given, 'OPTIONS');
        expect(ours.status).toBe(theirs.status);
        for (const name of [...fields, 'etag', 'repr-digest', 'link'])
          expect(ours.headers.get(name), name).toBe(theirs.headers.get(name));
      }
      for (const method of ['POST', 'PUT', 'DELETE', 'PATCH'])
        expect((await both('/@acme/apis/pay@1.0.1', {}, method)).ours.status, method).toBe(405);
    });

    test('no file names or contains what is private, in any coding', async () => {
      const there = await listReadable(site.registry, { kind: 'operator', id: 'test' });
      expect(there.filter(({ slug, org }) => `${org} ${slug}`.includes(canary))).toHaveLength(4);
      const files = await filesIn(out);
      expect(files.length).toBeGreaterThan(500);
      for (const path of files) {
        expect(path).not.toContain(canary);
        expect((await textOf(out, path)).includes(canary), path).toBe(false);
      }
    });

    test.skipIf(executablePath === undefined)(
      `a person finds an operation in a browser, and reads on${whySkipped}`,
      async () => {
        const origin = `http://127.0.0.1:${nginx.port}`;
        await using browser = await openChromium(origin);
        await using opened = await browser.open();
        const { page, wrong } = opened;
        await page.goto(`${origin}${base}/`);
        await page.getByRole('searchbox', { name: 'Search contracts' }).fill('listPayments');
        await page.keyboard.press('Enter');
        await page.locator('#found').getByRole('link', { name: '/payments' }).click();
        await page.getByRole('heading', { level: 1 }).waitFor();
        expect(new URL(page.url()).pathname).toBe(`${base}/@acme/apis/pay`);
        await page.getByText('About this version').click();
        await page.getByRole('link', { name: '1.0.1', exact: true }).first().click();
        await page.waitForURL(/pay@1\.0\.1$/);
        expect((await page.goto(`${origin}${base}/@acme/apis/pay@1.1.1`))?.status()).toBe(410);
        expect(await page.textContent('main')).toContain('it named a person');
        expect(wrong.filter((line) => !line.includes('410'))).toEqual([]);
      },
    );

    test.skipIf(executablePath === undefined)(
      `the box of the documentation finds its pages first, as on a server${whySkipped}`,
      async () => {
        const origin = `http://127.0.0.1:${nginx.port}`;
        await using browser = await openChromium(origin);
        await using opened = await browser.open();
        const { page, wrong } = opened;
        // The first words are there before the script is.
        await page.goto(`${origin}${base}/docs/`, { waitUntil: 'commit' });
        const box = page.getByRole('searchbox', { name: 'Search the documentation' });
        const hrefs = () =>
          page.evaluate<string[]>(
            `[...document.querySelectorAll('.find li a')].map((link) => link.getAttribute('href'))`,
          );
        for (const [words, place] of docsWords) {
          await box.fill(words);
          await expect
            .poll(async () => (await hrefs()).find((href) => href.includes('/docs/')))
            .toMatch(`${base}/docs/${place}`);
        }
        await box.fill('backup');
        await page.keyboard.press('Enter');
        await page.locator('#found h2', { hasText: 'Contracts' }).waitFor();
        const first = page.locator('#found li a').first();
        expect(await first.getAttribute('href')).toBe(`${base}/docs/operating#back-up`);
        expect(await page.locator('form.search input[name="in"]').inputValue()).toBe('docs');
        expect(wrong).toEqual([]);
      },
    );

    async function versionsOf(path: string): Promise<{ version: string; manifest: string }[]> {
      const { body } = await ask(server.port, { target: `${base}${path}/versions` });
      return (JSON.parse(body.toString()) as { items: { version: string; manifest: string }[] }).items;
    }
  },
);

/** What is beside the fields of a redirect. */
function withoutBody(answer: Answer): void {
  (answer.headers as Map<string, string>).delete('content-type');
  (answer.headers as Map<string, string>).delete('content-length');
  answer.body = Buffer.alloc(0);
}
