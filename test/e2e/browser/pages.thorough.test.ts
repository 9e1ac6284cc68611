import { existsSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import type { Page } from 'playwright-core';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { executablePath, openChromium, seriousFindings, whySkipped, type OpenChromium } from './chromium.ts';
import { openSite, type OpenSite } from './site.ts';

const corpus = '../shared/corpus/openapi';
const isThere = existsSync(corpus);
const canRun = executablePath !== undefined && isThere;
const why = isThere ? whySkipped : ' (skipped: there is no corpus)';

const origin = { repository: 'https://github.com/acme/apis.git', commit: '0123456789abcdef0123456789abcdef01234567' };

/**
 * Small, a 3.1, a long one, the largest: file, an operation of it by words of its summary, and where that leads.
 * `test/render/corpus.thorough.test.ts` renders all of them.
 */
const documents = [
  {
    slug: 'petstore',
    file: 'oai-v3.0-pass/petstore-expanded.yaml',
    words: 'delete',
    hash: '#operation/deletePet',
    heading: /^Swagger Petstore/,
  },
  {
    slug: 'trains',
    file: 'company/train-travel-3.1.yaml',
    words: 'create booking',
    hash: '#operation/create-booking',
    heading: /^Train Travel API/,
  },
  {
    slug: 'zoom',
    file: 'huge/zoom-us-oneline.json.gz',
    words: 'create a sub account',
    hash: '#operation/accountCreate',
    heading: /^Zoom API/,
  },
  {
    slug: 'github',
    file: 'huge/api.github.com.json.gz',
    words: 'create organization repository',
    hash: '#operation/repos-create-in-org',
    heading: /^GitHub/,
  },
];

function read(file: string): string {
  const bytes = readFileSync(`${corpus}/${file}`);
  return (file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString();
}

// What runs in the page is text: the types of a browser are no part of this project.

/** Where the links of the table of contents lead that are neither filtered out nor folded: asking for each one's visibility would take a layout each. */
const shownLinks = (page: Page) =>
  page.evaluate<string[]>(`[...document.querySelectorAll('.side .nav a')]
    .filter((link) => link.closest('[hidden], details:not([open]):not(.menu)') === null)
    .map(({ hash }) => hash)`);

/** How many links have all the words, in their text or their address. */
const matching = (page: Page, words: string) =>
  page.evaluate<number>(`[...document.querySelectorAll('.side .nav a')].filter((link) =>
    ${JSON.stringify(words.split(' '))}.every((word) => (link.textContent + ' ' + link.hash).toLowerCase().includes(word))).length`);

const remove = (page: Page, selector: string) =>
  page.evaluate(`for (const element of document.querySelectorAll('${selector}')) element.remove()`);

const focused = (page: Page) => page.locator(':focus');

let site: OpenSite;
let browser: OpenChromium;

beforeAll(async () => {
  if (!canRun) return;
  site = await openSite({ organizations: { acme: { name: 'Acme' } } });
  browser = await openChromium(site.url);
  for (const { slug, file } of documents) await site.publish(`@acme/apis/${slug}`, file, read(file), origin);
  // The first reader of a page waits until it is rendered: longer than `fetch` does, on a busy machine.
  for (const { slug } of documents) {
    const [response] = (await once(get(`${site.url}/@acme/apis/${slug}/index.html`), 'response')) as [IncomingMessage];
    await once(response.resume(), 'end');
  }
});

afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await site?.[Symbol.asyncDispose]();
});

const looks = [
  { width: 1440, colorScheme: 'light' },
  { width: 380, colorScheme: 'dark' },
  { width: 1440, colorScheme: 'dark' },
  { width: 380, colorScheme: 'light' },
] as const;

describe.skipIf(!canRun)(`the page of an API${why}`, () => {
  describe.for(documents)('$slug', ({ slug, heading, words, hash }) => {
    const operations = slug === 'zoom' ? 300 : slug === 'github' ? 900 : undefined;
    const isHuge = operations !== undefined;
    const own = slug === 'petstore' ? looks.slice(0, 2) : isHuge ? looks.slice(0, 1) : looks.slice(2);
    test.for(own)('$width px, $colorScheme: reads well', async ({ width, colorScheme }) => {
      await using watched = await browser.open({ viewport: { width, height: 900 }, colorScheme });
      const { page, wrong } = watched;
      const response = await page.goto(`${site.url}/@acme/apis/${slug}`);
      expect(response!.status()).toBe(200);
      // By selectors: a role is computed for each of hundreds of thousands of elements.
      expect(await page.locator('h1').textContent()).toMatch(heading);
      // What the registry knows is a line under the title; a link of it unfolds the rest.
      if (width < 500) expect((await page.locator('h1').boundingBox())!.y).toBeLessThan(64);
      expect(await page.locator('#versions h2').isVisible()).toBe(false);
      await page
        .locator('.facts-line')
        .getByRole('link', { name: /^\d+ versions?$/ })
        .click();
      expect(await page.locator('#versions h2').isVisible()).toBe(true);
      // A long document has an overview: a line for each operation, which leads to its page.
      expect(await page.locator(isHuge ? '.index > li' : '.operation').count()).toBeGreaterThan(operations ?? 3);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
      expect(wrong).toEqual([]);
      // Of hundreds of operations the first of each group stands for all: axe looks at every element.
      if (isHuge) await remove(page, '.index > li ~ li, .nav ul > li ~ li');
      expect(await seriousFindings(page)).toEqual([]);
    });

    test('is filtered and used by keyboard', async () => {
      await using watched = await browser.open({ viewport: { width: 1440, height: 900 } });
      const { page, wrong } = watched;
      await page.goto(`${site.url}/@acme/apis/${slug}`);
      await page.keyboard.press('Tab');
      await expect.poll(() => focused(page).textContent()).toBe('Skip to the content');
      await page.keyboard.press('/');
      await expect.poll(() => focused(page).getAttribute('id')).toBe('filter');
      const before = await shownLinks(page);
      await page.keyboard.insertText(words);
      const inWords = (count: number) => (count === 1 ? '1 match' : `${count} matches`);
      await expect.poll(() => page.locator('#filter-count').textContent()).toBe(inWords(await matching(page, words)));
      const found = await shownLinks(page);
      expect(found).toContain(hash);
      await page.locator(`.side .nav a[href$="${hash}"]`).focus();
      await page.keyboard.press('Enter');
      await expect.poll(() => new URL(page.url()).hash).toBe(hash);
      await page.locator(`[id="${hash.slice(1)}"]`).waitFor();
      if (isHuge) {
        expect(new URL(page.url()).pathname).toMatch(/\/part-/);
        expect(await page.locator('.operation').count()).toBeGreaterThan(3);
        return expect(wrong).toEqual([]);
      }
      await page.locator('#filter').focus();
      await page.keyboard.press('Escape');
      await page.locator('#filter-count', { hasText: /^$/ }).waitFor({ state: 'attached' });
      expect(await shownLinks(page)).toEqual(before);
      await page.keyboard.type('nothing is called this');
      await page.getByText('0 matches').waitFor();
      expect(wrong).toEqual([]);
    });
  });

  test(`folds its menu on a narrow screen, and closes it when something was chosen`, async () => {
    await using watched = await browser.open({ viewport: { width: 380, height: 800 } });
    const { page, wrong } = watched;
    await page.goto(`${site.url}/@acme/apis/trains`);
    const link = page.locator('.side a[href="#operation/create-booking"]');
    expect(await link.isVisible()).toBe(false);
    await page.getByText('On this page').click();
    await link.click();
    expect(new URL(page.url()).hash).toBe('#operation/create-booking');
    expect(await link.isVisible()).toBe(false);
    await page.keyboard.press('/');
    expect(await focused(page).getAttribute('id')).toBe('filter');
    expect(wrong).toEqual([]);
  });

  test(`is whole without JavaScript`, async () => {
    await using watched = await browser.open({ viewport: { width: 1440, height: 900 }, javaScriptEnabled: false });
    const { page, wrong } = watched;
    await page.goto(`${site.url}/@acme/apis/trains`);
    expect(await page.locator('.side a[href="#operation/create-booking"]').isVisible()).toBe(true);
    expect(await page.locator('#filter').isVisible()).toBe(false);
    expect(await page.getByLabel('JSON', { exact: true }).inputValue()).toBe(
      `${site.url}/@acme/apis/trains@1.2.1.json`,
    );
    await page.locator('.side a[href="#operation/create-booking"]').click();
    expect(await page.locator('.operation', { hasText: 'Create a booking' }).first().isVisible()).toBe(true);
    expect(wrong).toEqual([]);
  });

  test(`gives its pinned address to the clipboard`, async () => {
    await using watched = await browser.open({ permissions: ['clipboard-read', 'clipboard-write'] });
    const { page, wrong } = watched;
    await page.goto(`${site.url}/@acme/apis/trains`);
    await page.getByText('About this version').click();
    await page.getByRole('button', { name: 'Copy: YAML' }).click();
    await page.getByText('Copied').waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(`${site.url}/@acme/apis/trains@1.2.1.yaml`);
    expect(wrong).toEqual([]);
  });

  test(`shifts nothing while it loads`, async () => {
    await using watched = await browser.open({ viewport: { width: 1440, height: 900 } });
    const { page } = watched;
    await page.goto(`${site.url}/@acme/apis/trains`);
    const shifted = await page.evaluate(`new Promise((resolve) => {
      let sum = 0;
      new PerformanceObserver((list) => {
        for (const { value } of list.getEntries()) sum += value;
      }).observe({ type: 'layout-shift', buffered: true });
      requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => resolve(sum), 100)));
    })`);
    expect(shifted).toBeLessThan(0.02);
  });
});
