/**
 * The ten tasks of a first-time visitor of an API's page, done in Chromium, with the clicks that each took. A choice in a list is two clicks; keys that
 * are pressed are told apart. It fails when a task cannot be done.
 *
 *   node scripts/tasks.ts
 *
 * Those of the console are in `scripts/console-tasks.ts`.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Locator } from 'playwright-core';
import { echo } from 'zx';
import { openChromium } from '../test/e2e/browser/chromium.ts';
import { openSite } from '../test/e2e/browser/site.ts';

const file = join(import.meta.dirname, '../../shared/corpus/openapi/company/museum-3.1.yaml');
const echoes = createServer((_request, response) => {
  response.writeHead(200, {
    'Access-Control-Allow-Origin': '*',
    'Access-Control-Allow-Headers': '*',
    'Content-Type': 'application/json',
  });
  response.end('{"sent":true}');
});
await new Promise<void>((resolve) => void echoes.listen(0, '127.0.0.1', resolve));
const target = `http://127.0.0.1:${(echoes.address() as AddressInfo).port}`;

const text = readFileSync(file, 'utf8').replace(/https:\/\/redocly\.com\/_mock[^'"\s]*/, target);
const site = await openSite({ organizations: { acme: { name: 'Acme' } } });
const repository = 'https://github.com/acme/apis.git';
const commit = '0123456789abcdef0123456789abcdef01234567';
const note = { author: 'Ana Müller', subject: 'Rename /museum-hours to /hours' };
await site.publish('@acme/apis/museum', 'museum.yaml', text, { repository, commit, note });
const next = text.replace(/version: .*/, 'version: 2.0.0').replace('  /museum-hours:', '  /hours:');
await site.publish('@acme/apis/museum', 'museum.yaml', next, { repository, commit, note });

const browser = await openChromium(site.url, [target]);
const { page, context, wrong } = await browser.open({ viewport: { width: 1440, height: 1000 } });
await context.grantPermissions(['clipboard-read', 'clipboard-write']);
await page.goto(`${site.url}/@acme/apis/museum`);

let clicks = 0;
let keys = 0;
async function click(what: Locator): Promise<void> {
  clicks++;
  await what.click();
}
async function choose(list: Locator, label: string | RegExp): Promise<void> {
  clicks += 2;
  const option = list.locator('option', { hasText: label }).first();
  await list.selectOption((await option.getAttribute('value'))!);
}
async function press(...all: string[]): Promise<void> {
  for (const key of all) {
    keys += key.length > 1 && key !== 'Enter' ? key.length : 1;
    await (key === 'Enter' || key.length === 1 ? page.keyboard.press(key) : page.keyboard.type(key));
  }
}
function must(isDone: boolean, what: string): void {
  if (!isDone) throw new Error(`Could not ${what}.`);
}

const operation = page.locator('[id="operation/createSpecialEvent"]');
const tasks: [string, () => Promise<void>][] = [
  [
    'find an operation',
    async () => {
      await click(page.locator('.side').getByRole('link', { name: /Create special events/ }));
      await operation.locator('.tools').waitFor();
    },
  ],
  [
    'the same without a mouse',
    async () => {
      await press('/', 'create', 'Enter');
      must(page.url().endsWith('createSpecialEvent'), 'go to the operation by keyboard');
      await press('Escape');
    },
  ],
  [
    'its required fields',
    async () => must((await operation.locator('.props .flag.required').count()) >= 5, 'see the required fields'),
  ],
  [
    'copy a request in Python',
    async () => {
      await choose(operation.getByLabel('Language'), 'Python');
      await click(operation.getByRole('button', { name: 'Copy' }).first());
      must((await page.evaluate<string>('navigator.clipboard.readText()')).includes('import requests'), 'copy Python');
    },
  ],
  [
    'see everything of it',
    async () => {
      const folded = operation.locator('.parts details:not([open])');
      must((await folded.count()) > 0, 'find something folded');
      await click(operation.getByRole('button', { name: 'Expand all' }));
      must((await folded.count()) === 0, 'unfold everything');
    },
  ],
  [
    'send one',
    async () => {
      await click(operation.getByRole('button', { name: 'Try it' }));
      const frame = page.frameLocator('.try-dialog iframe');
      await click(frame.getByRole('button', { name: 'Send' }));
      await frame
        .locator('.try-answer', { hasText: '"sent": true' })
        .waitFor({ timeout: 40_000 })
        .catch(async () => {
          const answer = await frame.locator('body').innerText();
          throw new Error(`No response. ${wrong.join(' ')} ${answer}`);
        });
      await page.locator('.try-dialog').getByRole('button', { name: 'Close' }).click();
    },
  ],
  [
    'link to a field',
    async () => {
      await click(operation.locator('.props > li > code').first());
      must(page.url().endsWith('createSpecialEvent/eventId'), 'link to a field');
    },
  ],
  [
    'what broke',
    async () => {
      await click(page.locator('.facts-line a[href="#changes"]'));
      must((await page.locator('#changes').textContent())!.includes('GET /museum-hours was removed'), 'see what broke');
    },
  ],
  [
    'who published',
    async () =>
      must((await page.locator('.facts-list').first().textContent())!.includes('Ana Müller'), 'see who published'),
  ],
  [
    'subscribe',
    async () => {
      must(await page.locator('.subscribe').getByRole('link', { name: 'Atom' }).isVisible(), 'see the feed');
      // The link itself would leave the page.
      clicks++;
    },
  ],
  [
    'report a problem',
    async () => {
      const link = page.getByRole('link', { name: 'Report a problem' });
      must((await link.getAttribute('href'))!.startsWith('https://github.com/acme/apis/issues/new'), 'report');
      clicks++;
    },
  ],
  [
    'switch version',
    async () => {
      // What broke stands elsewhere on the page.
      await page
        .locator('.side')
        .getByRole('link', { name: /Create special events/ })
        .click();
      await choose(page.getByLabel('Version', { exact: true }), /^1\.2\.1/);
      await page.waitForURL(/museum@1\.2\.1#/);
      must(page.url().endsWith('#operation/createSpecialEvent'), 'stay at the operation');
    },
  ],
  [
    'find something from anywhere',
    async () => {
      await page.keyboard.press('ControlOrMeta+k');
      // The dialog comes with the first key that is held: a person is slower.
      await page.locator('dialog.anywhere').waitFor();
      await press('ticket');
      await page.locator('.anywhere .suggestions a', { hasText: '/tickets' }).first().waitFor();
      keys++;
    },
  ],
];
for (const [name, act] of tasks) {
  clicks = 0;
  keys = 0;
  await act();
  echo(`${name.padEnd(26)} ${clicks} ${clicks === 1 ? 'click' : 'clicks'}${keys === 0 ? '' : `, ${keys} keys`}`);
}
await browser[Symbol.asyncDispose]();
await site[Symbol.asyncDispose]();
echoes.close();
process.exit(0);
