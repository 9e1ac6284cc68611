import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { changeStatus } from '../../../src/registry/change-version.ts';
import {
  allFindings,
  executablePath,
  openChromium,
  seriousFindings,
  whySkipped,
  type OpenChromium,
  type Watched,
} from './chromium.ts';
import { openSite, type OpenSite } from './site.ts';

const canRun = executablePath !== undefined;
const order = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'Order',
  type: 'object',
  required: ['id'],
  properties: { id: { type: 'string' }, line: { $ref: '#/$defs/line' }, slow: { type: 'string', pattern: '^(a+)+$' } },
  $defs: { line: { type: 'object', properties: { count: { type: 'integer', minimum: 1 } } } },
};

/** A server that an API names: tells what it was sent. */
interface Target {
  url: string;
  cookies: (string | undefined)[];
  close(): void;
}

async function openTarget(): Promise<Target> {
  const cookies: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    cookies.push(request.headers.cookie);
    response.writeHead(200, {
      'Content-Type': 'application/json',
      'Access-Control-Allow-Origin': '*',
      'Set-Cookie': 'seen=1',
    });
    response.end('{"answer":42}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, cookies, close: () => void server.close() };
}

let site: OpenSite;
let browser: OpenChromium;
let target: Target;

beforeAll(async () => {
  if (!canRun) return;
  target = await openTarget();
  site = await openSite({ organizations: { acme: { name: 'Acme', defaults: { ruleset: '@acme/rulesets/style' } } } });
  browser = await openChromium(site.url, [target.url]);
  await site.publish(
    '@acme/rulesets/style',
    'style.yaml',
    'rules:\n  operation-summary: warn\n  tag-description: warn\n',
  );
  await site.publish('@acme/schemas/order', 'order.json', JSON.stringify(order));
  const api = (version: string, paths: object) =>
    JSON.stringify({ openapi: '3.1.0', info: { title: 'Pay', version }, servers: [{ url: target.url }], paths });
  const get = { get: { operationId: 'ask', summary: 'Ask', responses: { 200: { description: 'Well' } } } };
  const parameters = [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }];
  const plain = { get: { responses: { 200: { description: 'Well' } } } };
  await site.publish('@acme/apis/pay', 'pay.json', api('1.0.0', { '/old': plain }));
  await site.publish('@acme/apis/pay', 'pay.json', api('1.1.0', { '/ask': get, '/old': plain }));
  const gone = {
    delete: { deprecated: true, summary: 'Gone', parameters, responses: { 204: { description: 'Done' } } },
  };
  await site.publish('@acme/apis/pay', 'pay.json', api('1.2.0', { '/ask': get }));
  await site.publish('@acme/apis/gone', 'gone.json', api('1.0.0', { '/gone/{id}': gone }));
  const coordinate = { org: 'acme', type: 'apis', slug: 'pay' } as const;
  const author = { actor: 'operator:test', origin: null };
  const deprecated = {
    state: 'deprecated',
    reason: 'Slow.',
    replacement: '1.2.0',
    sunset: '2027-01-01T00:00:00.000Z',
  } as const;
  await changeStatus(site.registry, coordinate, '1.1.0', deprecated, author);
  await changeStatus(site.registry, coordinate, '1.0.0', { state: 'withdrawn', reason: 'It held a secret.' }, author);
});

afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await site?.[Symbol.asyncDispose]();
  target?.close();
});

describe.skipIf(!canRun)(`every other page${whySkipped}`, () => {
  const pages = [
    ['/', 'Contracts', 200],
    ['/@acme', 'Acme', 200],
    ['/@acme/apis', 'APIs of Acme', 200],
    ['/@acme/apis/pay', 'Pay', 200],
    ['/@acme/apis/pay@1.1.0', 'Pay', 200],
    ['/@acme/schemas/order', 'Order', 200],
    ['/@acme/rulesets/style', 'style', 200],
    ['/@acme/apis/pay/versions', 'Versions of', 200],
    ['/@acme/apis/pay/report', 'Checks of', 200],
    ['/@acme/apis/pay/provenance', 'comes from', 200],
    ['/problems', 'Problems', 200],
    ['/problems/not_found', 'Not found', 200],
    ['/@acme/apis/absent', 'Not found', 404],
    ['/@acme/apis/pay@1.0.0', 'Withdrawn or deleted', 410],
    ['/nowhere', 'Not found', 404],
  ] as const;

  const looks = [
    { width: 1440, colorScheme: 'dark' },
    { width: 380, colorScheme: 'light' },
  ] as const;
  const opened: Watched[] = [];
  beforeAll(async () => {
    for (const { width, colorScheme } of looks)
      opened.push(await browser.open({ viewport: { width, height: 900 }, colorScheme }));
  });

  test.for(pages)('%s', async ([path, heading, status]) => {
    // Each page in one look, the next in the other.
    const at = pages.findIndex((each) => each[0] === path) % 2;
    const { width } = looks[at]!;
    const { page, wrong } = opened[at]!;
    wrong.length = 0;
    const response = await page.goto(`${site.url}${path}`);
    expect(response!.status()).toBe(status);
    expect(await page.locator('h1').textContent()).toContain(heading);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
    // The console of the browser tells of every answer that is a refusal.
    expect(wrong.filter((line) => !/Failed to load resource.*(?:404|410)/.test(line))).toEqual([]);
    expect(await seriousFindings(page)).toEqual([]);
  });

  test(`a deprecated version says so, what it changed, and what to use`, async () => {
    await using watched = await browser.open();
    const { page, wrong } = watched;
    await page.goto(`${site.url}/@acme/apis/pay@1.1.0`);
    expect(await page.locator('.banner').textContent()).toMatch(
      /This version is deprecated since .* Slow\.\s*Use 1\.2\.0 instead\. It ends on 1 Jan 2027\./,
    );
    await page.goto(`${site.url}/@acme/apis/pay`);
    const changes = page.locator('#changes');
    expect(await changes.locator('h2').textContent()).toMatch(/^What changed since 1\.1\.0.*1 breaking/s);
    expect(await changes.locator('.change-list').textContent()).toMatch(/GET \/old/);
    expect(await page.locator('#versions li').allTextContents()).toEqual([
      expect.stringMatching(/^1\.2\.0.*latest/s),
      expect.stringMatching(/^1\.1\.0.*deprecated$/s),
      expect.stringMatching(/^1\.0\.0.*withdrawn$/s),
    ]);
    expect(wrong).toEqual([]);
  });

  test(`what is printed by a reader of dark pages is ink on paper`, async () => {
    await using watched = await browser.open({ colorScheme: 'dark' });
    const { page } = watched;
    await page.emulateMedia({ media: 'print' });
    await page.goto(`${site.url}/@acme/apis/pay@1.1.0`);
    const grounds = await page.evaluate<string[]>(
      `[...document.querySelectorAll('main :is(.tag, .pill, .method, .banner)')].map((part) => getComputedStyle(part).backgroundColor)`,
    );
    expect(grounds.length).toBeGreaterThan(3);
    expect([...new Set(grounds)]).toEqual(['rgb(255, 255, 255)']);
    // Also where the reader opened what the registry knows: problems stay folded on paper.
    await page.evaluate(`document.querySelector('.panel-facts').open = true`);
    expect(await page.locator('#checks h2').isVisible()).toBe(true);
    expect(await page.locator('#checks .fold > :not(summary)').first().isVisible()).toBe(false);
  });

  test('the button that copies covers no code', async () => {
    await using watched = await browser.open({ viewport: { width: 390, height: 844 } });
    const { page } = watched;
    for (const path of ['/@acme/apis/pay/provenance', '/@acme/schemas/order']) {
      await page.goto(`${site.url}${path}`);
      const button = page.locator('.code > .copy-code').first();
      await button.waitFor();
      const code = (await button.locator('xpath=../pre').boundingBox())!;
      const { x, y, height } = (await button.boundingBox())!;
      expect(code.x + code.width <= x || code.y >= y + height, path).toBe(true);
    }
  });

  test('on dark pages a panel is lighter than the ground, and what stands in one lighter still', async () => {
    await using watched = await browser.open({ colorScheme: 'dark' });
    await watched.page.goto(site.url);
    const lights = await watched.page.evaluate<number[]>(`['--ground', '--panel', '--raised'].map((name) => {
      document.body.style.background = 'var(' + name + ')';
      return getComputedStyle(document.body).backgroundColor.match(/\\d+/g).reduce((sum, part) => sum + Number(part), 0);
    })`);
    expect(lights[1]! - lights[0]!).toBeGreaterThan(20);
    expect(lights[2]! - lights[1]!).toBeGreaterThan(20);
  });

  test(`a ruleset lists what it checks`, async () => {
    await using watched = await browser.open();
    const { page, wrong } = watched;
    await page.goto(`${site.url}/@acme/rulesets/style`);
    expect(await page.locator('#users .coordinate').allTextContents()).toEqual(['@acme/apis/gone', '@acme/apis/pay']);
    // Its rules stand above who uses them.
    const places = await page.locator('main :is(#rules, #users)').evaluateAll((all) => all.map(({ id }) => id));
    expect(places).toEqual(['rules', 'users']);
    expect(wrong).toEqual([]);
  });

  test('a schema validates an instance in the browser', async () => {
    await using watched = await browser.open();
    const { page, wrong } = watched;
    await page.goto(`${site.url}/@acme/schemas/order`);
    const verdict = page.locator('.verdict');
    const judge = async (text: string) => {
      await page.getByLabel('An instance').fill(text);
      await page.getByRole('button', { name: 'Validate' }).click();
    };
    await judge('{"id":"a","line":{"count":1}}');
    await expect.poll(() => verdict.textContent()).toBe('Valid.');
    await judge('{"line":{"count":0}}');
    await expect.poll(() => verdict.textContent()).toMatch(/Not valid: .*#\/line\/count/);
    await judge('{');
    await expect.poll(() => verdict.textContent()).toMatch(/This is not JSON/);
    expect(wrong).toEqual([]);
  });

  test(`a request is tried where its operation stands`, async () => {
    await using watched = await browser.open({ colorScheme: 'dark' });
    const { page, wrong } = watched;
    await page.goto(`${site.url}/@acme/apis/pay#operation/ask`);
    await page.getByRole('button', { name: 'Try it', exact: true }).click();
    const frame = page.frameLocator('.try-dialog iframe');
    await frame.getByRole('button', { name: 'Send' }).click();
    await frame.locator('.try-answer pre', { hasText: '42' }).waitFor();
    expect(await frame.locator('pre').first().textContent()).toBe(`curl '${target.url}/ask'`);
    expect(wrong).toEqual([]);
    const inside = page.frames().find((each) => each.url().includes('/try'))!;
    expect(await seriousFindings(inside as never)).toEqual([]);
    await page.getByRole('button', { name: 'Close' }).click();
    expect(await page.locator('.try-dialog').isVisible()).toBe(false);
  });

  test('a sample is written in the language that was chosen, also on the next page', async () => {
    await using watched = await browser.open();
    const { page, wrong } = watched;
    await page.goto(`${site.url}/@acme/apis/pay#operation/ask`);
    const code = page.locator('.samples > pre > code').first();
    await expect.poll(() => code.textContent()).toBe(`curl '${target.url}/ask'`);
    await page.getByLabel('Language').selectOption('python');
    await expect.poll(() => code.textContent()).toContain('import requests');
    await page.reload();
    await expect.poll(() => code.textContent()).toContain('import requests');
    expect(wrong).toEqual([]);
  });

  test('of more than three examples of an answer one is chosen', async () => {
    const examples = Object.fromEntries(['one', 'two', 'three', 'four'].map((name) => [name, { value: { name } }]));
    const responses = { 200: { description: 'One', content: { 'application/json': { examples } } } };
    const document = {
      openapi: '3.1.0',
      info: { title: 'Pick', version: '1.0.0' },
      paths: { '/a': { get: { responses } } },
    };
    await site.publish('@acme/apis/pick', 'pick.json', JSON.stringify(document));
    await using watched = await browser.open();
    const { page, wrong } = watched;
    await page.goto(`${site.url}/@acme/apis/pick#operation/GET/a`);
    await page.getByLabel('Example').selectOption('four');
    await page.locator('.samples pre', { hasText: '"four"' }).waitFor();
    expect(await page.locator('.samples pre', { hasText: '"one"' }).isVisible()).toBe(false);
    expect(await seriousFindings(page)).toEqual([]);
    expect(wrong).toEqual([]);
  });

  test('the table of contents opens the group of the operation that is read, and only that', async () => {
    const tags = ['Carts', 'Orders'];
    const all = tags.flatMap((tag) =>
      Array.from({ length: 31 }, (_, at) => ({ tag, id: `${tag.toLowerCase()}${at}` })),
    );
    const paths = Object.fromEntries(all.map(({ tag, id }) => [`/${id}`, { get: { operationId: id, tags: [tag] } }]));
    const info = { title: 'Shop', version: '1.0.0' };
    await site.publish('@acme/apis/shop', 'shop.json', JSON.stringify({ openapi: '3.1.0', info, paths }));
    await using watched = await browser.open();
    const { page, wrong } = watched;
    const open = page.locator('.side .nav details[open] > summary');
    await page.goto(`${site.url}/@acme/apis/shop#operation/orders3`);
    await expect.poll(() => open.allTextContents()).toEqual(['Orders']);
    await expect.poll(() => page.locator('.side a[aria-current]').textContent()).toContain('orders3');
    await page.evaluate(`location.hash = 'operation/carts3'`);
    await expect.poll(() => open.allTextContents()).toEqual(['Carts']);
    expect(wrong).toEqual([]);
  });

  test(`a link leads to a field`, async () => {
    await using watched = await browser.open();
    const { page, wrong } = watched;
    await page.goto(`${site.url}/@acme/schemas/order#schema/line/count`);
    await page.locator('.props > li.here', { hasText: 'count' }).waitFor();
    expect(wrong).toEqual([]);
  });

  test(`the form for a deprecated operation is readable and named`, async () => {
    await using watched = await browser.open();
    const { page } = watched;
    await page.goto(`${site.url}/@acme/apis/gone/try`);
    await page.locator('.index a').first().click();
    await page.getByRole('button', { name: 'Send' }).waitFor();
    expect(await allFindings(page)).toEqual([]);
  });

  test(`requests are tried without cookies, and reach the servers of the document alone`, async () => {
    await using watched = await browser.open();
    const { page, context, wrong } = watched;
    target.cookies.length = 0;
    await context.addCookies([{ name: 'secret', value: 'x', domain: '127.0.0.1', path: '/' }]);
    const response = await page.goto(`${site.url}/@acme/apis/pay/try`);
    const policy = response!.headers()['content-security-policy'];
    expect(policy).toContain(`connect-src 'self' ${target.url};`);
    expect(policy).toContain("frame-ancestors 'self'");
    await page.locator('.index a').first().click();
    await page.getByRole('button', { name: 'Send' }).click();
    await page.locator('.try-answer pre', { hasText: '42' }).waitFor();
    expect(target.cookies).toEqual([undefined]);
    expect(wrong).toEqual([]);
    const reached = await page.evaluate(`fetch('http://127.0.0.2:1/').then(() => 'sent', () => 'refused')`);
    expect(reached).toBe('refused');
    expect(wrong.join('\n')).toContain("'http://127.0.0.2:1/' violates the following Content Security Policy");
  });
});
