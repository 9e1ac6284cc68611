/**
 * The pages of long documents each in a Chromium of its own: the overview, the longest part and the whole. Compressed bytes,
 * elements, first contentful paint, readable (the first operation or the overview is on the screen), ready (loaded, and one frame drawn after
 * it), and the seconds of processor time of the page's main thread until then, which count on a busy machine, too. Medians.
 *
 *   node scripts/bench/parts.ts [plaid,github] [--rounds 3] [--throttle 4]
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { chromium } from 'playwright-core';
import { argv, echo } from 'zx';
import { runStele, serveStele } from '../../test/e2e/stele.ts';

const corpus = join(import.meta.dirname, '../../../shared/corpus/openapi');
const documents: Readonly<Record<string, string>> = {
  intercom: 'company/intercom-2.11.yaml',
  freee: 'company/freee-accounting-api-schema.json',
  asana: 'huge/asana_oas.yaml.gz',
  klaviyo: 'huge/klaviyo-stable.json.gz',
  plaid: 'huge/plaid-2020-09-14.yml.gz',
  zoom: 'huge/zoom-us-oneline.json.gz',
  github: 'huge/api.github.com.json.gz',
};
const names = String(argv._[0] ?? Object.keys(documents).join(',')).split(',');
const rounds = Number(argv['rounds'] ?? 3);
const throttle = Number(argv['throttle'] ?? 1);
const measures = [
  'kilobytes',
  'elements',
  'answer',
  'paint',
  'readable',
  'ready',
  'processor',
  'style',
  'layout',
  'script',
] as const;
type Measured = Record<(typeof measures)[number], number>;

/** In the page, since a page that is busy answers late: notes the frame that shows the first operation, schema or index. */
const noteReadable = `
  globalThis.readable = NaN;
  new MutationObserver((_, observer) => {
    if (document.querySelector('.operation, .schema, .index') === null) return;
    observer.disconnect();
    requestAnimationFrame(() => setTimeout(() => (globalThis.readable = performance.now())));
  }).observe(document, { childList: true, subtree: true });
`;

const root = await mkdtemp(join(tmpdir(), 'stele-parts-'));
const config = join(root, 'config.mjs');
const organizations = { acme: { defaults: { visibility: 'public', validation: 'lenient' } } };
await writeFile(config, `export default ${JSON.stringify({ organizations })};`);
const common = ['--data', join(root, 'data'), '--config', config];
for (const name of names) {
  const raw = await readFile(join(corpus, documents[name]!));
  const file = join(root, basename(documents[name]!).replace(/\.gz$/, ''));
  await writeFile(file, documents[name]!.endsWith('.gz') ? gunzipSync(raw) : raw);
  const published = await runStele(['publish', file, `@acme/apis/${name}`, ...common]);
  if (published.code !== 0) throw new Error(published.stderr);
}
const stele = await serveStele(common);
try {
  echo(`| document | page | ${measures.join(' | ')} | load |`);
  for (const name of names)
    for (const [page, url] of await pagesOf(name)) {
      const all: Measured[] = [];
      for (let round = 0; round < rounds; round++) all.push(await measure(url));
      const medians = measures.map((key) => all.map((each) => each[key]).toSorted((a, b) => a - b)[rounds >> 1]!);
      const texts = medians.map((value, at) => value.toFixed(at < 2 ? 0 : 2));
      echo(`| ${[name, page, ...texts, loadavg()[0]!.toFixed(1)].join(' | ')} |`);
    }
} finally {
  await stele.stop();
  await rm(root, { recursive: true, force: true });
}

/** The page of a document; of a long one, its longest part and the whole, too. */
async function pagesOf(name: string): Promise<[string, string][]> {
  const url = `${stele.url}/@acme/apis/${name}`;
  const html = await textOf(url);
  const links = [...new Set(html.match(/(?<=href=")[^"#]*\/part-[^"#]*/g) ?? [])].map(
    (path) => new URL(path, url).href,
  );
  if (links.length === 0) return [['one page', url]];
  const whole = links.find((link) => link.endsWith('/part-whole'))!;
  const lengths = new Map<string, number>();
  for (const link of links) if (link !== whole) lengths.set(link, (await textOf(link)).length);
  const [longest] = [...lengths].toSorted(([, a], [, b]) => b - a)[0]!;
  return [
    ['overview', url],
    [`longest of ${lengths.size}: ${decodeURIComponent(longest.split('/part-').at(-1)!)}`, longest],
    ['whole', whole],
  ];
}

/** A page, as soon as it is made. */
async function textOf(url: string): Promise<string> {
  const answer = await fetch(url, { headers: { Accept: 'text/html' } });
  const text = await answer.text();
  if (answer.ok) return text;
  if (answer.status !== 503) throw new Error(`${url} is a ${answer.status}`);
  await delay(1000);
  return textOf(url);
}

async function measure(url: string): Promise<Measured> {
  const browser = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update'],
  });
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  await session.send('Network.enable');
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  if (throttle > 1) await session.send('Emulation.setCPUThrottlingRate', { rate: throttle });
  let bytes = 0;
  session.on('Network.loadingFinished', ({ encodedDataLength }) => (bytes += encodedDataLength));
  await page.addInitScript({ content: noteReadable });
  await page.goto(url, { waitUntil: 'load' });
  const frame = 'new Promise((done) => requestAnimationFrame(() => setTimeout(() => done(performance.now()))))';
  const ready = await page.evaluate<number>(frame);
  const { metrics } = await session.send('Performance.getMetrics');
  const spent = (name: string) => metrics.find((each) => each.name === name)?.value ?? NaN;
  const answer = await page.evaluate<number>(`performance.getEntriesByType('navigation')[0].responseStart`);
  const paint = await page.evaluate<number>(
    `performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN`,
  );
  const readable = await page.evaluate<number>('globalThis.readable');
  const elements = await page.evaluate<number>(`document.querySelectorAll('*').length`);
  await browser.close();
  return {
    kilobytes: bytes / 1024,
    elements,
    answer: answer / 1000,
    paint: paint / 1000,
    readable: readable / 1000,
    ready: ready / 1000,
    processor: spent('TaskDuration'),
    style: spent('RecalcStyleDuration'),
    layout: spent('LayoutDuration'),
    script: spent('ScriptDuration'),
  };
}
