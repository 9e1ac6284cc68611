import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDocs, type Docs } from '../../../src/site/docs/docs-page.ts';
import { readDocs } from '../../../src/site/docs/docs.ts';
import type { Site } from '../../../src/site/site.ts';
import { openConsole, type ConsoleServer } from '../../console/harness.ts';
import { createBrowser } from '../../server/login/browser.ts';
import { docsWords } from './words.ts';

let docs: Docs;
let server: ConsoleServer;
beforeAll(async () => {
  const site = { docs: () => readDocs(), links: { path: (path: string) => path } } as unknown as Site;
  docs = createDocs(site);
  server = await openConsole();
});
afterAll(() => server[Symbol.asyncDispose]());

test.each(docsWords)('the documentation says where %s is', async (word, place) => {
  const [first] = (await docs.search()).find(word);
  expect(first?.href).toMatch(new RegExp(`^/docs/${place}`));
});

test('the box on a page of the documentation searches it, and contracts after it', async () => {
  const browser = createBrowser();
  const page = (path: string) => browser.request(server.url + path, { headers: { accept: 'text/html' } });
  expect((await page('/docs/')).text).toMatch(/<form class="find"[^>]*><input type="hidden" name="in" value="docs">/);
  expect((await page('/')).text).not.toContain('name="in"');
  const { text } = await page('/search?q=backup&in=docs');
  expect(text.indexOf('href="/docs/operating#back-up"')).toBeGreaterThan(0);
  expect(text.indexOf('href="/docs/operating#back-up"')).toBeLessThan(text.indexOf('<h2>Contracts</h2>'));
  const suggested = await browser.request(`${server.url}/search/suggest.json?q=backup&in=docs`);
  expect(JSON.parse(suggested.text).items[0]).toMatchObject({ url: '/docs/operating#back-up' });
  expect((await page('/search?q=backup&in=sea')).status).toBe(400);
});
