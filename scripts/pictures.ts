/**
 * The pictures of docs/reference-pages.md: one operation in Stele and beside it in Redoc, Scalar and Swagger UI, and large documents.
 * Pictures of the console and of other pages are those of `node scripts/axe.ts --pictures`.
 *
 *   node scripts/pictures.ts --peers folder/node_modules [--out docs] [--only stele]
 *
 * The folder has `redoc`, `@scalar/api-reference` and `swagger-ui-dist` of npm.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { chromium, type Page } from 'playwright-core';
import { argv, echo } from 'zx';
import { chromiumArgs, executablePath } from '../test/e2e/browser/chromium.ts';
import { openSite } from '../test/e2e/browser/site.ts';

const out = String(argv['out'] ?? 'docs');
const only = String(argv['only'] ?? '');
const peers = String(argv['peers'] ?? '');
const corpus = join(import.meta.dirname, '../../shared/corpus/openapi');
const train = readFileSync(join(corpus, 'company/train-travel-3.1.yaml'), 'utf8');

const files: Record<string, { type: string; body: () => string | Uint8Array }> = {
  '/train.yaml': { type: 'application/yaml', body: () => train },
  '/redoc.js': script('redoc/bundles/redoc.standalone.js'),
  '/scalar.js': script('@scalar/api-reference/dist/browser/standalone.js'),
  '/swagger.js': script('swagger-ui-dist/swagger-ui-bundle.js'),
  '/swagger.css': { type: 'text/css', body: () => readFileSync(join(peers, 'swagger-ui-dist/swagger-ui.css')) },
  '/redoc': pageWith('<redoc spec-url="/train.yaml"></redoc><script src="/redoc.js"></script>'),
  '/scalar': pageWith(
    `<div id="ui"></div><script src="/scalar.js"></script><script>Scalar.createApiReference('#ui',{url:'/train.yaml'})</script>`,
  ),
  '/swagger': pageWith(
    `<link rel="stylesheet" href="/swagger.css"><div id="ui"></div><script src="/swagger.js"></script><script>SwaggerUIBundle({url:'/train.yaml',dom_id:'#ui',deepLinking:true})</script>`,
  ),
};
const server = createServer((request, response) => {
  const file = files[new URL(request.url!, 'http://x.example').pathname];
  if (file === undefined) return void response.writeHead(404).end();
  response.writeHead(200, { 'Content-Type': file.type }).end(file.body());
});
await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
const elsewhere = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

await using site = await openSite({ organizations: { acme: { name: 'Acme' } } });
const browser = await chromium.launch({ executablePath: executablePath!, args: chromiumArgs });
const wide = { width: 1440, height: 1000 };
const narrow = { width: 390, height: 844 };

await site.publish('@acme/apis/train', 'train.yaml', train);
await picture('stele-head', `${site.url}/@acme/apis/train`, '.intro', wide);
await picture('stele', `${site.url}/@acme/apis/train#operation/create-booking-payment`, '.try-it', wide);
await picture('stele-body', `${site.url}/@acme/apis/train#operation/create-booking`, '.try-it', wide);
await picture('stele-narrow', `${site.url}/@acme/apis/train#operation/create-booking-payment`, '.try-it', narrow);
await picture('stele-head-narrow', `${site.url}/@acme/apis/train`, '.intro', narrow);
if (peers !== '') {
  const payment = 'tag/Payments/operation/create-booking-payment';
  await picture('redoc', `${elsewhere}/redoc#${payment}`, `[id="${payment}"]`, wide);
  await picture('redoc-head', `${elsewhere}/redoc`, '[id^="tag/"]', wide);
  await picture('redoc-body', `${elsewhere}/redoc#tag/Bookings/operation/create-booking`, '[id^="tag/"]', wide);
  const scalar = 'tag/payments/POST/bookings/{bookingId}/payment';
  await picture('scalar', `${elsewhere}/scalar#${scalar}`, '[id*="tag/"]', wide);
  await picture('scalar-head', `${elsewhere}/scalar`, '[id*="tag/"]', wide);
  await picture('scalar-body', `${elsewhere}/scalar#tag/bookings/POST/bookings`, '[id*="tag/"]', wide);
  const block = '#operations-Payments-create-booking-payment';
  await picture('swagger', `${elsewhere}/swagger#/Payments/create-booking-payment`, block, wide);
}
await browser.close();
server.close();
process.exit(0);

function script(path: string) {
  return { type: 'text/javascript', body: () => readFileSync(join(peers, path)) };
}

function pageWith(body: string) {
  return { type: 'text/html', body: () => `<!doctype html><html lang="en"><meta charset="utf-8"><body>${body}` };
}

/** The first screen at an address, once what is looked for is there and nothing moves any more. */
async function picture(name: string, url: string, ready: string, viewport: typeof wide): Promise<void> {
  if (!name.startsWith(only)) return;
  const page: Page = await browser.newPage({ viewport, colorScheme: argv['theme'] ?? 'light' });
  await page.goto(url);
  await page.locator(ready).first().waitFor({ state: 'attached', timeout: 180_000 });
  await page.evaluate(`document.fonts.ready`);
  await page.waitForLoadState('networkidle');
  await page.waitForTimeout(1500);
  await page.screenshot({ path: join(out, `reference-${name}.jpg`), type: 'jpeg', quality: 70 });
  await page.close();
  echo(name);
}
