/**
 * Twelve jobs in the console, done in Chromium, with the clicks that each took from the overview of its organization, and what the page
 * leads to afterwards. A choice in a list is two clicks; what is typed is not counted. A job that ends on a page without a link on is a
 * dead end, and fails.
 *
 *   node scripts/console-tasks.ts
 */
import type { Locator } from 'playwright-core';
import { argv, echo } from 'zx';
import { by, openConsoleWorld, signIn } from '../test/e2e/browser/console-world.ts';
import { openReceiver } from '../test/servers/receiver.ts';

const api = (title: string, version: string, ...paths: string[]) =>
  `openapi: 3.1.0\ninfo: { title: ${title}, version: ${version} }\npaths:\n${paths.map((path) => `  ${path}: { get: { responses: { '200': { description: OK. } } } }\n`).join('')}`;
const settings = 'resources:\n  - { path: ledger.yaml, approval: required }\n';

await using receiver = await openReceiver();
await using world = await openConsoleWorld({
  'stele.yaml': settings,
  'ledger.yaml': api('Ledger', '1.0.0', '/entries', '/accounts', '/books'),
});
// Whoever wrote it is known, so that somebody else is certainly another person.
await using writer = await world.browser.open();
await signIn(writer.page, world.url, 'bob');
await writer.page.waitForURL(`${world.url}/console/acme`);
await using watched = await world.browser.open({ viewport: { width: 1440, height: 900 } });
let { page } = watched;
watched.context.setDefaultTimeout(60_000);
const overview = `${world.url}/console/acme`;
await signIn(page, world.url, 'ann');
await page.waitForURL(overview);

let clicks = 0;
async function click(what: Locator): Promise<void> {
  clicks++;
  await what.click();
}
async function choose(list: Locator, value: string): Promise<void> {
  clicks += 2;
  await list.selectOption(value);
}
const nav = (name: string) => click(page.locator('.console-nav').getByRole('link', { name }));
const link = (name: string | RegExp) => click(page.locator('main').getByRole('link', { name }).first());
const button = (name: string) => click(page.locator('main').getByRole('button', { name, exact: true }).first());
const says = (text: string | RegExp) => page.locator('main').getByText(text).first().waitFor();

async function hold(version: string, ...paths: string[]): Promise<void> {
  world.repository.commit({ files: { 'ledger.yaml': api('Ledger', version, ...paths) }, by });
  await page.goto(`${overview}/repositories`);
  await page.getByRole('link', { name: world.remote }).click();
  await page.getByRole('button', { name: 'Sync now' }).click();
  await page.getByText('waits for approval').first().waitFor();
}

/** What is done, and where one goes on afterwards: the link or button must be there. */
const jobs: [job: string, act: () => Promise<void>, next: string, prepare?: () => Promise<void>][] = [
  [
    'publish a first document',
    async () => {
      await link('New');
      await page.getByLabel('Document', { exact: true }).fill(api('Payments', '1.0.0', '/payments'));
      await button('Publish');
      await page.waitForURL('**/published/1.0.0');
    },
    'Open its page',
  ],
  [
    'connect a repository',
    async () => {
      await nav('Repositories');
      await link('Follow a repository');
      await page.getByLabel('Repository').first().fill(world.remote);
      await button('Follow and read it');
      await page.getByRole('heading', { name: 'Sync succeeded' }).waitFor();
    },
    'ledger.yaml',
  ],
  [
    'make something private',
    async () => {
      await link('Payments');
      await link('Visibility');
      await choose(page.getByLabel('Who can read it'), 'private');
      await button('Change the visibility');
      await page.waitForURL('**/payments?done=*');
    },
    'Open the page',
    async () => {
      await page.goto(`${overview}/apis/payments/visibility`);
      await page.getByLabel('Who can read it').selectOption('public');
      await page.getByRole('button', { name: 'Change the visibility' }).click();
      await page.waitForURL('**/payments?done=*');
    },
  ],
  [
    'approve what is held',
    async () => {
      await link(/ledger@2/);
      await link('Decide');
      await choose(page.getByLabel('Decision'), 'approved');
      await page.getByLabel('Why').fill('Nobody reads the books.');
      await button('Decide');
      await page.getByRole('cell', { name: 'approved' }).waitFor();
    },
    'Its versions',
    () => hold('2.0.0', '/entries', '/accounts'),
  ],
  [
    'reject what is held',
    async () => {
      await link(/ledger@3/);
      await link('Decide');
      await choose(page.getByLabel('Decision'), 'rejected');
      await page.getByLabel('Why').fill('Accounts are needed.');
      await button('Decide');
      await page.getByRole('cell', { name: 'rejected' }).waitFor();
    },
    'Its versions',
    () => hold('3.0.0', '/entries'),
  ],
  [
    'create a key',
    async () => {
      await nav('Keys');
      await link('Create a key');
      await page.getByLabel('Name', { exact: true }).fill('ci');
      await button('Create the key');
      await page.locator('.secret').waitFor();
    },
    'All keys',
  ],
  [
    'rotate it',
    async () => {
      await nav('Keys');
      await link('Replace');
      await button('Make the new key');
      await page.locator('.secret').waitFor();
    },
    'All keys',
  ],
  [
    'give a person rights',
    async () => {
      await nav('Members');
      await link('Give rights');
      await page.getByLabel('Person').fill(`${world.issuer}#carol`);
      await button('Give the rights');
      await says('The rights are given.');
    },
    'Take back',
  ],
  [
    'add a webhook, see a delivery',
    async () => {
      await nav('Webhooks');
      await link('Add an endpoint');
      await page.getByLabel('URL').fill(receiver.url);
      await button('Add the endpoint');
      await page.locator('.secret').waitFor();
      await link('Send a test event');
      await button('Send it');
      await says('accepted the test event');
    },
    'Back to the endpoint',
  ],
  [
    'yank a version, take it back',
    async () => {
      await link('Payments');
      await link('Yank');
      await page.getByLabel('Reason').fill('Wrong prices.');
      await button('Yank');
      await link('Make active');
      await button('Make it active');
      await says('The version is active.');
    },
    'Open the page',
  ],
  [
    'delete, bring back',
    async () => {
      await link('Payments');
      await link('Delete it');
      await button('Delete it');
      await link('Bring it back');
      await button('Bring it back');
      await page.getByRole('heading', { name: 'Payments' }).waitFor();
    },
    'Open the page',
  ],
  [
    'make an organization, see members',
    async () => {
      await click(page.locator('.account'));
      await link('Create an organization');
      await page.getByLabel('Name', { exact: true }).fill('initech');
      await button('Create it');
      await link('Its members');
      await page.waitForURL('**/console/initech/members');
    },
    'Give rights',
  ],
];
let failed = 0;
for (const [name, act, next, prepare] of jobs) {
  if (!name.includes(String(argv['only'] ?? ''))) continue;
  let said = '';
  try {
    // What was typed and not sent would ask before the page is left.
    page = await watched.context.newPage();
    await prepare?.();
    await page.goto(overview);
    clicks = 0;
    await act();
    const on = page
      .locator('main')
      .getByRole('link', { name: next })
      .or(page.locator('main').getByRole('button', { name: next }));
    if ((await on.count()) === 0) said = `dead end: no "${next}"`;
  } catch (error) {
    said = String(error).split('\n').slice(0, 4).join(' ');
  }
  if (said !== '') {
    failed++;
    const seen = await page.locator('main').innerText();
    said = ` ✗ ${said}\n     at ${page.url()}\n     ${seen.replaceAll('\n', ' | ').slice(0, 1500)}`;
  }
  echo(`${name.padEnd(34)} ${clicks} ${clicks === 1 ? 'click' : 'clicks'}, then ${next}${said}`);
}
process.exit(failed === 0 ? 0 : 1);
