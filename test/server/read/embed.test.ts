import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkConfig } from '../../../src/config/load-config.ts';
import { digestOf } from '../../../src/model/digest.ts';
import { ask, type Answer } from '../http.ts';
import { openServed, type Served } from '../served.ts';

const operation = (id: string) =>
  `<section class="operation" id="operation/${id}"><a href="#schema/Pet">Pet</a></section>`;
const html = `<div class="reference"><p><a href="https://elsewhere.test" rel="nofollow">Terms</a></p>${operation('listPets')}${operation('addPet')}</div>`;
const pay = '/@acme/apis/pay';

let served: Served;
beforeAll(async () => {
  served = await openServed({
    embedOrigins: ['https://docs.test'],
    organizations: { other: { embedOrigins: ['https://other.test:8443', 'https://*.other.test'] } },
  });
  served.registry.compiler.render = async () => ({ html, navigation: '', markdown: '', truncated: false, pages: null });
  served.registry.compiler.outline = async () => ({
    title: 'Pay',
    description: '',
    truncated: false,
    servers: [],
    operations: ['listPets', 'addPet'].map((id) => ({
      id,
      method: 'GET',
      path: `/${id}`,
      summary: '',
      tags: [],
      parameters: [],
      deprecated: false,
      digest: digestOf(id),
    })),
    schemas: [],
    tags: [],
    rules: [],
  });
});
afterAll(() => served[Symbol.asyncDispose]());

const get = (target: string, ...headers: [string, string][]): Promise<Answer> => ask(served.port, { target, headers });
const ancestorsOf = ({ headers }: Answer) =>
  /frame-ancestors ([^;]*)/.exec(headers.get('content-security-policy')!)![1];

describe('an embed', () => {
  test('is the reference, framed only by the configured origins, and its links leave the frame', async () => {
    const answer = await get(`${pay}@1.1.0/embed`);
    const text = answer.body.toString();
    expect(answer.status).toBe(200);
    expect(ancestorsOf(answer)).toBe("'self' https://docs.test");
    expect(answer.headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; style-src 'self'; script-src 'self';/,
    );
    expect(text).toContain('<a target="_blank" href="https://elsewhere.test" rel="nofollow">');
    expect(text).toContain('<a href="#schema/Pet">');
    expect(text).not.toContain('class="top"');
  });

  test('of one operation has that alone, by its id or its method and path', async () => {
    for (const name of ['listPets', 'get%20/listPets']) {
      const text = (await get(`${pay}/embed?operation=${name}`)).body.toString();
      expect(text).toContain('id="operation/listPets"');
      expect(text).not.toContain('operation/addPet');
      expect(text).toContain(`<a target="_blank" href="${pay}@1.1.0#schema/Pet">`);
    }
    expect((await get(`${pay}/embed?operation=%22%3E%3Cscript%3E`)).status).toBe(404);
  });

  test('takes its theme from the address, or from the reader', async () => {
    expect((await get(`${pay}/embed?theme=dark`)).body.toString()).toContain('<html lang="en" data-theme="dark">');
    expect((await get(`${pay}/embed`)).body.toString()).toContain('<html lang="en">');
    expect((await get(`${pay}/embed?theme=%22%3E`)).status).toBe(400);
  });

  test('shows nobody what is private, whoever asks: it is as absent as what was never there', async () => {
    const authorized: [string, string] = ['Authorization', `Bearer ${served.values['acme']}`];
    const secret = await get('/@acme/apis/secret/embed', authorized);
    expect(secret.status).toBe(404);
    expect((await get('/@acme/apis/secret/index.html', authorized)).status).toBe(200);
    expect((await get('/@acme/apis/absent/embed', authorized)).status).toBe(404);
  });

  test('follows a range, keeping what was asked for', async () => {
    const answer = await get(`${pay}@1/embed?theme=dark`);
    expect([answer.status, answer.headers.get('location')]).toEqual([307, `${pay}@1.1.0/embed?theme=dark`]);
  });
});

describe('the snippet on the page', () => {
  test('frames the embed and checks who says how tall it is', async () => {
    const text = (await get(pay, ['Accept', 'text/html'])).body.toString();
    expect(text).toContain('src=&quot;http://registry.test/@acme/apis/pay@1.1.0/embed&quot;');
    expect(text).toContain('source === frame.contentWindow');
  });

  test('is not there where nobody may frame it', async () => {
    await using plain = await openServed();
    const page = await ask(plain.port, { target: pay, headers: [['Accept', 'text/html']] });
    expect(page.body.toString()).not.toContain('iframe');
    expect(ancestorsOf(await ask(plain.port, { target: `${pay}/embed` }))).toBe("'self'");
  });
});

test.for([
  "https://docs.test; script-src 'unsafe-inline'",
  "'unsafe-inline'",
  'docs.test',
  'https://docs.test/path',
  'data:',
  '',
])('an origin that is none is refused by the configuration: %s', (origin) => {
  expect(() => checkConfig({ embedOrigins: [origin] }, { base: '/', data: '/nowhere' })).toThrow(/embedOrigins/);
});
