import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as textOf } from 'node:stream/consumers';
import type { FrameLocator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { allFindings, executablePath, openChromium, whySkipped, type OpenChromium } from './chromium.ts';
import { deploy, writeSite } from '../../sites/server/site-world.ts';
import { openSite, type OpenSite } from './site.ts';

/** Requests from the page of an API: forms, server and credentials for all operations, tokens, streams. */

const canRun = executablePath !== undefined;

/** A server that an API names, with an authorization server in it. */
interface Target extends AsyncDisposable {
  url: string;
  /** `POST /form` with type, authorization and body of each request. */
  seen: { line: string; type: string; authorization: string | undefined; body: string }[];
  /** Writes to the stream that was asked for last, or ends it. */
  write(text: string | null): void;
  /** Whether the reader of that stream went away. */
  isGone(): boolean;
}

async function openTarget(): Promise<Target> {
  const seen: Target['seen'] = [];
  const codes = new Map<string, string>();
  let stream: ServerResponse | null = null;
  const answer = (response: ServerResponse, value: unknown) =>
    response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(value));
  async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url!, 'http://x.example');
    response.setHeader('Access-Control-Allow-Origin', '*');
    response.setHeader('Access-Control-Allow-Headers', 'authorization, content-type');
    if (request.method === 'OPTIONS') return void response.writeHead(204).end();
    if (url.pathname === '/authorize') {
      codes.set('the-code', url.searchParams.get('code_challenge')!);
      const back = new URL(url.searchParams.get('redirect_uri')!);
      back.searchParams.set('code', 'the-code');
      back.searchParams.set('state', url.searchParams.get('state')!);
      return void response.writeHead(302, { Location: String(back) }).end();
    }
    const body = await textOf(request);
    if (url.pathname === '/token') {
      const fields = new URLSearchParams(body);
      const challenge = createHash('sha256')
        .update(fields.get('code_verifier') ?? '')
        .digest('base64url');
      if (fields.get('grant_type') === 'client_credentials')
        return void answer(response, { access_token: `for ${request.headers.authorization} ${fields.get('scope')}` });
      const isRight = codes.get(fields.get('code') ?? '') === challenge && fields.get('client_id') === 'me';
      return void answer(response, isRight ? { access_token: 'signed-in' } : { error: 'invalid_grant' });
    }
    const { authorization, 'content-type': type = '' } = request.headers;
    seen.push({ line: `${request.method} ${request.url}`, type, authorization, body });
    if (url.pathname !== '/stream') return void answer(response, { answer: 42 });
    stream = response;
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    response.write('data: one\n\n');
  }
  const server = createServer((request, response) => void take(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    write: (text) => void (text === null ? stream!.end() : stream!.write(text)),
    isGone: () => stream?.closed === true,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

let site: OpenSite;
let browser: OpenChromium;
let target: Target;

const address = { type: 'object', properties: { city: { type: 'string' }, lines: { type: 'array', items: {} } } };
const properties = {
  name: { type: 'string', example: 'Ann' },
  color: { type: 'string', enum: ['red', 'blue'] },
  tags: { type: 'array', items: { type: 'string' } },
  expand: { type: 'array', items: { type: 'string' } },
  address,
  note: { type: 'string', example: 'hello' },
};
const ok = { 200: { description: 'Well' } };
const encoding = { expand: { style: 'deepObject' }, address: { style: 'deepObject' } };
const schema = { type: 'object', required: ['name'], properties };
const queries = [
  { name: 'path', in: 'query', required: true, allowReserved: true, schema: { type: 'string' }, example: '/a:b?c&d' },
  { name: 'ids', in: 'query', required: true, explode: false, schema: { type: 'array' }, example: ['a,b', 'c'] },
];

beforeAll(async () => {
  if (!canRun) return;
  target = await openTarget();
  site = await openSite({ organizations: { acme: { name: 'Acme' } } });
  browser = await openChromium(site.url, [target.url]);
  const flow = { tokenUrl: `${target.url}/token`, scopes: { read: 'Reads', write: 'Writes' } };
  const flows = {
    clientCredentials: flow,
    authorizationCode: { ...flow, authorizationUrl: `${target.url}/authorize` },
  };
  const document = {
    openapi: '3.1.0',
    info: { title: 'Try', version: '1.0.0' },
    servers: [
      { url: `${target.url}/{stage}`, variables: { stage: { default: 'live', enum: ['live', 'test'] } } },
      { url: target.url },
    ],
    security: [{ account: [] }],
    paths: {
      '/form': {
        post: {
          operationId: 'form',
          requestBody: { content: { 'application/x-www-form-urlencoded': { schema, encoding } } },
          responses: ok,
        },
      },
      '/parts': {
        post: { operationId: 'parts', requestBody: { content: { 'multipart/form-data': { schema } } }, responses: ok },
      },
      '/stream': { servers: [{ url: target.url }], get: { operationId: 'stream', security: [], responses: ok } },
      '/query': { get: { operationId: 'query', parameters: queries, responses: ok } },
    },
    components: { securitySchemes: { account: { type: 'oauth2', flows } } },
  };
  await site.publish('@acme/apis/try', 'try.json', JSON.stringify(document));
  const body = { content: { 'application/json': { schema, example: { name: 'Ann' } } } };
  const named = (name: string) => ({
    content: { 'application/json': { schema: { type: 'object', properties: { [name]: { type: 'string' } } } } },
  });
  const person = { type: 'object', required: ['name'], properties: { name: properties.name }, xml: { name: 'person' } };
  const content = { 'application/json': { schema: person }, 'application/xml': { schema: person } };
  const responses = {
    200: { description: 'Well', ...named('paid') },
    404: { description: 'Not there', ...named('reason') },
  };
  const made = (type: string, name: string) => ({ [type]: { schema: { type: 'object', properties: { [name]: {} } } } });
  const two = { ...made('application/json', 'asJson'), ...made('application/xml', 'asXml') };
  const differ = { requestBody: { content: two }, responses: { 200: { description: 'Well', content: two } } };
  const several = {
    '/order': { post: { operationId: 'order', requestBody: { content }, responses } },
    '/differ': { post: { operationId: 'differ', ...differ } },
  };
  const about = { openapi: '3.1.0', info: { title: 'Several', version: '1.0.0' }, servers: [{ url: target.url }] };
  await site.publish('@acme/apis/several', 'several.json', JSON.stringify({ ...about, paths: several }));
  const way = (title: string, name: string) => ({
    title,
    required: [name],
    properties: { [name]: { type: 'string' } },
  });
  const source = { oneOf: [way('Card', 'number'), way('Bank', 'iban')] };
  const pay = { type: 'object', required: ['parts', 'note'], properties: { note: { type: 'string' } } };
  const parts = { type: 'array', items: source };
  const payment = { ...pay, properties: { ...pay.properties, parts } };
  const long = Array.from({ length: 4 }, (_, at) => ({ id: at, owner: { name: 'Ann', city: 'Bern' } }));
  const answer = { 200: { description: 'Well', content: { 'application/json': { example: { long, next: null } } } } };
  const requestBody = { content: { 'application/json': { schema: payment } } };
  const choices = { '/pay': { post: { operationId: 'pay', requestBody, responses: answer } } };
  await site.publish('@acme/apis/choices', 'choices.json', JSON.stringify({ ...about, paths: choices }));
  const bare = { openapi: '3.1.0', info: { title: 'Bare', version: '1.0.0' } };
  const paths = { '/form': { post: { operationId: 'form', requestBody: body, responses: ok } } };
  await site.publish('@acme/apis/bare', 'bare.json', JSON.stringify({ ...bare, paths }));
});

afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  await site?.[Symbol.asyncDispose]();
  await target?.[Symbol.asyncDispose]();
});

async function openForm(page: Page, id: string, api = 'try'): Promise<FrameLocator> {
  await page.goto(`${site.url}/@acme/apis/${api}#operation/${id}`);
  await page.locator(`[id="operation/${id}"] .try-it`).click();
  return page.frameLocator('.try-dialog iframe');
}

async function send(form: FrameLocator): Promise<Target['seen'][number]> {
  const before = target.seen.length;
  await form.getByRole('button', { name: 'Send' }).click();
  await form.locator('.try-answer pre', { hasText: '42' }).waitFor();
  expect(target.seen.length).toBe(before + 1);
  return target.seen.at(-1)!;
}

describe.skipIf(!canRun)(`requests from a page${whySkipped}`, () => {
  test('lists and objects of a form are fields, enums are choices, and what is optional is empty until typed', async () => {
    await using watched = await browser.open();
    const { page, wrong } = watched;
    const form = await openForm(page, 'form');
    expect((await send(form)).body).toBe('name=Ann');
    await form.getByLabel('color').selectOption('blue');
    await form.getByLabel('tags').fill('one\ntwo');
    await form.getByLabel('expand').fill('a\nb');
    await form.locator('summary', { hasText: 'address' }).click();
    await form.getByLabel('city').fill('Bern');
    await form.getByLabel('lines').fill('x\ny');
    const { body, type } = await send(form);
    expect(type).toMatch(/^application\/x-www-form-urlencoded/);
    expect([...new URLSearchParams(body)]).toEqual([
      ['name', 'Ann'],
      ['color', 'blue'],
      ['tags', 'one'],
      ['tags', 'two'],
      ['expand[0]', 'a'],
      ['expand[1]', 'b'],
      ['address[city]', 'Bern'],
      ['address[lines][0]', 'x'],
      ['address[lines][1]', 'y'],
    ]);
    expect(wrong).toEqual([]);
    expect(await allFindings(page.frames().find((each) => each.url().includes('/try'))! as never)).toEqual([]);
  });

  test('optional parts of multipart are empty until typed; lists are a part for each item, objects are JSON', async () => {
    await using watched = await browser.open();
    const form = await openForm(watched.page, 'parts');
    expect((await send(form)).body.match(/(?<=; )name="[^"]+"/g)).toEqual(['name="name"']);
    await form.getByLabel('tags').fill('one\ntwo');
    await form.locator('summary', { hasText: 'address' }).click();
    await form.getByLabel('city').fill('Bern');
    const { body } = await send(form);
    expect(body.match(/(?<=; )name="[^"]+"/g)).toEqual(['name="name"', 'name="tags"', 'name="tags"', 'name="address"']);
    expect(body).toContain('Content-Type: application/json\r\n\r\n{"city":"Bern"}');
  });

  test('a query keeps the characters that it may, and the joints of its lists', async () => {
    await using watched = await browser.open();
    const form = await openForm(watched.page, 'query');
    expect((await send(form)).line).toBe('GET /live/query?path=/a:b?c%26d&ids=a%2Cb,c');
  });

  test('server and token are chosen once, at the top, for all operations and samples of this tab', async () => {
    await using watched = await browser.open({ viewport: { width: 1440, height: 900 } });
    const { page, wrong } = watched;
    await page.goto(`${site.url}/@acme/apis/try`);
    await page.getByLabel('Samples in').selectOption('python');
    await page.locator('.ask > details > summary').click();
    const top = page.frameLocator('.ask iframe');
    await top.getByLabel('stage').selectOption('test');
    await top.getByLabel('Token').fill('secret');
    const sample = page.locator('[id="operation/form"] .samples > pre > code');
    await expect.poll(() => sample.textContent()).toContain(`"${target.url}/test/form"`);
    expect(await page.locator('[id="operation/form"] .base').textContent()).toBe(`${target.url}/test`);
    expect(await allFindings(page)).toEqual([]);
    const form = await openForm(page, 'form');
    expect(await send(form)).toMatchObject({ line: 'POST /test/form', authorization: 'Bearer secret' });
    await page.reload();
    await expect.poll(() => sample.textContent()).toContain(`"${target.url}/test/form"`);
    expect(await page.getByLabel('Samples in').inputValue()).toBe('python');
    expect(wrong).toEqual([]);
    // Another tab begins anew.
    await using other = await browser.open();
    await other.page.goto(`${site.url}/@acme/apis/try`);
    await expect.poll(() => other.page.locator('[id="operation/form"] .base').textContent()).toBe(`${target.url}/live`);
  });

  test('server and token are at hand without a click, and the form with variables has the same', async () => {
    await using watched = await browser.open({ viewport: { width: 1440, height: 900 } });
    const { page, wrong } = watched;
    await page.goto(`${site.url}/@acme/apis/try`);
    const ask = page.locator('.ask');
    await ask.getByLabel('Token').fill('at once');
    await ask.getByLabel('Server').selectOption(target.url);
    const sample = page.locator('[id="operation/form"] .samples > pre > code');
    await expect.poll(() => sample.textContent()).toContain(`'${target.url}/form'`);
    const form = await openForm(page, 'form');
    expect(await send(form)).toMatchObject({ line: 'POST /form', authorization: 'Bearer at once' });
    await page.reload();
    expect(await ask.getByLabel('Server').inputValue()).toBe(target.url);
    await ask.locator(':scope > details > summary').click();
    await ask.getByLabel('Server').waitFor({ state: 'hidden' });
    await page.frameLocator('.ask iframe').getByLabel('Token').fill('from the form');
    await ask.locator(':scope > details > summary').click();
    await expect.poll(() => ask.getByLabel('Token').inputValue()).toBe('from the form');
    expect(wrong).toEqual([]);
  });

  test('a body of several media types has a request of each, which the form takes', async () => {
    await using watched = await browser.open({ viewport: { width: 1440, height: 900 } });
    const { page, wrong } = watched;
    await page.goto(`${site.url}/@acme/apis/several#operation/order`);
    const order = page.locator('[id="operation/order"]');
    const sample = order.locator('.samples > pre > code');
    await expect.poll(() => sample.textContent()).toContain('"name": "Ann"');
    await order.getByLabel('Media type').selectOption('application/xml');
    await expect.poll(() => sample.textContent()).toContain('<name>Ann</name>');
    expect(await sample.textContent()).toContain("-H 'Content-Type: application/xml'");
    await order.getByLabel('Language').selectOption('python');
    await expect.poll(() => sample.textContent()).toContain('import requests');
    expect(await sample.textContent()).toContain('<name>Ann</name>');
    await order.getByRole('button', { name: 'Try it' }).click();
    const sent = await send(page.frameLocator('.try-dialog iframe'));
    expect(sent).toMatchObject({ type: 'application/xml', body: expect.stringContaining('<name>Ann</name>') });
    expect(wrong).toEqual([]);
  });

  test('one choice of a media type is for fields and samples, of a body and of a response', async () => {
    await using watched = await browser.open({ viewport: { width: 1440, height: 900 } });
    const { page, wrong } = watched;
    await page.goto(`${site.url}/@acme/apis/several#operation/differ`);
    const differ = page.locator('[id="operation/differ"]');
    const sample = differ.locator('.samples > pre > code');
    const body = differ.locator('.parts > .answers');
    const found = differ.locator('.response');
    const answer = differ.locator('.samples > .answers');
    const fields = (place: typeof body, name: string) => place.getByText(name, { exact: true }).first().waitFor();
    await differ.getByLabel('Media type').selectOption('application/xml');
    await fields(body, 'asXml');
    await body.getByText('application/json').click();
    await expect.poll(() => sample.textContent()).toContain('"asJson"');
    expect(await differ.getByLabel('Media type').locator('option:checked').textContent()).toBe('application/json');
    await found.getByText('application/xml').click();
    await answer.getByText('<asXml>').waitFor();
    await answer.getByText('application/json').click();
    await fields(found, 'asJson');
    expect(await sample.textContent()).toContain('"asJson"');
    expect(wrong).toEqual([]);
  });

  test('one alternative of a body is open, and stands in the sample and in the form', async () => {
    await using watched = await browser.open({ viewport: { width: 1440, height: 900 } });
    const { page, wrong } = watched;
    await page.goto(`${site.url}/@acme/apis/choices#operation/pay`);
    const pay = page.locator('[id="operation/pay"]');
    const sample = pay.locator('.samples > pre > code');
    const bodyOf = async () => JSON.parse(/-d '(.*)'$/s.exec((await sample.textContent())!)![1]!) as unknown;
    const body = (source: object) => ({ note: 'string', parts: [source] });
    await pay.getByLabel('Language').waitFor();
    expect(await bodyOf()).toEqual(body({ number: 'string' }));
    const [card, bank] = ['Card', 'Bank'].map((name) => pay.locator('.options summary', { hasText: name }));
    await bank!.click();
    await expect.poll(bodyOf).toEqual(body({ iban: 'string' }));
    await pay.getByText('number', { exact: true }).waitFor({ state: 'hidden' });
    await pay.getByLabel('Language').selectOption('python');
    await expect.poll(() => sample.textContent()).toContain('"iban"');
    await pay.getByRole('button', { name: 'Try it' }).click();
    const sent = await send(page.frameLocator('.try-dialog iframe'));
    expect(JSON.parse(sent.body)).toEqual(body({ iban: 'string' }));
    await page.getByRole('button', { name: 'Close' }).click();
    await pay.getByLabel('Language').selectOption('curl');
    await card!.click();
    await expect.poll(bodyOf).toEqual(body({ number: 'string' }));
    expect(wrong).toEqual([]);
  });

  test('objects and lists of a long answer are folded, and its text stays whole, also on paper', async () => {
    await using watched = await browser.open({ viewport: { width: 1440, height: 900 } });
    const { page, wrong } = watched;
    await page.goto(`${site.url}/@acme/apis/choices#operation/pay`);
    const code = page.locator('[id="operation/pay"] .answer code');
    const owner = code.locator('summary', { hasText: '"owner"' }).first();
    const shown = () => code.evaluate((element) => (element as unknown as { innerText: string }).innerText);
    await owner.click();
    await expect.poll(shown).toContain('"owner": {\n');
    expect((await shown()).match(/"Ann"/g)).toHaveLength(3);
    await code.locator('summary', { hasText: '"long"' }).click();
    await expect.poll(shown).not.toContain('"Ann"');
    expect(await shown()).toContain('"next": null');
    const long = Array.from({ length: 4 }, (_, at) => ({ id: at, owner: { name: 'Ann', city: 'Bern' } }));
    expect(await code.textContent()).toBe(JSON.stringify({ long, next: null }, null, 2));
    // On paper nothing is folded or cut, and says which response it is of.
    await page.emulateMedia({ media: 'print' });
    expect((await shown()).match(/"Ann"/g)).toHaveLength(4);
    const sample = page.locator('[id="operation/pay"] .answer').first();
    expect(await page.evaluate(`getComputedStyle(document.querySelector('.answer pre')).maxHeight`)).toBe('none');
    const [name, text] = [await sample.locator('summary').first().boundingBox(), await code.boundingBox()];
    expect(name!.y).toBeLessThan(text!.y);
    await page.emulateMedia({ media: 'screen' });
    expect(await allFindings(page)).toEqual([]);
    expect(wrong).toEqual([]);
  });

  test('all responses are seen at once, with the fields of one below them', async () => {
    await using watched = await browser.open({ viewport: { width: 1440, height: 900 } });
    const { page } = watched;
    await page.goto(`${site.url}/@acme/apis/several#operation/order`);
    const order = page.locator('[id="operation/order"]');
    const top = async (text: string) =>
      (await order.locator('.responses').getByText(text).first().boundingBox())?.y ?? null;
    expect(await top('paid')).toBeGreaterThan((await top('Not there'))!);
    await order.getByText('Not there').click();
    await order.locator('.responses').getByText('reason').waitFor();
    await order.locator('.responses').getByText('paid').waitFor({ state: 'hidden' });
    await order.getByRole('button', { name: 'Expand all' }).click();
    expect(await top('paid')).toBeLessThan((await top('Not there'))!);
    expect(await top('reason')).toBeGreaterThan((await top('Not there'))!);
    expect(await allFindings(page)).toEqual([]);
  });

  test('a body of JSON says where it is none, is laid out with all digits, and Tab leaves it', async () => {
    await using watched = await browser.open();
    const { page, wrong } = watched;
    const form = await openForm(page, 'form', 'bare');
    const editor = form.getByLabel('Body');
    const said = form.locator('small[role=status]');
    expect(JSON.parse(await editor.inputValue())).toEqual({ name: 'Ann' });
    const places: [text: string, said: string][] = [
      ['{"a": 1,\n  "b": x}', 'line 2, column 8: a value'],
      ['{"a": 1\n  "b": 2}', 'line 2, column 3: a comma or }'],
      ['[1, 2,]', 'line 1, column 7: a value'],
      ['{"a" 1}', 'line 1, column 6: a colon'],
      ['{"a": 01}', 'line 1, column 7: a value'],
      ['{', 'line 1, column 2: a name in quotes'],
      ['{} {}', 'line 1, column 4: the end'],
    ];
    for (const [text, place] of places) {
      await editor.fill(text);
      expect(await said.textContent()).toBe(`Not JSON at ${place} is expected.`);
      expect(await form.getByRole('button', { name: 'Format' }).isDisabled()).toBe(true);
    }
    for (const text of ['', ' [] ', '{"a":[1e5,-0.5,null,"\\u00e9"],"b":{}}', '12']) {
      await editor.fill(text);
      expect(await said.textContent()).toBe('');
    }
    await editor.fill('{"id":12345678901234567890,"n":1.0}');
    await form.getByRole('button', { name: 'Format' }).click();
    expect(await editor.inputValue()).toBe('{\n  "id": 12345678901234567890,\n  "n": 1.0\n}');
    await editor.press('Tab');
    expect(await editor.evaluate((element) => element.matches(':focus'))).toBe(false);
    expect(await allFindings(page.frames().find((each) => each.url().includes('/try'))! as never)).toEqual([]);
    expect(wrong).toEqual([]);
  });

  test('where a document names no server, samples say SERVER until one is typed', async () => {
    await using watched = await browser.open();
    const { page, wrong } = watched;
    await page.goto(`${site.url}/@acme/apis/bare`);
    const sample = page.locator('[id="operation/form"] .samples > pre > code');
    await expect.poll(() => sample.textContent()).toContain("'https://SERVER/form'");
    expect(await page.locator('.intro dd').first().textContent()).toContain('https://SERVER stands for yours');
    const yours = page.locator('.ask').getByLabel('Server');
    expect(await yours.getAttribute('placeholder')).toBe('https://SERVER');
    await yours.fill('https://api.acme.example/v1/');
    await expect.poll(() => sample.textContent()).toContain("'https://api.acme.example/v1/form'");
    await page.getByLabel('Samples in').selectOption('python');
    await expect.poll(() => sample.textContent()).toContain('"https://api.acme.example/v1/form"');
    expect(wrong).toEqual([]);
  });

  test('a token is fetched at the top of a page, with client credentials and by a sign-in with PKCE', async () => {
    await using watched = await browser.open();
    const { page, context, wrong } = watched;
    await page.goto(`${site.url}/@acme/apis/try`);
    const top = page.locator('.ask > div');
    const client = top.locator('details', { hasText: 'Client credentials' });
    await top.locator('summary', { hasText: 'Client credentials' }).click();
    await client.getByLabel('Client id').fill('me');
    await client.getByLabel('Client secret').fill('s3');
    await client.getByRole('checkbox', { name: 'all' }).check();
    await client.getByRole('checkbox', { name: 'write' }).uncheck();
    expect(await client.getByRole('checkbox', { name: 'all' }).isChecked()).toBe(false);
    await client.getByRole('checkbox', { name: 'write' }).check();
    expect(await client.getByRole('checkbox', { name: 'all' }).isChecked()).toBe(true);
    await client.getByRole('button', { name: 'Get a token' }).click();
    const token = top.getByLabel('Token');
    await expect.poll(() => token.inputValue()).toBe(`for Basic ${btoa('me:s3')} read write`);
    const code = top.locator('details', { hasText: 'Authorization code' });
    expect(await code.locator('p code').textContent()).toBe(`${site.url}/@acme/apis/try/try`);
    await code.getByLabel('Client id').fill('me');
    const opened = context.waitForEvent('page');
    await code.getByRole('button', { name: 'Sign in' }).click();
    await opened;
    await expect.poll(() => token.inputValue()).toBe('signed-in');
    expect(await allFindings(page)).toEqual([]);
    const form = await openForm(page, 'form');
    expect((await send(form)).authorization).toBe('Bearer signed-in');
    expect(wrong).toEqual([]);
  });

  test('a stream appears as it comes, and a request is cancelled', async () => {
    await using watched = await browser.open();
    const form = await openForm(watched.page, 'stream');
    const answer = form.locator('.try-answer');
    await form.getByRole('button', { name: 'Send' }).click();
    await answer.getByText('data: one').waitFor();
    target.write('data: two\n\n');
    await answer.getByText('data: two').waitFor();
    await form.getByRole('button', { name: 'Cancel' }).click();
    await answer.getByText('Cancelled.').waitFor();
    expect(await answer.locator('pre').textContent()).toBe('data: one\n\ndata: two\n\n');
    await expect.poll(() => target.isGone()).toBe(true);
    await form.getByRole('button', { name: 'Send' }).click();
    await answer.getByText('more comes').waitFor();
    target.write(null);
    await answer.getByText(/200 OK · \d+ ms/).waitFor();
  });

  test('an operation in a page of a site has it, too, with the same server and credentials', async () => {
    await writeSite(site.registry, { 'index.md': '# Forms\n\n::operation @acme/apis/try form\n' });
    await deploy(site.registry);
    await using watched = await browser.open();
    const { page, wrong } = watched;
    await page.goto(`${site.url}/sites/acme/handbook/`);
    await page.getByRole('button', { name: 'Try it' }).click();
    const form = page.frameLocator('.try-dialog iframe');
    expect((await send(form)).line).toBe('POST /live/form');
    expect(wrong).toEqual([]);
  });
});
