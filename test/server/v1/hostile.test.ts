import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { exchange, parseAnswer } from '../http.ts';
import { createTestRegistry } from '../registry.ts';
import { documentOf, openApi, unlimited, type Api, type Ask } from './api.ts';

let api: Api;
beforeAll(async () => {
  api = await openApi(createTestRegistry({ ...unlimited, limits: { fileBytes: 100_000 } }));
  await api.call('POST', '/v1/apis', { body: { name: 'Pay', slug: 'pay' } });
});
afterAll(() => api[Symbol.asyncDispose]());

const nested = (depth: number) => `{"document":${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}}`;
const gzipped = { 'content-encoding': 'gzip' };
const plainLimit = 1024 * 1024;

const creations: [string, Ask, number, string][] = [
  ['no body', {}, 400, 'needs a JSON body'],
  ['an empty text', { raw: '', headers: { 'content-type': 'application/json' } }, 400, 'needs a JSON body'],
  ['no JSON', { raw: '{"name": "x",\n  oops}' }, 400, 'line 2, column 3'],
  ['half of a JSON text', { raw: '{"name": "x"' }, 400, 'line 1, column 13'],
  ['something after it', { raw: '{"name":"x","slug":"x"} x' }, 400, 'unexpected text'],
  [
    'a name twice',
    { raw: '{"name":"x","slug":"x",\n"slug":"y"}' },
    400,
    'line 2, column 1: duplicate name in an object',
  ],
  ['a name twice, differently written', { raw: '{"name":"x","slug":"x","sl\\u0075g":"y"}' }, 400, 'duplicate name'],
  ['a lone surrogate', { raw: '{"name":"\\ud800","slug":"x"}' }, 400, 'surrogate'],
  ['a raw control character', { raw: '{"name":"a\u0001","slug":"x"}' }, 400, 'control character'],
  ['no UTF-8', { raw: new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x7d]) }, 400, 'UTF-8'],
  ['an array', { raw: '[]' }, 400, 'object'],
  ['null', { raw: 'null' }, 400, 'object'],
  ['nested too deep', { raw: `${'['.repeat(100_000)}` }, 400, 'nested deeper'],
  ['an unknown member', { body: { name: 'x', slug: 'x', nme: 1 } }, 400, '/nme is not expected here'],
  ['__proto__', { raw: '{"name":"x","slug":"x","__proto__":{"admin":true}}' }, 400, '/__proto__ is not expected here'],
  ['constructor', { raw: '{"name":"x","slug":"x","constructor":{}}' }, 400, '/constructor is not expected here'],
  ['a wrong type', { body: { name: 7, slug: 'x' } }, 400, '/name must be a string'],
  ['a missing member', { body: { name: 'x' } }, 400, '/slug is missing'],
  ['a slug that is none', { body: { name: 'x', slug: 'No Slug' } }, 400, '/slug'],
  ['a slug with two hyphens', { body: { name: 'x', slug: 'a--b' } }, 400, '/slug'],
  ['a visibility that is none', { body: { name: 'x', slug: 'x', visibility: 'open' } }, 400, '"public" or "private"'],
  ['a name of spaces', { body: { name: '  ', slug: 'x' } }, 400, '/name'],
  ['a name with a line feed', { body: { name: 'a\nb', slug: 'x' } }, 400, '/name'],
  [
    'a description that is too long',
    { body: { name: 'x', slug: 'x', description: 'x'.repeat(10_001) } },
    400,
    '/description',
  ],
  ['a ruleset that is none', { body: { name: 'x', slug: 'x', ruleset: '@acme/apis/pay' } }, 400, '/ruleset'],
  [
    'a ruleset that is not there',
    { body: { name: 'x', slug: 'x', ruleset: '@acme/rulesets/gone' } },
    422,
    'does not exist',
  ],
  [
    'a form',
    { raw: 'name=x', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
    415,
    'application/json',
  ],
  ['plain text', { raw: '{}', headers: { 'content-type': 'text/plain' } }, 415, 'application/json'],
  ['JSON of another kind', { raw: '{}', headers: { 'content-type': 'application/ld+json' } }, 415, 'application/json'],
  ['another charset', { raw: '{}', headers: { 'content-type': 'application/json; charset=utf-16' } }, 415, 'UTF-8'],
  ['an unknown coding', { raw: '{}', headers: { 'content-encoding': 'zip' } }, 415, 'gzip'],
  ['what is not packed as it says', { raw: '{}', headers: gzipped }, 400, 'Content-Encoding'],
  [
    'half of what was packed',
    { raw: new Uint8Array(gzipSync('{"name":"x","slug":"x"}').subarray(0, 25)), headers: gzipped },
    400,
    'Content-Encoding',
  ],
  ['too many bytes', { raw: `"${'x'.repeat(plainLimit)}"` }, 413, String(plainLimit)],
  [
    'too many bytes once inflated',
    { raw: new Uint8Array(gzipSync('x'.repeat(50 * plainLimit))), headers: gzipped },
    413,
    String(plainLimit),
  ],
  ['an idempotency key with a space', { body: {}, headers: { 'idempotency-key': 'a b' } }, 400, 'Idempotency-Key'],
  [
    'an idempotency key that is too long',
    { body: {}, headers: { 'idempotency-key': 'a'.repeat(256) } },
    400,
    'Idempotency-Key',
  ],
];

describe('a creation with', () => {
  test.for(creations)('%s', async ([, ask, status, detail]) => {
    const answer = await api.call('POST', '/v1/apis', ask);
    expect(answer.json['detail']).toContain(detail);
    expect(answer.status).toBe(status);
    expect((await api.call('GET', '/v1/apis/x')).status).toBe(404);
  });
});

test('errors are reported all at once, each with its pointer', async () => {
  const { json } = await api.call('POST', '/v1/apis', { body: { slug: 'A', visibility: 1, 'a/b': 1 } });
  const pointers = (json['errors'] as { pointer: string }[]).map(({ pointer }) => pointer);
  expect(pointers.sort()).toEqual(['/a~1b', '/name', '/slug', '/visibility']);
});

test.each(['2030-06-30T23:59:60Z', '2030-07-01T00:59:60+01:00', '9999-12-31T23:59:59-14:00', '2030-02-30T00:00:00Z'])(
  'a time that no clock shows is refused wherever one is given: %s',
  async (time) => {
    const asked: [string, string, unknown?][] = [
      ['GET', `/v1/audit?since=${encodeURIComponent(time)}`],
      ['GET', `/v1/audit?until=${encodeURIComponent(time)}`],
      ['POST', '/v1/keys', { name: 'ci', scopes: ['read'], expiresAt: time }],
      ['POST', '/v1/apis/times/spec', { create: {}, document: documentOf('1.0.0'), createdAt: time }],
    ];
    const status = { state: 'deprecated', reason: 'Old', sunset: time };
    await api.call('POST', '/v1/apis/timed/spec', { body: { create: {}, document: documentOf('1.0.0') } });
    asked.push(['PATCH', '/v1/apis/timed/versions/1.0.0', { status }]);
    for (const [method, path, body] of asked) {
      const { status: code, text } = await api.call(method, path, { ...(body !== undefined && { body }) });
      expect([code, text], `${method} ${path}`).toEqual([400, expect.stringContaining('must be a time')]);
    }
  },
);

const documents: [string, Ask, number, string][] = [
  ['a number', { body: { document: 7 } }, 400, '/document'],
  ['an array', { body: { document: [] } }, 400, '/document'],
  ['nothing', { body: { document: '' } }, 400, '/document'],
  ['one that is nested too deep', { raw: nested(300) }, 400, 'nested deeper than'],
  ['one that is too large', { body: { document: `"${'x'.repeat(100_000)}"` } }, 413, '100000'],
  ['one that is far too large', { body: { document: 'x'.repeat(400_000) } }, 413, 'bytes'],
  [
    'an array of millions, packed',
    { raw: new Uint8Array(gzipSync(`{"document":[${'"",'.repeat(4_000_000)}""]}`)), headers: gzipped },
    413,
    'bytes',
  ],
  [
    'an array, packed',
    { raw: new Uint8Array(gzipSync('{"document":["","",""]}')), headers: gzipped },
    400,
    '/document',
  ],
  ['there twice', { raw: '{"document":"x","document":"y"}' }, 400, 'duplicate name'],
  ['not JSON within', { raw: '{"document":{"a":tru}}' }, 400, 'line 1, column 18: expected a value'],
  ['a text that is not one', { raw: '{"document":"\\x"}' }, 400, 'line 1, column 14: invalid escape'],
  ['fine, and followed by a fault', { raw: '{"document":\n{"a":1\n},"version":}' }, 400, 'line 3, column 13'],
  ['a label that is none', { body: { document: documentOf('1.0.0'), version: '../1' } }, 400, '/version'],
  [
    'a label that is reserved',
    { body: { document: documentOf('1.0.0'), version: 'Latest' } },
    400,
    '/version must be the label of a version',
  ],
  [
    'a member that is unknown, many times',
    { raw: `{"document":"x",${Array.from({ length: 9000 }, (_, n) => `"m${n}":0`).join(',')}}` },
    400,
    'is not expected here',
  ],
];

test('a very long name is cut in what says that it is unknown', async () => {
  const { status, json } = await api.call('POST', '/v1/apis', {
    body: { name: 'x', slug: 'x', ['n'.repeat(60_000)]: 1 },
  });
  expect(status).toBe(400);
  expect(JSON.stringify(json).length).toBeLessThan(5000);
});

describe('a document that is', () => {
  test.for(documents)('%s', async ([, ask, status, detail]) => {
    const answer = await api.call('POST', '/v1/apis/pay/spec', ask);
    expect(answer.json['detail']).toContain(detail);
    expect(answer.status).toBe(status);
    expect((await api.call('GET', '/v1/apis/pay/versions')).json['items']).toEqual([]);
  });
});

test('__proto__ in a document is a member like any other', async () => {
  const raw = '{"document": {"openapi":"3.1.0","info":{"version":"1.0.0"},"__proto__":{"x":1}}, "dryRun": true}';
  expect((await api.call('POST', '/v1/apis/pay/spec', { raw })).status).toBe(200);
  expect(({} as { x?: number }).x).toBeUndefined();
});

const paths: [string, number][] = [
  ['/v1', 404],
  ['/v1/', 404],
  ['/v1/apis/', 404],
  ['/v1//apis', 404],
  ['/V1/apis', 404],
  ['/v1/Apis', 404],
  ['/v1/apis/pay%2fversions', 404],
  ['/v1/apis/pay%2Fversions', 404],
  ['/v1/apis/pay%00', 404],
  ['/v1/apis/%E0%A4%A', 404],
  ['/v1/apis/pay%5c..', 404],
  ['/v1/apis/..%2f..%2fkeys', 404],
  ['/v1/apis/PAY', 404],
  ['/v1/apis/__proto__', 404],
  ['/v1/apis/constructor/versions', 404],
  [`/v1/apis/${'a'.repeat(3000)}`, 404],
  ['/v1/apis/pay/versions/1.0.0%00', 404],
  ['/v1/apis/pay/versions/latest', 404],
  ['/v1/apis/pay/syncs/..', 404],
  ['/v1/apis?limit=0', 400],
  ['/v1/apis?limit=101', 400],
  ['/v1/apis?limit=1e1', 400],
  ['/v1/apis?limit=1&limit=2', 400],
  ['/v1/apis?limt=1', 400],
  ['/v1/apis?__proto__=1', 400],
  ['/v1/apis?cursor=bm8', 400],
  ['/v1/apis?cursor=%00', 400],
  ['/v1/apis?q=', 400],
  ['/v1/audit?since=yesterday', 400],
  ['/v1/audit?resource=apis', 400],
];

test.for(paths)('GET %s is a %i', async ([path, status]) => {
  const port = Number(new URL(api.url).port);
  const request = `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${api.admin}\r\nConnection: close\r\n\r\n`;
  const answer = parseAnswer(await exchange(port, request));
  expect(answer.status).toBe(status);
  expect(answer.headers.get('content-type')).toBe('application/problem+json');
});

/** Sends all of a request before it reads the first byte of the answer. */
async function sendThenRead(lines: string[], body: string, head = authorized()): Promise<Buffer> {
  const socket = connect(Number(new URL(api.url).port), '127.0.0.1').pause();
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject);
    socket.write(`${[...head, ...lines].join('\r\n')}\r\n\r\n${body}`, () => resolve());
  });
  return Buffer.concat(await socket.toArray());
}

/** What a client says about itself when it does not keep to HTTP. */
function send(lines: string[], body = ''): Promise<Buffer> {
  return exchange(Number(new URL(api.url).port), `${[...authorized(), ...lines].join('\r\n')}\r\n\r\n${body}`);
}

function authorized(): string[] {
  return [
    'POST /v1/apis HTTP/1.1',
    'Host: x',
    `Authorization: Bearer ${api.admin}`,
    'Content-Type: application/json',
    'Connection: close',
  ];
}

test('a length that is too large is refused before a byte of it came', async () => {
  expect(parseAnswer(await send(['Content-Length: 999999999999'])).status).toBe(413);
});

const tooMuch = 4 * plainLimit;

test.each([
  ['a length', [`Content-Length: ${tooMuch}`], 'x'.repeat(tooMuch)],
  ['pieces', ['Transfer-Encoding: chunked'], `${tooMuch.toString(16)}\r\n${'x'.repeat(tooMuch)}\r\n0\r\n\r\n`],
])('who sends a body over the limit with %s, and reads then, gets the 413', async (_name, lines, body) => {
  expect(parseAnswer(await sendThenRead(lines, body)).status).toBe(413);
});

test('who sends a large body without a key, and reads then, gets the 401', async () => {
  const lines = ['POST /v1/apis HTTP/1.1', 'Host: x', 'Connection: close', `Content-Length: ${tooMuch}`];
  const answer = await sendThenRead([], 'x'.repeat(tooMuch), lines);
  expect(parseAnswer(answer).status).toBe(401);
});

test('who asks before sending a body is refused before sending it, or invited', async () => {
  const refused = await send(['Expect: 100-continue', `Content-Length: ${tooMuch}`]);
  expect(refused.toString()).toMatch(/^HTTP\/1\.1 413 /);
  const invited = await send(['Expect: 100-continue', 'Content-Length: 2'], '{}');
  expect(invited.toString()).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 400 /);
});

test('a length that says too little cuts the body off, and the rest is not JSON', async () => {
  const { status } = parseAnswer(await send(['Content-Length: 5'], '{"name":"x","slug":"lying"}'));
  expect(status).toBe(400);
  expect((await api.call('GET', '/v1/apis/lying')).status).toBe(404);
});

test('a body in pieces is limited as well', async () => {
  const piece = `${(65_536).toString(16)}\r\n${'x'.repeat(65_536)}\r\n`;
  const { status } = parseAnswer(await send(['Transfer-Encoding: chunked'], `${piece.repeat(20)}0\r\n\r\n`));
  expect(status).toBe(413);
});

test('two lengths, and a length with pieces, are refused by HTTP itself', async () => {
  expect(parseAnswer(await send(['Content-Length: 2', 'Content-Length: 3'], '{}')).status).toBe(400);
  const both = ['Content-Length: 2', 'Transfer-Encoding: chunked'];
  expect(parseAnswer(await send(both, '2\r\n{}\r\n0\r\n\r\n')).status).toBe(400);
});

test('a path of 100,000 characters is refused', async () => {
  const answer = await exchange(
    Number(new URL(api.url).port),
    `GET /v1/${'a'.repeat(100_000)} HTTP/1.1\r\nHost: x\r\n\r\n`,
  );
  expect(parseAnswer(answer).status).toBe(431);
});
