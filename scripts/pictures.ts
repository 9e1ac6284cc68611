/**
 * The pictures of README.md, of docs/visual-language.md and of docs/reference-pages.md: one operation in Stele, and beside it in Redoc,
 * Scalar and Swagger UI. `scripts/console-pictures.ts` has those of the console and of sites, `scripts/axe.ts --pictures` any other page.
 *
 *   node scripts/pictures.ts [--peers folder/node_modules] [--out docs] [--only look/]
 *
 * The folder has `redoc`, `@scalar/api-reference` and `swagger-ui-dist` of npm. Of `reference-largest.jpg` only what shows Stele is made
 * anew: the rows below it are Redoc and Scalar, which take minutes for these documents.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
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
const screen = { width: 1440, height: 900 };

await site.publish('@acme/apis/train', 'train.yaml', train);
const museum = readFileSync(join(corpus, 'company/museum-3.1.yaml'), 'utf8');
const origin = {
  repository: 'https://github.com/acme/apis.git',
  commit: '0123456789abcdef0123456789abcdef01234567',
  note: { author: 'Ana Müller', subject: 'Rename /museum-hours' },
};
for (const version of ['1.0.0', '1.1.0', '2.0.0']) {
  const text = museum.replace(/version: .*/, `version: ${version}`);
  const changed = version === '2.0.0' ? text.replace('  /museum-hours:', '  /hours:') : text;
  await site.publish('@acme/apis/museum', 'museum.yaml', changed, origin);
}
const museumAt = `${site.url}/@acme/apis/museum`;
const create = `${museumAt}#operation/createSpecialEvent`;
await picture('readme-light.jpg', museumAt, '.ask', { width: 1280, height: 720 });
await picture('readme-dark.jpg', museumAt, '.ask', { width: 1280, height: 720 }, 'dark');
await picture('look/operation-wide-light.jpg', create, '.try-it', screen);
await picture('look/operation-narrow-dark.jpg', create, '.try-it', narrow, 'dark');
await picture('look/changes-wide-light.jpg', `${museumAt}@2.0.0/diff`, 'main', screen);
await picture('look/versions-narrow-dark.jpg', `${museumAt}/versions`, 'main', narrow, 'dark');
await picture('look/home-wide-light.jpg', site.url, 'main', screen);
await picture('look/home-narrow-light.jpg', site.url, 'main', narrow);
await picture('reference-stele-head.jpg', `${site.url}/@acme/apis/train`, '.intro', wide);
await picture('reference-stele.jpg', `${site.url}/@acme/apis/train#operation/create-booking-payment`, '.try-it', wide);
await picture('reference-stele-body.jpg', `${site.url}/@acme/apis/train#operation/create-booking`, '.try-it', wide);
await picture(
  'reference-stele-narrow.jpg',
  `${site.url}/@acme/apis/train#operation/create-booking-payment`,
  '.try-it',
  narrow,
);
await picture('reference-stele-head-narrow.jpg', `${site.url}/@acme/apis/train`, '.intro', narrow);
if ('reference-largest'.startsWith(only)) await pictureLargest();
if (peers !== '') {
  const payment = 'tag/Payments/operation/create-booking-payment';
  await picture('reference-redoc.jpg', `${elsewhere}/redoc#${payment}`, `[id="${payment}"]`, wide);
  await picture('reference-redoc-head.jpg', `${elsewhere}/redoc`, '[id^="tag/"]', wide);
  await picture(
    'reference-redoc-body.jpg',
    `${elsewhere}/redoc#tag/Bookings/operation/create-booking`,
    '[id^="tag/"]',
    wide,
  );
  const scalar = 'tag/payments/POST/bookings/{bookingId}/payment';
  await picture('reference-scalar.jpg', `${elsewhere}/scalar#${scalar}`, '[id*="tag/"]', wide);
  await picture('reference-scalar-head.jpg', `${elsewhere}/scalar`, '[id*="tag/"]', wide);
  await picture('reference-scalar-body.jpg', `${elsewhere}/scalar#tag/bookings/POST/bookings`, '[id*="tag/"]', wide);
  const block = '#operations-Payments-create-booking-payment';
  await picture('reference-swagger.jpg', `${elsewhere}/swagger#/Payments/create-booking-payment`, block, wide);
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

/** One operation of each of three large documents, side by side. */
async function pictureLargest(): Promise<void> {
  const largest = [
    { slug: 'github', file: 'api.github.com.json.gz', operation: 'issues/create' },
    { slug: 'zoom', file: 'zoom-us-oneline.json.gz', operation: 'meetingCreate' },
    { slug: 'plaid', file: 'plaid-2020-09-14.yml.gz', operation: 'linkTokenCreate' },
  ];
  const wideTiles: Buffer[] = [];
  const narrowTiles: Buffer[] = [];
  for (const { slug, file, operation } of largest) {
    const text = gunzipSync(readFileSync(join(corpus, 'huge', file))).toString();
    await site.publish(`@acme/apis/${slug}`, file.slice(0, -3), text);
    const at = `${site.url}/@acme/apis/${slug}#operation/${operation.replace('/', '-')}`;
    wideTiles.push(await shot(at, '.try-it', screen, 'light', { type: 'png' }));
    narrowTiles.push(await shot(at, '.try-it', narrow, 'dark', { type: 'png' }));
  }
  const before = readFileSync(join(out, 'reference-largest.jpg'));
  await compose('reference-largest.jpg', { width: 1950, height: 1219 }, wideTiles, before);
  await compose('reference-largest-narrow.jpg', { width: 3 * narrow.width, height: narrow.height }, narrowTiles);
}

/** Pictures in a row, at the top of another one. */
async function compose(file: string, viewport: typeof wide, row: readonly Buffer[], under?: Buffer): Promise<void> {
  const page = await browser.newPage({ viewport });
  const sourceOf = (bytes: Buffer, type: string) => `data:image/${type};base64,${bytes.toString('base64')}`;
  const images = row.map((bytes) => `<img style="width:33.333%" src="${sourceOf(bytes, 'png')}">`).join('');
  const ground = under === undefined ? '' : `background:url(${sourceOf(under, 'jpeg')})`;
  await page.setContent(
    `<body style="margin:0;height:${viewport.height}px;${ground}"><div style="display:flex">${images}`,
  );
  await page.screenshot({ path: join(out, file), type: 'jpeg', quality: 75 });
  await page.close();
  echo(file);
}

/** The first screen at an address, once what is looked for is there and nothing moves any more. */
async function picture(
  file: string,
  url: string,
  ready: string,
  viewport: typeof wide,
  colorScheme: 'light' | 'dark' = 'light',
): Promise<void> {
  if (!file.startsWith(only)) return;
  await shot(url, ready, viewport, colorScheme, { path: join(out, file), type: 'jpeg', quality: 70 });
  echo(file);
}

async function shot(
  url: string,
  ready: string,
  viewport: typeof wide,
  colorScheme: 'light' | 'dark',
  how: Parameters<Page['screenshot']>[0],
): Promise<Buffer> {
  const page: Page = await browser.newPage({ viewport, colorScheme });
  do await page.goto(url);
  while ((await page.content()).includes('data-reload'));
  await page.locator(ready).first().waitFor({ state: 'attached', timeout: 180_000 });
  await page.evaluate(`document.fonts.ready`);
  await page.waitForLoadState('networkidle');
  await page.waitForTimeout(1500);
  const bytes = await page.screenshot(how);
  await page.close();
  return bytes;
}
