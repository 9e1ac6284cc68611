import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { executablePath, whySkipped } from './chromium.ts';
import { expectSound, follow, openConsoleWorld, press, signIn, tabTo } from './console-world.ts';

const api = (version: string, path: string) =>
  `openapi: 3.1.0
info:
  title: Ledger
  version: ${version}
paths:
  /${path}:
    get:
      summary: List ${path}
      responses:
        '200':
          description: Fine.
`;
const page = (title: string, text: string) => `---\ntitle: ${title}\n---\n\n${text}\n`;

async function type(on: Page, label: string, text: string): Promise<void> {
  await tabTo(on, label);
  await on.keyboard.press('Control+A');
  await on.keyboard.insertText(text);
}

async function writePage(on: Page, file: string, text: string): Promise<void> {
  await follow(on, 'New page', 'New page');
  await type(on, 'File', file);
  await type(on, 'Page, in Markdown', text);
  await press(on, 'Save');
  await on.getByText('The page is saved.').waitFor();
}

async function publish(on: Page): Promise<void> {
  await follow(on, 'Publish', 'Publish @acme/sites/treasury');
  await on.getByText('This can be published.').waitFor();
  await expectSound(on);
  await press(on, 'Publish');
  await on.getByText('The site is published.').waitFor();
}

test.skipIf(executablePath === undefined)(
  `a site with an embedded API is made by keyboard, follows the API and is rolled back; others see none of it${whySkipped}`,
  async () => {
    await using world = await openConsoleWorld({});
    const { url, browser } = world;
    await using watched = await browser.open({ viewport: { width: 380, height: 800 } });
    const { page: ann, context } = watched;
    await signIn(ann, url, 'ann');
    await ann.waitForURL(`${url}/console/acme`);
    // The provider's page has no icon.
    watched.wrong.length = 0;

    await follow(ann, 'New', 'Publish a document');
    // A line of the report leads to that line of the text.
    await type(ann, 'Document', `${api('1.0.0', 'accounts')}\norders: {}`);
    expect(await ann.locator('.numbers').textContent()).toMatch(/^1\n2\n/);
    await ann.locator('.report .place a').first().click();
    const selected = 'getSelection().toString()';
    expect(await ann.evaluate(selected)).toBe('orders: {}');
    await type(ann, 'Document', api('1.0.0', 'accounts'));
    await ann.getByText('This can be published, as version 1.0.0.').waitFor();
    await press(ann, 'Publish');
    await ann.getByRole('heading', { name: 'is published' }).waitFor();

    await follow(ann, 'Sites', 'All sites');
    await ann.getByText('No sites yet.').waitFor();
    await expectSound(ann);
    await follow(ann, 'New site', 'New site');
    await type(ann, 'Title', 'Treasury handbook');
    await type(ann, 'Name in the URL', 'treasury');
    await expectSound(ann);
    await press(ann, 'Create it');
    await ann.getByText('Created. Write its first page: index.md.').waitFor();
    await expectSound(ann);
    await writePage(ann, 'index.md', page('Welcome', 'First words. See [the guide](guide.md).'));
    await writePage(ann, 'guide.md', page('Guide', 'How to keep a ledger.'));
    await writePage(ann, 'reference.md', page('Reference', '::reference @acme/apis/ledger'));
    await expectSound(ann);
    await publish(ann);
    await expectSound(ann);
    const console = ann.url();

    const seen = async (path: string) => (await context.request.get(`${url}/sites/acme/treasury/${path}`)).text();
    await press(ann, 'Open the site');
    await ann.getByText('First words.').waitFor();
    await expectSound(ann);
    await ann.goto(`${url}/sites/acme/treasury/reference`);
    expect(await seen('reference')).toContain('List accounts');
    await ann.getByRole('heading', { name: 'List accounts' }).waitFor();
    await expectSound(ann);

    await ann.goto(`${url}/console/acme/apis/ledger`);
    await follow(ann, 'Publish a version', 'Publish a version of');
    await type(ann, 'Document', api('1.1.0', 'transfers'));
    await press(ann, 'Publish');
    await ann.getByRole('heading', { name: 'is published' }).waitFor();
    await expect.poll(() => seen('reference')).toContain('List transfers');

    await ann.goto(console);
    await follow(ann, 'index.md', 'Edit index.md');
    await type(ann, 'Page, in Markdown', page('Welcome', 'Other words.'));
    await press(ann, 'Save');
    await ann.getByText('The page is saved.').waitFor();
    await publish(ann);
    expect(await seen('')).toContain('Other words.');
    await follow(ann, 'Publish again', 'again');
    await expectSound(ann);
    await press(ann, 'Publish it again');
    await ann.getByText('Readers see the earlier deployment now.').waitFor();
    expect(await seen('')).toContain('First words.');
    expect(watched.wrong).toEqual([]);

    await using other = await browser.open();
    const { page: eve, context: hers } = other;
    await signIn(eve, url, 'eve');
    await eve.waitForURL(`${url}/console/globex`);
    const read = async (path: string) => {
      const answer = await hers.request.get(url + path);
      return { status: answer.status(), text: await answer.text() };
    };
    const own = '/sites/acme/treasury/';
    const ofSite = ['', 'guide', 'guide.md', 'search.json', 'feed.atom', 'sitemap.xml', 'llms.txt', '?q=ledger'];
    for (const path of [...ofSite.map((name) => own + name), '/console/acme/sites/treasury', '/@acme'])
      expect([path, (await read(path)).status]).toEqual([path, 404]);
    const lists = ['/', '/search?q=treasury', '/search?q=ledger', '/feed.atom', '/sitemap.xml', '/llms.txt'];
    // A page repeats what was searched for.
    const told = async (path: string) => (await read(path)).text.replaceAll(/q=\w+|value="\w+"|<title>[^<]*/g, '');
    for (const path of lists) expect(await told(path), path).not.toMatch(/treasury|ledger/i);

    // The site is for everybody now, and its API still is not.
    await follow(ann, 'Visibility', 'Who can read the site');
    await tabTo(ann, 'Who can read it');
    await ann.keyboard.press('ArrowDown');
    await press(ann, 'Change the visibility');
    await ann.getByText('The visibility is changed.').waitFor();
    expect((await read(own)).text).toContain('First words.');
    expect((await read(`${own}reference`)).text).toContain('This reference is not available here.');
    for (const path of [...ofSite, 'reference', 'reference.md']) {
      const { status, text } = await read(own + path);
      expect([path, status]).toEqual([path, 200]);
      expect(text, path).not.toMatch(/List (accounts|transfers)|apis\/ledger|1\.1\.0/);
    }
    for (const path of [...lists, '/@acme']) expect(await told(path), path).not.toMatch(/apis\/ledger|List transfers/);
    await eve.goto(`${url}${own}reference`);
    await expectSound(eve);
  },
);
