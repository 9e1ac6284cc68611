/**
 * axe-core on every kind of page, in both themes: all that it finds, not only what is serious, with everything unfolded; and whether a
 * page is wider than the window. The pages of the
 * registry are named here; those of the console are found by following its links, one of each kind.
 *
 *   node scripts/axe.ts [--only words of the path] [--theme light] [--width 1440] [--part pages|console] [--pictures folder]
 *
 * `--pictures` writes the first screen of each page, before it is unfolded.
 * Exits with 1 if anything is found.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { argv, echo } from 'zx';
import { changeStatus } from '../src/registry/change-version.ts';
import { allFindings, openChromium, type OpenChromium } from '../test/e2e/browser/chromium.ts';
import { openConsoleWorld, signIn } from '../test/e2e/browser/console-world.ts';
import { openSite } from '../test/e2e/browser/site.ts';
import { author, deploy, writeSite } from '../test/sites/server/site-world.ts';

const only = String(argv['only'] ?? '');
const themes = [argv['theme'] ?? ['light', 'dark']].flat() as ('light' | 'dark')[];
const width = Number(argv['width'] ?? 1440);
const part = String(argv['part'] ?? 'pages,console');
const pictures = argv['pictures'] === undefined ? null : String(argv['pictures']);

let looked = 0;
let found = 0;
if (part.includes('pages')) await lookAtPages();
if (part.includes('console')) await lookAtConsole();
echo(`${looked} pages looked at, ${found} findings`);
process.exit(found === 0 ? 0 : 1);

async function lookAtPages(): Promise<void> {
  await using site = await openSite({
    organizations: { acme: { name: 'Acme', defaults: { ruleset: '@acme/rulesets/style' } } },
  });
  const museum = readFileSync(join(import.meta.dirname, '../../shared/corpus/openapi/company/museum-3.1.yaml'), 'utf8');
  const origin = {
    repository: 'https://github.com/acme/apis.git',
    commit: '0123456789abcdef0123456789abcdef01234567',
    note: { author: 'Ana Müller', subject: 'Rename /museum-hours' },
  };
  await site.publish(
    '@acme/rulesets/style',
    'style.yaml',
    'rules:\n  operation-summary: warn\n  tag-description: warn\n',
  );
  await site.publish('@acme/apis/museum', 'museum.yaml', museum.replace(/version: .*/, 'version: 1.0.0'), origin);
  await site.publish('@acme/apis/museum', 'museum.yaml', museum.replace(/version: .*/, 'version: 1.1.0'), origin);
  const next = museum.replace(/version: .*/, 'version: 2.0.0').replace('  /museum-hours:', '  /hours:');
  await site.publish('@acme/apis/museum', 'museum.yaml', next.replaceAll(/^      summary: .*\n/gm, ''), origin);
  await site.publish('@acme/apis/long', 'long.json', JSON.stringify(longApi()));
  const line = { type: 'object', properties: { count: { type: 'integer', minimum: 1 } } };
  const order = { title: 'Order', type: 'object', properties: { line: { $ref: '#/$defs/line' } }, $defs: { line } };
  const $schema = 'https://json-schema.org/draft/2020-12/schema';
  await site.publish('@acme/schemas/order', 'order.json', JSON.stringify({ $schema, ...order }));
  const id = { org: 'acme', type: 'apis', slug: 'museum' } as const;
  const deprecated = {
    state: 'deprecated',
    reason: 'Slow.',
    replacement: '2.0.0',
    sunset: '2027-01-01T00:00:00.000Z',
  } as const;
  await changeStatus(site.registry, id, '1.1.0', deprecated, author);
  await changeStatus(site.registry, id, '1.0.0', { state: 'withdrawn', reason: 'It held a secret.' }, author);
  const guide =
    '# Guide\n\n> [!WARNING]\n> Mind this.\n\n| a | b |\n|--|--|\n| 1 | 2 |\n\n```js\nlet one = 1;\n```\n\n::operation @acme/apis/museum listSpecialEvents\n\n::operation @acme/apis/museum createSpecialEvent\n';
  await writeSite(site.registry, {
    'index.md': '---\ntitle: Welcome\n---\n\nRead [the guide](guide.md).\n',
    'guide.md': guide,
  });
  await deploy(site.registry);
  await using browser = await openChromium(site.url);
  const museumAt = '/@acme/apis/museum';
  const paths = [
    '/',
    '/@acme',
    '/@acme/apis',
    '/@acme/graph',
    museumAt,
    `${museumAt}@1.1.0`,
    `${museumAt}@1.0.0`,
    `${museumAt}/versions`,
    '/@acme/rulesets/style/dependants',
    ...['report', 'provenance', 'diff', 'try', 'embed'].map((name) => `${museumAt}@2.0.0/${name}`),
    '/@acme/apis/long',
    await firstPart(`${site.url}/@acme/apis/long`),
    '/@acme/schemas/order',
    '/@acme/rulesets/style',
    '/search',
    '/search?q=create+event',
    '/search?q=musuem',
    '/problems',
    '/problems/not_found',
    '/nowhere',
    '/docs/',
    '/docs/commands',
    '/docs/management-api',
    '/search?in=docs&q=token',
    '/account',
    '/sites/acme/handbook/',
    '/sites/acme/handbook/guide',
    '/sites/acme/handbook/absent',
  ];
  await look(
    browser,
    paths.map((path) => site.url + path),
  );
}

/** A document with a page for each tag. */
function longApi(): object {
  const text = 'A sentence about what this does, and when to call it. '.repeat(150);
  const paths = Array.from({ length: 260 }, (_, at) => [
    `/p${at}`,
    {
      get: {
        tags: [`t${at % 4}`],
        summary: `Get ${at}`,
        description: text,
        responses: { 200: { description: 'Fine' } },
      },
    },
  ]);
  return { openapi: '3.1.0', info: { title: 'Long', version: '1.0.0' }, paths: Object.fromEntries(paths) };
}

/** Where the first part of a long reference is. */
async function firstPart(url: string): Promise<string> {
  for (;;) {
    const text = await (await fetch(url, { headers: { Accept: 'text/html' } })).text();
    if (!text.includes('data-reload')) return /href="([^"#]*\/part-[^"#]*)/.exec(text)?.[1] ?? '/no-part';
  }
}

async function look(browser: OpenChromium, urls: readonly string[]): Promise<void> {
  for (const colorScheme of themes) {
    await using watched = await browser.open({ viewport: { width, height: 900 }, colorScheme });
    for (const url of urls.filter((each) => each.includes(only))) await examine(watched.page, url, colorScheme);
  }
}

async function examine(page: Page, url: string, theme: string): Promise<void> {
  do await page.goto(url);
  while ((await page.content()).includes('data-reload'));
  if (url.endsWith('/try')) await page.locator('.index a').first().waitFor();
  if (pictures !== null) {
    const name = new URL(url).pathname.replace(/[^\w.-]+/g, '-').replace(/^-|-$/g, '') || 'home';
    await page.screenshot({ path: join(pictures, `${name}-${width}-${theme}.png`) });
  }
  await page.evaluate(`for (const each of document.querySelectorAll('details:not([name])')) each.open = true`);
  const findings = await allFindings(page);
  const wider = await page.evaluate<number>(
    'document.documentElement.scrollWidth - document.documentElement.clientWidth',
  );
  if (wider > 0) findings.push({ impact: 'layout', line: `${wider} pixels wider than the window` });
  looked += 1;
  found += findings.length;
  echo(`${findings.length === 0 ? 'ok' : '✗ '} ${theme} ${url.replace(/^https?:\/\/[^/]*/, '')}`);
  for (const { impact, line } of findings) echo(`     ${impact}: ${line.replace(/\s+/g, ' ').slice(0, 400)}`);
}

async function lookAtConsole(): Promise<void> {
  const api = (version: string, ...paths: string[]) =>
    `openapi: 3.1.0\ninfo: { title: Ledger, version: ${version} }\npaths:\n${paths.map((path) => `  ${path}: { get: { responses: { '200': { description: OK. } } } }\n`).join('')}`;
  const settings = 'resources:\n  - { path: ledger.yaml, approval: required }\n  - { path: wrong.yaml }\n';
  await using world = await openConsoleWorld({
    'stele.yaml': settings,
    'ledger.yaml': api('1.0.0', '/entries', '/accounts'),
    'wrong.yaml': 'openapi: 3.1.0\ninfo: { title: Wrong, version: 1.0.0 }\npaths: { /x: { $ref: gone.yaml } }\n',
  });
  await using watched = await world.browser.open({ viewport: { width, height: 900 } });
  const { page, context } = watched;
  const at = `${world.url}/console/acme`;
  await signIn(page, world.url, 'ann');
  await page.waitForURL(at);
  await page.goto(`${at}/repositories/new`);
  await page.getByLabel('Repository').first().fill(world.remote);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Documents' }).first().waitFor();
  // One version waits for approval, beside one that is rejected.
  world.repository.commit({ files: { 'ledger.yaml': api('2.0.0', '/entries') } });
  await page.goto(`${at}/repositories`);
  await page.getByRole('link', { name: world.remote }).click();
  await page.getByRole('button', { name: 'Sync now' }).click();
  await page.locator('.part tbody').first().waitFor();
  await page.goto(`${at}/new-site`);
  await page.getByLabel('Title').fill('Handbook');
  await page.getByLabel('Name in the URL').fill('handbook');
  await page.keyboard.press('Enter');
  await page.getByText('Created.').waitFor();
  await page.goto(`${at}/keys/new`);
  await page.getByLabel('Name', { exact: true }).fill('ci');
  await page.getByRole('checkbox').first().check();
  await page.getByRole('button', { name: 'Create the key' }).click();
  await page.locator('.secret, .error').first().waitFor();
  await page.goto(`${at}/webhooks/new`);
  await page.getByLabel('URL').fill('https://ci.acme.example/stele');
  await page.getByRole('button', { name: 'Add the endpoint' }).click();
  await page.locator('.secret, .error').first().waitFor();
  const kinds = new Map<string, string>();
  const waiting = [
    `${world.url}/console`,
    at,
    `${at}/apis/ledger`,
    `${at}/new-site`,
    `${at}/keys/new`,
    `${at}/webhooks/new`,
  ];
  for (const url of waiting) {
    const kind = kindOf(url);
    if (kinds.has(kind) || kinds.size >= 60) continue;
    kinds.set(kind, url);
    const response = await page.goto(url);
    if (response === null || !String(response.headers()['content-type']).startsWith('text/html')) {
      kinds.delete(kind);
      continue;
    }
    const links = await page.evaluate<string[]>(`[...document.links].map(({ href }) => href.replace(/[?#].*/, ''))`);
    waiting.push(...links.filter((href) => href.startsWith(`${world.url}/console`)));
  }
  const storageState = await context.storageState();
  for (const colorScheme of themes) {
    await using signedIn = await world.browser.open({ viewport: { width, height: 900 }, colorScheme, storageState });
    for (const url of kinds.values()) if (url.includes(only)) await examine(signedIn.page, url, colorScheme);
  }
}

/** A path without what names one of many: ids, labels, slugs. */
function kindOf(url: string): string {
  return url.replace(/(?<=\/)(?:acme|ledger|handbook|wrong|\d[\w.-]*|[\w-]{16,})(?=\/|$)/g, ':name');
}
