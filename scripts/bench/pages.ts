/**
 * The reference of documents of five sizes beside Redoc's, Scalar's and Swagger UI's, in one Chromium with an empty cache for each page, all compressed
 * with brotli at the level of Stele's server: bytes and requests, first contentful paint, when the first operation can be read, and when the page
 * answers (loaded, and the browser idle). Medians of several rounds, the four in turns; prints rows of the table in `docs/reference-pages.md`.
 *
 *   node scripts/bench/pages.ts [museum,dbt,intercom,zoom,github] [--rounds 3] [--patience 60] [--tools stele,redoc] [--peers folder/node_modules]
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { brotliCompress, constants, gunzipSync } from 'node:zlib';
import { chromium, type Browser } from 'playwright-core';
import { $, argv, echo } from 'zx';
import { runStele, serveStele } from '../../test/e2e/stele.ts';

const corpus = join(import.meta.dirname, '../../../shared/corpus/openapi');
const documents: Readonly<Record<string, string>> = {
  museum: 'company/museum-3.1.yaml',
  dbt: 'company/dbt-cloud-v3.yaml',
  intercom: 'company/intercom-2.11.yaml',
  zoom: 'huge/zoom-us-oneline.json.gz',
  github: 'huge/api.github.com.json.gz',
};
/** What is in a page as soon as its first operation can be read; `.index` is the overview of a long reference. */
const operations: Readonly<Record<string, string>> = {
  stele: '.operation, .index',
  redoc: '[data-section-id^="operation/"], [data-section-id*="paths/"]',
  scalar: '.section-content .section, [id*="/GET/"], [id*="/POST/"]',
  'swagger-ui': '.opblock',
};
const names = String(argv._[0] ?? Object.keys(documents).join(',')).split(',');
const tools = String(argv['tools'] ?? Object.keys(operations).join(',')).split(',');
const rounds = Number(argv['rounds'] ?? 3);
/** Milliseconds after which a page is given up. */
const patience = Number(argv['patience'] ?? 60) * 1000;

interface Measured {
  kilobytes: number;
  requests: number;
  /** Milliseconds from the start of the navigation; NaN if it did not come in time. */
  paint: number;
  readable: number;
  answers: number;
}

const root = await mkdtemp(join(tmpdir(), 'stele-pages-'));
const peers = await servePeers(await installed());
const config = join(root, 'config.mjs');
const organizations = { acme: { defaults: { visibility: 'public', validation: 'lenient' } } };
await writeFile(config, `export default ${JSON.stringify({ organizations })};`);
const common = ['--data', join(root, 'data'), '--config', config];
for (const name of names) {
  const file = join(root, basename(documents[name]!).replace(/\.gz$/, ''));
  await writeFile(file, await textOf(name));
  const published = await runStele(['publish', file, `@acme/apis/${name}`, ...common]);
  if (published.code !== 0) throw new Error(published.stderr);
}
const stele = await serveStele(common);
const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update'],
});
try {
  echo('| document | tool | KB | requests | first paint | readable | answers |');
  for (const name of names) await compare(name);
} finally {
  await browser.close();
  await stele.stop();
  peers.close();
  await rm(root, { recursive: true, force: true });
}

async function compare(name: string): Promise<void> {
  const results = new Map<string, Measured[]>(tools.map((tool) => [tool, []]));
  // Stele makes a page once, after it is published.
  if (tools.includes('stele')) await made(`${stele.url}/@acme/apis/${name}`);
  for (let round = 0; round < rounds; round++)
    for (const tool of tools) {
      const url = tool === 'stele' ? `${stele.url}/@acme/apis/${name}` : `${peers.url}/${tool}/${name}`;
      results.get(tool)!.push(await measure(browser, tool, url));
    }
  for (const [tool, all] of results) {
    const [kilobytes, requests, ...times] = (['kilobytes', 'requests', 'paint', 'readable', 'answers'] as const).map(
      (key) => median(all.map((each) => each[key])),
    );
    const seconds = times.map((time) => (Number.isNaN(time) ? `over ${patience / 1000}` : (time / 1000).toFixed(2)));
    echo(`| ${[name, tool, kilobytes!.toFixed(0), requests, ...seconds].join(' | ')} |`);
  }
}

/** Waits until a page is made: until then, a short one says so. */
async function made(url: string): Promise<void> {
  const answer = await fetch(url, { headers: { Accept: 'text/html' } });
  if (answer.ok && !(await answer.text()).includes('data-reload')) return;
  await delay(1000);
  await made(url);
}

async function measure(where: Browser, tool: string, url: string): Promise<Measured> {
  const context = await where.newContext({ viewport: { width: 1440, height: 900 } });
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  await session.send('Network.enable');
  let bytes = 0;
  let requests = 0;
  session.on('Network.loadingFinished', ({ encodedDataLength }) => {
    bytes += encodedDataLength;
    requests++;
  });
  const now = async (ready: Promise<unknown>) =>
    ready.then(
      () => page.evaluate<number>('performance.now()'),
      () => NaN,
    );
  await page.goto(url, { timeout: patience, waitUntil: 'commit' });
  const found = page.locator(operations[tool]!).first();
  const readable = await now(found.waitFor({ state: 'attached', timeout: patience }));
  const idle = `new Promise((resolve) => requestIdleCallback(() => requestIdleCallback(resolve)))`;
  const loaded = page.waitForLoadState('load', { timeout: patience }).then(() => page.evaluate(idle));
  const answers = await now(loaded);
  const paint = await page
    .evaluate<number>(`performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN`)
    .catch(() => NaN);
  await context.close();
  return { kilobytes: bytes / 1024, requests, paint, readable, answers };
}

/** The folder of the others' packages. */
async function installed(): Promise<string> {
  if (argv['peers'] !== undefined) return String(argv['peers']);
  const packages = ['redoc@2', '@scalar/api-reference@1', 'swagger-ui-dist@5'];
  const besides = ['react', 'react-dom', 'mobx', 'styled-components', 'core-js'];
  await $({
    cwd: root,
    quiet: true,
  })`npm install --no-save --no-audit --no-fund --ignore-scripts --prefix ${root} ${[...packages, ...besides]}`;
  return join(root, 'node_modules');
}

async function textOf(name: string): Promise<Uint8Array> {
  const raw = await readFile(join(corpus, documents[name]!));
  return documents[name]!.endsWith('.gz') ? gunzipSync(raw) : raw;
}

/** Serves a page of each tool for each document, as each one's own first steps show it. */
async function servePeers(folder: string): Promise<{ url: string; close(): void }> {
  const compress = promisify(brotliCompress);
  const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } };
  const files = new Map<string, { type: string; bytes: Uint8Array }>();
  const put = async (path: string, type: string, bytes: Uint8Array | string) =>
    void files.set(path, { type, bytes: await compress(bytes, quality) });
  const script = (path: string) => readFile(join(folder, path));
  await put('/redoc.js', 'text/javascript', await script('redoc/bundles/redoc.standalone.js'));
  await put('/scalar.js', 'text/javascript', await script('@scalar/api-reference/dist/browser/standalone.js'));
  await put('/swagger-ui.js', 'text/javascript', await script('swagger-ui-dist/swagger-ui-bundle.js'));
  await put('/swagger-ui.css', 'text/css', await script('swagger-ui-dist/swagger-ui.css'));
  for (const name of names) {
    const spec = `/spec/${basename(documents[name]!).replace(/\.gz$/, '')}`;
    await put(spec, spec.endsWith('json') ? 'application/json' : 'application/yaml', await textOf(name));
    const bodies = {
      redoc: `<redoc spec-url="${spec}"></redoc><script src="/redoc.js"></script>`,
      scalar: `<div id="ui"></div><script src="/scalar.js"></script><script>Scalar.createApiReference('#ui',{url:'${spec}'})</script>`,
      'swagger-ui': `<link rel="stylesheet" href="/swagger-ui.css"><div id="ui"></div><script src="/swagger-ui.js"></script><script>SwaggerUIBundle({url:'${spec}',dom_id:'#ui'})</script>`,
    };
    for (const [tool, body] of Object.entries(bodies))
      await put(
        `/${tool}/${name}`,
        'text/html',
        `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>x</title></head><body>${body}</body></html>`,
      );
  }
  const server = createServer((request, response) => {
    const file = files.get(request.url!);
    if (!file) return void response.writeHead(404).end();
    const { type, bytes } = file;
    response.writeHead(200, { 'content-type': type, 'content-encoding': 'br', 'content-length': bytes.byteLength });
    response.end(bytes);
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, close: () => void server.close() };
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1]!;
}
