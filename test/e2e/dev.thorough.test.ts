import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { executablePath, openChromium, whySkipped } from './browser/chromium.ts';
import { serveStele, type Serving } from './stele.ts';

/** `stele serve --dev`: a real process, real files, an event stream that a client of ours reads. */

const root = fileURLToPath(new URL('../../', import.meta.url));
let folder: string;
let running: Serving | null = null;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stele-dev-'));
  await mkdir(join(folder, 'templates'));
  await configure('First');
});

afterEach(async () => {
  await running?.stop('SIGKILL').catch(() => null);
  running = null;
  await rm(folder, { recursive: true, force: true });
});

/** Writes the configuration as editors do: beside, then in its place. */
async function configure(name: string, more = ''): Promise<void> {
  const text = `export default { organizations: { acme: { name: '${name}' } }, templates: './templates',${more} };\n`;
  await writeFile(join(folder, '.registry.config.ts.new'), text);
  await rename(join(folder, '.registry.config.ts.new'), join(folder, 'registry.config.ts'));
}

async function override(name: string, from: string, to: string): Promise<void> {
  const text = readFileSync(join(root, 'templates', name), 'utf8');
  expect(text).toContain(from);
  await writeFile(join(folder, 'templates', name), text.replace(from, to));
}

async function serve(...args: string[]): Promise<Serving> {
  running = await serveStele([...args, '--data', join(folder, 'data')], { cwd: folder });
  return running;
}

async function page(path = '/'): Promise<{ text: string; status: number; headers: Headers }> {
  const response = await fetch(running!.url + path, { headers: { accept: 'text/html' } });
  return { text: await response.text(), status: response.status, headers: response.headers };
}

/** The state that the page was made in. */
function stateOf(text: string): string {
  return /\/-\/dev\.js\?state=([0-9a-f-]{36})"/.exec(text)![1]!;
}

/** Reads the event stream until it tells another state than this one; null where it ends before. */
async function changedFrom(state: string): Promise<string | null> {
  const response = await fetch(`${running!.url}/-/dev`, { signal: AbortSignal.timeout(120_000) });
  expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/);
  let text = '';
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    const other = [...text.matchAll(/^data: (\S+)$/gm)].map(([, told]) => told!).find((told) => told !== state);
    if (other !== undefined) return other;
  }
  return null;
}

test('a changed template is announced and shown; a broken one takes nothing down', async () => {
  await serve('--dev');
  const before = await page();
  expect(before.text).not.toContain('Marble');
  expect(before.headers.get('content-security-policy')).toMatch(/script-src 'self'(?:;|$)/);
  const told = changedFrom(stateOf(before.text));
  await override('home.eta', '<h1>', '<h1>Marble ');
  const state = await told;
  const after = await page();
  expect(after.text).toContain('<h1>Marble ');
  expect(stateOf(after.text)).toBe(state);

  const broken = changedFrom(state!);
  await override('layout.eta', '<body>', '<body><% if ( %>');
  const next = await broken;
  const shown = await page();
  expect(shown.text).toContain('A template is broken');
  expect(stateOf(shown.text)).toBe(next);
  expect((await page('/nothing')).status).toBe(404);

  const mended = changedFrom(next!);
  await rm(join(folder, 'templates', 'layout.eta'));
  await mended;
  expect((await page()).text).toContain('<h1>Marble ');
});

test('a wrong configuration is logged and changes nothing, a right one takes effect without a new process', async () => {
  const stele = await serve('--dev');
  const before = stateOf((await page()).text);
  await configure('Second', ' rateLimit: { widnow: 3 },');
  const line = await stele.logged(({ msg }) => msg === 'configuration is as before');
  expect(line['detail']).toContain('rateLimit.widnow is not expected here. Did you mean "window"?');
  expect(stateOf((await page()).text)).toBe(before);

  const gone = changedFrom(before);
  await configure('Second', ' rateLimit: { reads: 12345 },');
  await stele.logged(({ msg }) => msg === 'configuration changed');
  expect(await gone).toBeNull();
  await expect
    .poll(async () => (await fetch(`${stele.url}/search?q=a`).catch(() => null))?.headers.get('ratelimit-policy'))
    .toContain('q=12345');
  expect(stateOf((await page()).text)).not.toBe(before);
  expect(await stele.stop()).toBe(0);
});

test(`without --dev nothing of it is there`, async () => {
  await serve();
  expect((await page()).text).not.toContain('/-/dev');
  for (const path of ['/-/dev', '/-/dev.js']) expect((await page(path)).status).toBe(404);
});

describe.skipIf(executablePath === undefined)(`in a browser${whySkipped}`, () => {
  test('an open page loads again, also after a restart', async () => {
    const stele = await serve('--dev');
    await using browser = await openChromium(stele.url);
    await using watched = await browser.open();
    const { page: shown, wrong } = watched;
    await shown.goto(`${stele.url}/docs/urls`);
    await override('docs.eta', '<h1>', '<h1>Granite ');
    await shown.getByRole('heading', { name: 'Granite URLs' }).waitFor();
    expect(wrong).toEqual([]);
    await configure('Third');
    await stele.logged(({ msg }) => msg === 'configuration changed');
    await override('docs.eta', '<h1>', '<h1>Basalt ');
    await shown.getByRole('heading', { name: 'Basalt URLs' }).waitFor();
    // While it restarts nobody answers, and the browser says so.
    expect(wrong.filter((line) => !/ERR_(?:CONNECTION|INCOMPLETE|EMPTY)/.test(line))).toEqual([]);
  });
});
