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

/** All that an answer says, but its date and the numbers of the request. */
const answerOf = ({ status, headers, body }: Answer): string =>
  JSON.stringify([
    status,
    [...headers].filter(([name]) => !/^(?:date|x-request-id)$/.test(name)),
    body.toString().replace(/urn:uuid:[^"]+/, ''),
  ]);

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

  test('of a private API is for those who may read it, in frames of the same origins, and no cache keeps it', async () => {
    const answer = await get('/@acme/apis/secret/embed', ['Authorization', `Bearer ${served.values['acme']}`]);
    expect(answer.status).toBe(200);
    expect(answer.body.toString()).toContain('id="operation/listPets"');
    expect(ancestorsOf(answer)).toBe("'self' https://docs.test");
    expect(answer.headers.get('cache-control')).toBe('private, no-store');
    expect(answer.headers.get('vary')).toContain('Authorization, Cookie');
    expect(answer.headers.has('surrogate-key')).toBe(false);
  });

  test('of a private API is as absent as what was never there to all others', async () => {
    for (const key of [null, 'other', 'narrow'])
      for (const tail of ['/embed', '@1.0.0/embed', '@1/embed', '@1.0.3/embed', '/embed?theme=x']) {
        const headers: [string, string][] = key === null ? [] : [['Authorization', `Bearer ${served.values[key]}`]];
        const [secret, absent] = await Promise.all(
          ['secret', 'absent'].map((slug) => get(`/@acme/apis/${slug}${tail}`, ...headers)),
        );
        expect(secret!.status).toBe(404);
        expect(answerOf(secret!)).toBe(answerOf(absent!));
      }
  });

  test('of a public API has the same bytes for everybody, and shared caches keep it', async () => {
    const [nobody, member] = await Promise.all([
      get(`${pay}/embed`),
      get(`${pay}/embed`, ['Authorization', `Bearer ${served.values['acme']}`]),
    ]);
    expect(answerOf(member)).toBe(answerOf(nobody));
    expect(nobody.headers.get('cache-control')).toMatch(/^public, /);
    expect(nobody.headers.get('vary')).not.toContain('Cookie');
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
