import { createServer, request, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  executablePath,
  openChromium,
  seriousFindings,
  whySkipped,
  type OpenChromium,
  type Watched,
} from './chromium.ts';
import { openSite, type OpenSite } from './site.ts';

const shop = {
  openapi: '3.1.0',
  info: {
    title: 'Shop of <img src=x onerror=alert(1)> animals',
    version: '1.0.0',
    description: 'Where pets are sold.',
  },
  paths: {
    '/pets': {
      get: {
        operationId: 'listPets',
        summary: 'All <b>of</b> them',
        tags: ['pets'],
        responses: { 200: { description: '' } },
      },
    },
    '/pets/{petId}': {
      parameters: [{ name: 'petId', in: 'path', required: true, schema: { type: 'string' } }],
      get: { operationId: 'showPetById', responses: { 200: { description: '' } } },
    },
    '/orders/<script>': { post: { operationId: 'alert(1)', responses: { 200: { description: '' } } } },
  },
  components: {
    schemas: { Pet: { type: 'object', properties: { nickname: { type: 'string' }, birthDate: { type: 'string' } } } },
  },
};

let site: OpenSite;
let browser: OpenChromium;
let host: Server;
/** Where the same files are served as a static host would: whatever the query, the same bytes. */
let staticUrl: string;

beforeAll(async () => {
  if (executablePath === undefined) return;
  site = await openSite({ organizations: { acme: {} } });
  await site.publish('@acme/apis/shop', 'shop.json', JSON.stringify(shop));
  await site.publish(
    '@acme/apis/other',
    'other.json',
    JSON.stringify({ ...shop, info: { ...shop.info, title: 'Other' } }),
  );
  // The index is whole when this is answered.
  await fetch(`${site.url}/search/index.json`);
  host = createServer((asked, answer) => {
    const path = asked.url!.replace(/\?.*/, '');
    const forward = request(`${site.url}${path}`, { headers: { accept: path === '/search' ? 'text/html' : '*/*' } });
    forward.on('response', (came) => {
      answer.writeHead(came.statusCode!, came.headers);
      came.pipe(answer);
    });
    forward.on('error', () => answer.destroy());
    forward.end();
  });
  host.listen(0, '127.0.0.1');
  await once(host, 'listening');
  staticUrl = `http://127.0.0.1:${(host.address() as AddressInfo).port}`;
  browser = await openChromium(site.url, [staticUrl]);
});

afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  host?.closeAllConnections();
  host?.close();
  await site?.[Symbol.asyncDispose]();
});

describe.skipIf(executablePath === undefined)(`searching${whySkipped}`, () => {
  /** For the tests that go from address to address. */
  let visitor: Watched;
  beforeAll(async () => {
    visitor = await browser.open();
  });

  const looks = [
    { width: 1440, colorScheme: 'light' },
    { width: 380, colorScheme: 'dark' },
  ] as const;
  test.for(looks)('$width px, $colorScheme: from the first page to the place in the document', async (look) => {
    await using watched = await browser.open({
      viewport: { width: look.width, height: 900 },
      colorScheme: look.colorScheme,
    });
    const { page, wrong } = watched;
    await page.goto(site.url);
    await page.keyboard.press('/');
    await page.keyboard.type('showPetById');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/search\?/);
    expect(await page.locator('.row').count()).toBe(2);
    expect(await page.locator('.row').first().textContent()).toContain('GET /pets/{petId}');
    expect(await page.getByRole('searchbox').first().inputValue()).toBe('showPetById');
    expect(await seriousFindings(page)).toEqual([]);
    const overflow = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
    expect(overflow).toBe(0);
    await page.getByRole('link', { name: 'GET /pets/{petId}' }).first().click();
    await page.waitForURL(/#operation\/showPetById$/);
    expect(await page.locator(':target').textContent()).toContain('/pets/{petId}');
    expect(wrong).toEqual([]);
  });

  test.for(['pets', 'birthDate', 'Pet', 'script', 'alert'])(
    'every link that a search for %s gives has its place',
    async (text) => {
      const { page, wrong } = visitor;
      wrong.length = 0;
      await page.goto(`${site.url}/search?q=${text}`);
      const matches = await page.locator('.matches a').all();
      const links = await Promise.all(matches.map((match) => match.getAttribute('href')));
      expect(links.length).toBeGreaterThan(0);
      for (const link of links) {
        await page.goto(new URL(link!, site.url).href);
        expect(await page.locator(':target').count()).toBe(1);
      }
      expect(wrong).toEqual([]);
    },
  );

  describe('while somebody types', () => {
    test.for(['server', 'static host'] as const)('on a %s: suggestions, by keyboard alone', async (where) => {
      await using watched = await browser.open();
      const { page, wrong } = watched;
      await page.goto(where === 'server' ? site.url : staticUrl);
      await page.keyboard.press('Control+k');
      await page.getByRole('dialog').waitFor();
      // An empty dialog would look as if it did not work.
      await page.keyboard.type('zqxwvkj');
      await page.locator('dialog .quiet', { hasText: 'Nothing found.' }).waitFor();
      await page.locator('dialog input').fill('');
      await page.keyboard.type('showPet');
      const options = page.locator('dialog .suggestions a');
      // A slow machine suggests for the first letters, too.
      await expect.poll(() => options.first().textContent()).toContain('GET /pets/{petId}');
      expect(await page.locator('dialog img').count()).toBe(0);
      await page.keyboard.press('ArrowDown');
      expect(await options.first().evaluate((link) => link === link.ownerDocument.activeElement)).toBe(true);
      expect(await seriousFindings(page)).toEqual([]);
      await page.keyboard.press('Enter');
      await page.waitForURL(/#operation\/showPetById$/);
      expect(wrong).toEqual([]);
    });

    test(`while the index is being made the dialog says so, and asks again`, async () => {
      await using watched = await browser.open();
      const { page, wrong } = watched;
      const query = 'zqxwvkj';
      const early = { query, items: [], complete: false, didYouMean: null };
      await page.route(`**/suggest.json?q=${query}`, (route) => route.fulfill({ json: early }), { times: 1 });
      await page.goto(site.url);
      await page.keyboard.press('Control+k');
      await page.locator('dialog input').fill(query);
      await page.locator('dialog .quiet', { hasText: 'The search index is still being made.' }).waitFor();
      await page.locator('dialog .quiet', { hasText: 'Nothing found.' }).waitFor();
      expect(wrong).toEqual([]);
    });

    test(`suggestions that come late do not replace those that somebody is choosing from`, async () => {
      await using watched = await browser.open();
      const { page, wrong } = watched;
      const late = Promise.withResolvers<void>();
      await page.route('**/suggest.json?q=showPet', async (route) => {
        await late.promise;
        await route.continue();
      });
      await page.goto(`${site.url}/@acme`);
      await page.locator('#find').fill('showP');
      const options = page.locator('.suggestions a');
      await options.first().waitFor();
      const asked = page.waitForRequest('**/suggest.json?q=showPet');
      await page.locator('#find').press('e');
      await page.locator('#find').press('t');
      await asked;
      await page.keyboard.press('ArrowDown');
      const answered = page.waitForResponse('**/suggest.json?q=showPet');
      late.resolve();
      await (await answered).finished();
      // One more turn of the page, in which it would replace them.
      await page.evaluate('new Promise((resolve) => setTimeout(resolve, 50))');
      expect(await options.first().evaluate((link) => link === link.ownerDocument.activeElement)).toBe(true);
      expect(wrong).toEqual([]);
    });

    test(`in the header: a word that occurs nowhere, and Escape`, async () => {
      await using watched = await browser.open();
      const { page, wrong } = watched;
      await page.goto(`${site.url}/@acme`);
      await page.locator('#find').fill('nickanme');
      const options = page.locator('.suggestions a');
      await options.first().waitFor();
      expect(await options.allTextContents()).toEqual(
        expect.arrayContaining([
          expect.stringContaining('Did you mean nickname?'),
          expect.stringContaining('Pet.nickname'),
        ]),
      );
      expect(await seriousFindings(page)).toEqual([]);
      await page.keyboard.press('Escape');
      expect(await options.count()).toBe(0);
      expect(wrong).toEqual([]);
    });
  });

  test(`a type narrows it`, async () => {
    await using watched = await browser.open();
    const { page } = watched;
    await page.goto(`${site.url}/search?q=pets`);
    await page.getByLabel('Which type').selectOption('schemas');
    await page.getByRole('button', { name: 'Search' }).click();
    await page.waitForURL(/type=schemas/);
    expect(await page.locator('.empty').textContent()).toContain('Nothing that you can see');
    expect(await page.getByLabel('Which type').inputValue()).toBe('schemas');
  });

  describe('on a static host', () => {
    const found = [
      ['listPets', 'GET /pets'],
      ['/pets/{petId}', 'GET /pets/{petId}'],
      ['birthDate', 'property Pet.birthDate'],
      ['shwo pet', 'GET /pets/{petId}'],
      ['listPetz', 'GET /pets'],
      ['script', 'POST /orders/<script>'],
      ['nothing-like-it', null],
    ] as const;
    test.for(found)('%s is found by the page itself', async ([text, expected]) => {
      const { page, wrong } = visitor;
      wrong.length = 0;
      await page.goto(`${staticUrl}/search?q=${encodeURIComponent(text)}`);
      await page.locator('#found .row, #found .empty:not(:text("Searching"))').first().waitFor();
      if (expected === null)
        expect(await page.locator('#found').textContent()).toContain('Nothing contains one of these words');
      else expect(await page.locator('.matches a').first().textContent()).toContain(expected);
      expect(await page.locator('#found img, #found b, #found script').count()).toBe(0);
      expect(await page.getByRole('searchbox').first().inputValue()).toBe(text);
      expect(wrong).toEqual([]);
    });

    test(`a server that has answered is not searched again`, async () => {
      await using watched = await browser.open();
      const { page } = watched;
      const asked: string[] = [];
      page.on('request', (one) => asked.push(new URL(one.url()).pathname));
      await page.goto(`${site.url}/search?q=listPets`);
      await page.waitForLoadState('networkidle');
      expect(asked).toContain('/search');
      expect(asked.filter((path) => /ranking|search\//.test(path))).toEqual([]);
    });

    test(`the page says when the index cannot be read`, async () => {
      await using watched = await browser.open();
      const { page } = watched;
      await page.route('**/search/index.json', (route) => route.abort());
      await page.goto(`${staticUrl}/search?q=listPets`);
      await page.getByText('could not be loaded').waitFor();
      expect(await page.locator('.row').count()).toBe(0);
    });
  });
});
