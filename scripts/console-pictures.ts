/**
 * The pictures of docs/console.md and docs/sites.md: an organization with a version that waits for approval, a rejected document, and a
 * site with two guides and an embedded API.
 *
 *   node scripts/console-pictures.ts [--out docs] [--only console/]
 */
import { join } from 'node:path';
import { argv, echo } from 'zx';
import { changeResource } from '../src/registry/change-resource.ts';
import { openConsoleWorld, signIn } from '../test/e2e/browser/console-world.ts';
import { author, deploy, writeSite } from '../test/sites/server/site-world.ts';

const out = String(argv['out'] ?? 'docs');
const only = String(argv['only'] ?? '');
const wide = { width: 1440, height: 900 };
const narrow = { width: 390, height: 844 };

const ledger = (version: string, ...paths: string[]) =>
  `openapi: 3.1.0
info: { title: Ledger, version: ${version} }
paths:
${paths.map((path) => `  ${path}: { get: { responses: { '200': { description: OK. } } } }\n`).join('')}`;
const payments = `openapi: 3.1.0
info: { title: Payments, version: 1.4.0, description: Take money and give it back. }
servers: [{ url: https://api.acme.example/v1 }]
paths:
  /payments:
    post:
      operationId: createPayment
      summary: Create a payment
      requestBody: { content: { application/json: { schema: { $ref: '#/components/schemas/Payment' } } } }
      responses:
        '201': { description: Created., content: { application/json: { schema: { $ref: '#/components/schemas/Payment' } } } }
components:
  schemas:
    Payment:
      type: object
      required: [amount, currency]
      properties:
        amount: { type: integer, minimum: 1, description: In the smallest unit., example: 1999 }
        currency: { type: string, pattern: '^[A-Z]{3}$', example: EUR }
        reference: { type: string, maxLength: 140, example: Order 17 }
`;
const pay = `---
title: Take a payment
description: From the first request to the money in your account.
---

One request creates a payment. It is charged at once, and its state never goes back.

## Create it

\`\`\`js
const payment = await fetch('https://api.acme.example/v1/payments', {
  method: 'POST',
  headers: { authorization: \`Bearer \${key}\` },
  body: JSON.stringify({ amount: 1999, currency: 'EUR' }),
});
\`\`\`

> [!TIP]
> Send an idempotency key with each request: a retry never charges twice.

## Test cards

| Card | What happens |
| --- | --- |
| 4242 4242 4242 4242 | It is charged. |
| 4000 0000 0000 0002 | It is declined. |

## The operation

::operation @acme/apis/payments createPayment
`;
const site = {
  'index.md': `---
title: Welcome
description: Everything for those who build on Acme.
---

## Start

1. [Take a payment](guides/pay.md).
2. [Give it back](guides/refund.md).

## What there is

| API | For |
| --- | --- |
| [Payments](api.md) | Taking money |

> [!NOTE]
> All examples use the test key.
`,
  'guides/pay.md': pay,
  'guides/refund.md': '---\ntitle: Refund a payment\n---\n\nA refund goes back to the card.\n',
  'api.md': '---\ntitle: Payments API\norder: 9\n---\n\n::api @acme/apis/payments\n',
};

await using world = await openConsoleWorld({
  'stele.yaml':
    'resources:\n  - { path: ledger.yaml, approval: required }\n  - { path: payments.yaml }\n  - { path: wrong.yaml }\n',
  'ledger.yaml': ledger('1.0.0', '/entries', '/accounts'),
  'payments.yaml': payments,
  'wrong.yaml': 'openapi: 3.1.0\ninfo: { title: Wrong, version: 1.0.0 }\npaths: { /x: { $ref: gone.yaml } }\n',
});
const at = `${world.url}/console/acme`;
await using watched = await world.browser.open({ viewport: wide });
const { page, context } = watched;
await signIn(page, world.url, 'ann');
await page.waitForURL(at);
await page.goto(`${at}/repositories/new`);
await page.getByLabel('Repository').first().fill(world.remote);
await page.keyboard.press('Enter');
await page.getByRole('heading', { name: 'Documents' }).first().waitFor();
world.repository.commit({ files: { 'ledger.yaml': ledger('2.0.0', '/entries') } });
await page.goto(`${at}/repositories`);
await page.getByRole('link', { name: world.remote }).click();
await page.getByRole('button', { name: 'Sync now' }).click();
await page.locator('.part tbody').first().waitFor();
await changeResource(world.registry, { org: 'acme', type: 'apis', slug: 'payments' }, { visibility: 'public' }, author);
await writeSite(world.registry, site, { title: 'Acme handbook' });
await deploy(world.registry);
await writeSite(world.registry, { 'guides/pay.md': pay.replace('Test cards', 'Cards for tests') });
const storageState = await context.storageState();

const handbook = `${at}/sites/handbook`;
const guide = `${world.url}/sites/acme/handbook/guides/pay`;
const edit = `${handbook}/edit?file=guides%2Fpay.md`;
for (const theme of ['light', 'dark'] as const) {
  await picture(`console/overview-${theme}.jpg`, at, wide, theme);
  await picture(`console/resource-${theme}.jpg`, `${at}/apis/ledger`, wide, theme);
  await picture(`console/site-${theme}.jpg`, handbook, wide, theme);
  await picture(`console/editor-${theme}.jpg`, edit, wide, theme, 'Preview');
  await picture(`console/publish-${theme}.jpg`, `${handbook}/publish`, wide, theme);
  await picture(`console/editor-narrow-${theme}.jpg`, edit, narrow, theme, 'Preview');
}
await picture('console/overview-narrow-light.jpg', at, narrow, 'light');
await picture('console/resource-narrow-light.jpg', `${at}/apis/ledger`, narrow, 'light');
await picture('console/site-narrow-dark.jpg', handbook, narrow, 'dark');
await picture('sites/home-wide-light.jpg', `${world.url}/sites/acme/handbook/`, wide, 'light');
await picture('sites/home-narrow-light.jpg', `${world.url}/sites/acme/handbook/`, narrow, 'light');
await picture('sites/page-wide-light.jpg', guide, wide, 'light');
await picture('sites/page-wide-dark.jpg', guide, wide, 'dark');
await picture('sites/page-narrow-dark.jpg', guide, narrow, 'dark');
await picture('sites/embed-wide-dark.jpg', `${guide}#the-operation`, wide, 'dark');
await picture('sites/search-wide-light.jpg', `${world.url}/sites/acme/handbook/?q=refund`, wide, 'light');

/** The first screen at an address, after a press of this button. */
async function picture(
  file: string,
  url: string,
  viewport: typeof wide,
  colorScheme: 'light' | 'dark',
  button = '',
): Promise<void> {
  if (!file.startsWith(only)) return;
  await using opened = await world.browser.open({ viewport, colorScheme, storageState });
  await opened.page.goto(url);
  if (button !== '') await opened.page.getByRole('button', { name: button, exact: true }).click();
  await opened.page.waitForLoadState('networkidle');
  await opened.page.waitForTimeout(1500);
  await opened.page.screenshot({ path: join(out, file), type: 'jpeg', quality: 70 });
  echo(file);
}
process.exit(0);
