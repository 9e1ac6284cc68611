import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createPulls } from '../../src/pulls/pulls.ts';
import { createResource } from '../../src/registry/change-resource.ts';
import { parseCheckpoint } from '../../src/model/transparency/checkpoint.ts';
import { tilePath, tilesOf } from '../../src/model/transparency/tree.ts';
import { createApp } from '../../src/server/app.ts';
import { listen, type Listening } from '../../src/server/listen.ts';
import { createSyncQueue } from '../../src/sync/queue.ts';
import { ask, type Answer } from '../server/http.ts';
import { hasNginx, startNginx } from '../servers/nginx.ts';
import { build, filesIn, openFolder, textOf } from '../site/build/build-world.ts';
import { openSite } from './browser/site.ts';
import { describeAnswer, differencesPage, probes, type Probe } from './static-differences.ts';
import { publishEverything } from './static-world.ts';

const pinned = '/@acme/apis/pay@1.0.1.json';

describe.skipIf(!hasNginx)(`the twin of a registry${hasNginx ? '' : ' (skipped: there is no nginx)'}`, () => {
  const ends: AsyncDisposable[] = [];
  const ports = { registry: 0, nginx: 0 };
  let server: Listening;
  let out: string;

  beforeAll(async () => {
    const folder = await openFolder();
    const site = await openSite({ url: 'http://registry.test' });
    ends.push(folder, site);
    const { registry } = site;
    await publishEverything(site);
    const author = { actor: 'operator:test', origin: null };
    const soon = { name: 'Soon', visibility: 'public' as const };
    await createResource(registry, { org: 'acme', type: 'apis', slug: 'soon' }, soon, author);
    await createResource(registry, { org: 'later', type: 'apis', slug: 'alone' }, soon, author);
    const url = 'http://registry.test';
    const app = createApp({ registry, queue: createSyncQueue(registry, createPulls), url, isReady: () => true });
    server = await listen(app, { host: '127.0.0.1', port: 0 });
    out = join(folder.path, 'site');
    await build(registry, out, { url, precompressed: 'all' });
    const nginx = await startNginx(out);
    ends.push(nginx);
    Object.assign(ports, { registry: server.port, nginx: nginx.port });
  });

  afterAll(async () => {
    for (const end of ends.toReversed()) await end[Symbol.asyncDispose]();
    await server?.close(1000);
  });

  test('the public log and attestations', async () => {
    const found: string[] = [];
    const { body } = await ask(ports.registry, { target: '/log/checkpoint', headers: [] });
    const tiles = [...tilesOf(parseCheckpoint(body.toString())!.size)].map(tilePath);
    expect(tiles.length).toBeGreaterThan(1);
    const paths = [...['checkpoint', 'key', 'key.pem', 'key.proof', ...tiles, 'tile/0/999', 'other'].map((name) => `/log/${name}`), '/apis.json', '/@acme/catalog.json', '/@acme/catalog-info.yaml', '/@acme/apis/pay@1.0.1.json', '/@acme/apis/pay@1.0.1/report', '/@acme/apis/pay@1.2.0/provenance', '/@acme/apis/pay@1.0.1/provenance', '/@acme/apis/pay@1.0.1/attestation', '/@acme/apis/pay/attestation']; // prettier-ignore
    for (const target of paths) {
      const headers: [string, string][] = [['Accept', '*/*']];
      const [theirs, ...ours] = await Promise.all(Object.values(ports).map((port) => ask(port, { target, headers })));
      for (const each of ours) {
        if (each.status !== theirs!.status) found.push(`${target}: ${each.status}, not ${theirs!.status}`);
        if (theirs!.status !== 200) continue;
        for (const field of ['content-type', 'cache-control'])
          if (each.headers.get(field) !== theirs!.headers.get(field))
            found.push(
              `${Object.keys(ports)[1 + ours.indexOf(each)]} ${target}: ${field}: ${each.headers.get(field)}, not ${theirs!.headers.get(field)}`,
            );
        if (!each.body.equals(theirs!.body)) found.push(`${target}: other bytes`);
      }
    }
    expect(found).toEqual([]);
  });

  async function send(to: keyof typeof ports, probe: Omit<Probe, 'name'>): Promise<Answer> {
    const { target, method = 'GET', tagIn } = probe;
    const headers = Object.entries(probe.headers ?? {});
    if (tagIn !== undefined) {
      const { headers: fields } = await ask(ports[to], { target, headers: Object.entries(probe.headers ?? {}) });
      headers.push([tagIn, fields.get('etag')!]);
    }
    return ask(ports[to], { target, method, headers });
  }

  const twins = ['nginx'] as const;

  test('content/docs/static-differences.md lists what nginx answers otherwise', async () => {
    const rows: [string, string, string][] = [];
    for (const probe of probes) {
      const [registry, nginx] = await Promise.all(
        (['registry', 'nginx'] as const).map(async (to) => describeAnswer(await send(to, probe), probe)),
      );
      rows.push([probe.name, registry!, nginx!]);
    }
    await expect(differencesPage(rows)).toMatchFileSnapshot('../../content/docs/static-differences.md');
  });

  const refusals: [string, Omit<Probe, 'name'>, number][] = [
    ['If-Match that does not hold', { target: pinned, headers: { 'If-Match': '"x"' } }, 412],
    ['a range past the end', { target: pinned, headers: { Range: 'bytes=99999999-' } }, 416],
    ['POST', { target: pinned, method: 'POST' }, 405],
    ['what is absent', { target: '/@acme/apis/none.json' }, 404],
    ['part of what is absent', { target: '/none', headers: { Range: 'bytes=0-3' } }, 404],
    ['what is absent, unless it is there', { target: '/@acme/apis/none', headers: { 'If-None-Match': '*' } }, 404],
    ['what is absent, as a page', { target: '/@acme/apis/none', headers: { Accept: 'text/html' } }, 404],
    ['what was withdrawn', { target: '/@acme/apis/pay@1.1.1' }, 410],
  ];

  test.for(twins.flatMap((twin) => refusals.map(([name, probe, status]) => [twin, name, probe, status] as const)))(
    '%s: %s has no field of a success, and none twice',
    async ([twin, , probe, status]) => {
      const [theirs, ours] = [await send('registry', probe), await send(twin, probe)];
      expect([theirs.status, ours.status]).toEqual([status, status]);
      expect(ours.headers.get('cache-control')).toBe('no-store');
      expect(ours.headers.get('content-type')).toBe(theirs.headers.get('content-type'));
      for (const name of ['etag', 'last-modified', 'link', 'content-location', 'repr-digest', 'content-encoding'])
        expect(ours.headers.get(name), name).toBeUndefined();
      for (const name of ['allow', 'content-range']) expect(ours.headers.get(name)).toBe(theirs.headers.get(name));
      const names = ours.head
        .split('\r\n')
        .slice(1)
        .map((line) => line.split(':')[0]!.toLowerCase());
      expect(names.toSorted()).toEqual([...new Set(names)].toSorted());
    },
  );

  test.for(twins)('%s: no field of a success twice, whatever is asked for', async (twin) => {
    for (const request of [
      pinned,
      '/@acme/apis/pay',
      '/@acme/apis/pay/versions',
      '/',
      '/llms.txt',
      '/@shop/rulesets/style',
      'OPTIONS /@acme/apis/old',
    ]) {
      const [target, method] = request.split(' ').toReversed() as [string, string?];
      for (const headers of [{ Accept: 'text/html' }, { 'Accept-Encoding': 'br' }, { Range: 'bytes=0-3' }]) {
        const { head } = await send(twin, { target, headers, ...(method && { method }) });
        const names = head
          .split('\r\n')
          .slice(1)
          .map((line) => line.split(':')[0]!.toLowerCase());
        expect(names.toSorted(), `${request} ${JSON.stringify(headers)}`).toEqual([...new Set(names)].toSorted());
      }
    }
  });

  test.for(twins)('%s: a 304 says nothing of the content but, at most, its true length', async (twin) => {
    for (const headers of [{}, { 'Accept-Encoding': 'br' }]) {
      const whole = await send(twin, { target: pinned, headers });
      const same = await send(twin, { target: pinned, headers, tagIn: 'If-None-Match' });
      expect(same.status).toBe(304);
      expect([undefined, whole.headers.get('content-length')]).toContain(same.headers.get('content-length'));
      for (const name of ['content-type', 'content-encoding', 'repr-digest'])
        expect(same.headers.get(name), name).toBeUndefined();
      expect(same.headers.get('etag')).toBe(whole.headers.get('etag'));
      expect(same.headers.get('cache-control')).toBe(whole.headers.get('cache-control'));
    }
  });

  test.for(twins)('%s: a site is served as the registry does', async (twin) => {
    const at = '/sites/acme/handbook';
    const paths = ['/', '/guide/start', '/v1.2/notes', '/guide/start.md', '/llms.txt', '/sitemap.xml', '/theme.css'];
    paths.push('/logo.png', '/guide/drawing.svg', '/data/list.CSV', '/search.json', '/data/list.json', '/feed.atom');
    paths.push('', '/guide', '/old', '/guide/start.html', '/guide/index.html', '/none', '/logo.png.br');
    const names = ['content-type', 'location', 'content-security-policy', 'cache-control', 'x-content-type-options'];
    const found: string[] = [];
    for (const path of paths) {
      const probe = { target: at + path, headers: { Accept: 'text/html' } };
      const [theirs, ours] = await Promise.all([send('registry', probe), send(twin, probe)]);
      const told = ({ status, headers }: Answer) =>
        [status, ...names.map((name) => (status === 301 && name === 'content-type' ? '' : headers.get(name)))].join();
      if (told(theirs) !== told(ours)) found.push(`${path}: ${told(ours)}, not ${told(theirs)}`);
      if (theirs.status === 200 && !theirs.body.equals(ours.body)) found.push(`${path}: other bytes`);
    }
    expect(found).toEqual([]);
  });

  test('nginx weighs what Accept-Encoding names as the registry does', async () => {
    const weights = ['', ';q=1', ';q=1.000', ';q=0', ';q=0.0', ';q=0.5', ';q=0.50', ';q=0.499', ';q=0.001', '; q=0.9'];
    const found: string[] = [];
    for (const [index, br] of weights.entries()) {
      for (const gzip of weights.slice(0, 8)) {
        const third = ['', ', *', ', *;q=0.7', ', identity', ', zstd;q=0.5', ', identity;q=0', ', *;q=0'][index % 7]!;
        for (const value of [`br${br}, gzip${gzip}${third}`, `gzip${gzip} ,BR${br}${third}`]) {
          const probe = { target: pinned, headers: { 'Accept-Encoding': value } };
          const [theirs, ours] = await Promise.all([send('registry', probe), send('nginx', probe)]);
          const [expected, seen] = [theirs, ours].map(
            ({ status, headers }) => `${status} ${headers.get('content-encoding')} ${headers.get('etag')}`,
          );
          if (seen !== expected) found.push(`${value}: ${seen}, not ${expected}`);
        }
      }
    }
    expect(found).toEqual([]);
  });

  test('every range that begins at or below a published minor leads where the registry leads', async () => {
    const found: string[] = [];
    for (const start of ['1', '1.0', '1.1', '1.2', '1.0.0', '1.0.1', '1.1.0', '1.1.1', '1.2.0', '2', '2.0']) {
      for (const sign of ['', '^', '~']) {
        const target = `/@acme/apis/pay@${sign}${start}`;
        const [theirs, ...ours] = await Promise.all(
          (['registry', ...twins] as const).map(async (to) => {
            const { status, headers } = await send(to, { target });
            return `${target}: ${status} ${headers.get('location')}`;
          }),
        );
        for (const our of ours) if (our !== theirs) found.push(`${our}, not ${theirs}`);
      }
    }
    expect(found).toEqual([]);
  });

  test('what has no version is in no list, and has its page', async () => {
    const files = await filesIn(out);
    const mine = files.filter((path) => /^@acme\/apis\/soon[/.]|^@later/.test(path));
    expect(mine.filter((path) => !/\.(?:br|gz|zst)$/.test(path))).toEqual([
      '@acme/apis/soon/index.html',
      '@acme/apis/soon/versions.json',
      '@acme/apis/soon/versions/index.html',
      '@later/apis/alone/index.html',
      '@later/apis/alone/versions.json',
      '@later/apis/alone/versions/index.html',
    ]);
    const lists = files.filter(
      (path) => !mine.includes(path) && !path.startsWith('rules/') && path !== '.stele-build.json',
    );
    for (const path of lists) expect(await textOf(out, path), path).not.toMatch(/apis\/soon|@later/);
    for (const twin of twins) {
      const [theirs, ours] = await Promise.all(
        (['registry', twin] as const).map((to) =>
          send(to, { target: '/@acme/apis/soon', headers: { Accept: 'text/html' } }),
        ),
      );
      for (const name of ['cache-control', 'vary', 'content-location', 'content-type'])
        expect(ours!.headers.get(name), `${twin} ${name}`).toBe(theirs!.headers.get(name));
      expect(ours!.body.toString()).toBe(theirs!.body.toString());
    }
  });
});
