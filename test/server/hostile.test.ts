import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ask } from './http.ts';
import { openServed, type Served } from './served.ts';
import { timesAsMany } from '../sample.ts';

let served: Served;
beforeAll(async () => {
  served = await openServed();
});
afterAll(() => served[Symbol.asyncDispose]());

const pieces = [
  '/',
  '//',
  '@',
  '%40',
  '%2f',
  '%2F',
  '%00',
  '%',
  '%zz',
  '..',
  '.',
  '~',
  '^',
  '+',
  '%2B',
  '?',
  '#',
  '&',
  '=',
];
const words = [
  'acme',
  'apis',
  'pay',
  'secret',
  '1.0.0',
  '1',
  'latest',
  'sha256:',
  '.json',
  '.yaml',
  'report',
  'versions',
];
const odd = [
  '__proto__',
  'constructor',
  'toString',
  'v1',
  'healthz',
  'problems',
  'format',
  'limit',
  'cursor',
  'xml',
  'a'.repeat(300),
];
const target = fc
  .array(fc.constantFrom(...pieces, ...words, ...odd), { maxLength: 12 })
  .map((parts) => `/${parts.join('')}`);
const fieldName = fc.constantFrom(
  'Accept',
  'Accept-Encoding',
  'Range',
  'If-Range',
  'If-Match',
  'If-None-Match',
  'Cookie',
  'Origin',
);
const fieldValue = fc.string({ unit: fc.constantFrom(...'*/,;=q0.19"Wbytes-json \t%'), maxLength: 40 });
const method = fc.constantFrom('GET', 'HEAD', 'OPTIONS', 'POST', 'DELETE');

test('no request at all is answered with a failure of ours', async () => {
  const request = fc.record({ method, target, headers: fc.array(fc.tuple(fieldName, fieldValue), { maxLength: 3 }) });
  await fc.assert(
    fc.asyncProperty(request, async (sent) => {
      const answer = await ask(served.port, sent);
      expect(answer.status).toBeLessThan(500);
      expect(answer.head).not.toMatch(/x-powered-by/i);
      if (answer.status >= 400) expect(answer.headers.get('content-type')).toBe('application/problem+json');
      expect(answer.body.toString()).not.toMatch(/node_modules|\.ts:|"secret"|hush/);
    }),
    { numRuns: 400 * timesAsMany },
  );
  expect(served.registry.logged).toEqual([]);
});

test.each(['//a@#', '//.json@#', '/@acme/apis/pay#x', 'http://a:b:c/', 'http://[::1/', 'ftp://a/', 'x', '/\u00e9'])(
  'a request for %j, which is no path, is answered at once and malformed',
  async (noPath) => {
    expect((await ask(served.port, { target: noPath })).status).toBe(400);
  },
);

test('the absolute form of a target is the same as its path', async () => {
  const { status, body } = await ask(served.port, { target: 'http://elsewhere.test/@acme/apis/pay@1.0.0' });
  expect(status).toBe(200);
  expect(body).toEqual((await ask(served.port, { target: '/@acme/apis/pay@1.0.0' })).body);
});

test('metrics name patterns and nothing that clients made up', async () => {
  for (const path of ['/@acme/apis/pay', '/made-up', '/@made-up', '/@acme/made-up/pay', '/problems/made-up']) {
    await ask(served.port, { target: path });
  }
  const body = await (await fetch(`http://127.0.0.1:${served.port}/metrics`)).text();
  expect(body.toString()).toContain('route="/@{org}/{type}/{slug}"');
  expect(body.toString()).toContain('route="unmatched"');
  expect(body.toString()).not.toContain('made-up');
});
