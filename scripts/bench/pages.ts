/**
 * The reference page of a large document beside Redoc's and Swagger UI's, in one Chromium: bytes over the wire (all brotli), time to the first contentful
 * paint, and to the full text (20 operations' summaries from all over the document are there). Medians of several rounds, the three in turns.
 *
 *   node scripts/bench/pages.ts ../shared/corpus/openapi/huge/api.github.com.json.gz [--rounds 5] [--patience 120] [--without swagger-ui]
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
import { $, argv } from 'zx';
import { runStele, serveStele } from '../../test/e2e/stele.ts';

const file = String(argv._[0] ?? '../shared/corpus/openapi/huge/api.github.com.json.gz');
const rounds = Number(argv['rounds'] ?? 5);
/** Milliseconds after which a page is given up: its full text counts as never there. */
const patience = Number(argv['patience'] ?? 120) * 1000;
const compress = promisify(brotliCompress);
// The quality that Stele's server packs pages with.
const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } };

const root = await mkdtemp(join(tmpdir(), 'stele-pages-'));
const raw = await readFile(file);
const text = file.endsWith('.gz') ? gunzipSync(raw) : raw;
const name = join(root, basename(file).replace(/\.gz$/, ''));
await writeFile(name, text);
const config = join(root, 'config.mjs');
const organizations = { acme: { defaults: { visibility: 'public', validation: 'lenient' } } };
await writeFile(config, `export default ${JSON.stringify({ organizations })};`);
const common = ['--data', join(root, 'data'), '--config', config];
const published = await runStele(['publish', name, '@acme/apis/large', ...common]);
if (published.code !== 0) throw new Error(published.stderr);
await $({
  cwd: root,
  quiet: true,
})`npm install --no-save --no-audit --no-fund --ignore-scripts --prefix ${root} redoc@2 swagger-ui-dist@5 react react-dom mobx styled-components core-js`;

const html = (body: string) =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>x</title></head><body>${body}</body></html>`;
const script = (path: string) => readFile(join(root, 'node_modules', path));
const files = new Map<string, { type: string; bytes: Uint8Array }>();
async function put(path: string, type: string, bytes: Uint8Array | string): Promise<void> {
  files.set(path, { type, bytes: await compress(bytes, quality) });
}
await put('/redoc', 'text/html', html('<redoc spec-url="/spec.json"></redoc><script src="/redoc.js"></script>'));
await put('/redoc.js', 'text/javascript', await script('redoc/bundles/redoc.standalone.js'));
await put('/swagger-ui.js', 'text/javascript', await script('swagger-ui-dist/swagger-ui-bundle.js'));
await put('/swagger-ui.css', 'text/css', await script('swagger-ui-dist/swagger-ui.css'));
const start = 'SwaggerUIBundle({ url: "/spec.json", dom_id: "#ui" })';
await put(
  '/swagger',
  'text/html',
  html(
    `<link rel="stylesheet" href="/swagger-ui.css"><div id="ui"></div><script src="/swagger-ui.js"></script><script>${start}</script>`,
  ),
);

const stele = await serveStele(common);
const json = await (await fetch(`${stele.url}/@acme/apis/large.json`)).text();
await put('/spec.json', 'application/json', json);
const server = createServer((request, response) => {
  const found = files.get(request.url!);
  if (!found) return void response.writeHead(404).end();
  response.writeHead(200, {
    'content-type': found.type,
    'content-encoding': 'br',
    'content-length': found.bytes.byteLength,
  });
  response.end(found.bytes);
});
await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
const peers = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium',
  args: [
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
  ],
});
const without = String(argv['without'] ?? '');
const pages = Object.entries({
  stele: `${stele.url}/@acme/apis/large`,
  redoc: `${peers}/redoc`,
  'swagger-ui': `${peers}/swagger`,
}).filter(([peer]) => peer !== without);
const wanted = summariesOf(json);
const results = new Map<string, Measured[]>();
try {
  for (let round = 0; round <= rounds; round++) {
    for (const [peer, url] of pages) {
      const measured = await measure(browser, url, wanted);
      // The first round warms everybody up: Stele renders its page once, and keeps it.
      if (round > 0) results.set(peer, [...(results.get(peer) ?? []), measured]);
    }
  }
} finally {
  await browser.close();
  await stele.stop();
  server.close();
  await rm(root, { recursive: true, force: true });
}
for (const [peer, all] of results) console.log(`${peer.padEnd(11)} ${describe(all)}`);
for (const key of ['bytes', 'paint', 'full'] as const) {
  const [ours, ...others] = pages.map(([peer]) => median(results.get(peer)!.map((each) => each[key])));
  console.log(`${key}: ${(ours! / Math.min(...others)).toFixed(2)} × the better of the others`);
}

interface Measured {
  /** Over the wire, bodies and headers. */
  bytes: number;
  /** Milliseconds from the start of the navigation. */
  paint: number;
  full: number;
}

async function measure(where: Browser, url: string, texts: readonly string[]): Promise<Measured> {
  const context = await where.newContext({ viewport: { width: 1440, height: 900 } });
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  await session.send('Network.enable');
  let bytes = 0;
  session.on('Network.loadingFinished', ({ encodedDataLength }) => void (bytes += encodedDataLength));
  const started = Date.now();
  void page.goto(url, { timeout: patience }).catch(() => undefined);
  const hasAll = `(() => { const text = document.body ? document.body.textContent : ''; return ${JSON.stringify(texts)}.every((each) => text.includes(each)); })()`;
  // Asking costs the page time, so not too often.
  let hasText = false;
  while (!hasText && Date.now() - started < patience) {
    await delay(100);
    hasText = await page.evaluate<boolean>(hasAll).catch(() => false);
  }
  const full = hasText ? Date.now() - started : Infinity;
  if (hasText) await page.waitForLoadState('load', { timeout: 60_000 });
  const paint = await page.evaluate<number>(
    `performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN`,
  );
  await context.close();
  return { bytes, paint, full };
}

/** Summaries of 20 operations from all over the document. */
function summariesOf(document: string): string[] {
  const { paths } = JSON.parse(document) as { paths: Record<string, Record<string, { summary?: string }>> };
  const all = Object.values(paths).flatMap((item) =>
    Object.values(item).flatMap(({ summary }) => (typeof summary === 'string' ? [summary.trim()] : [])),
  );
  return Array.from({ length: 20 }, (_, n) => all[Math.floor((n * (all.length - 1)) / 19)]!);
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1]!;
}

function describe(all: readonly Measured[]): string {
  const [bytes, paint, full] = (['bytes', 'paint', 'full'] as const).map((key) => median(all.map((each) => each[key])));
  return `${(bytes! / 1024).toFixed(0)} KB, first paint ${paint!.toFixed(0)} ms, full text ${full!.toFixed(0)} ms (${all.length} rounds)`;
}
