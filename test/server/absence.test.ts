import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { anonymise, ask } from './http.ts';
import { openServed, type Served } from './served.ts';

// `secret` is there and private, `absent` is not there: whoever may not read it must not be able to tell.
let served: Served;
beforeAll(async () => {
  served = await openServed();
});
afterAll(() => served[Symbol.asyncDispose]());

const methods = ['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE', 'PROPFIND'];
const suffixes = [
  '',
  '@1.0.0',
  '@1.0.3',
  '@7.0.0',
  '@1',
  '@^1.0',
  '@latest',
  '@nonsense',
  '.json',
  '@1.0.0.yaml',
  '@1.0.0?format=yaml',
  '?format=xml',
  '/versions',
  '/versions?limit=x',
  '@1.0.0/report',
  '@1/report',
  '/provenance',
  '/diff?from=1.0.0&to=1.0.3',
  '/nonsense',
];
const headers: [string, string][][] = [
  [],
  [['If-None-Match', '*']],
  [['If-Match', '"x"']],
  [['Range', 'bytes=0-1']],
  [['Range', 'bytes=999999-']],
  [['Accept', 'text/html']],
  [['Accept', 'image/png']],
  [['Accept-Encoding', '*;q=0']],
  [['If-Modified-Since', 'Fri, 01 Jan 2100 00:00:00 GMT']],
  [
    ['Origin', 'https://elsewhere.test'],
    ['Access-Control-Request-Method', 'GET'],
  ],
];

const both = async (method: string, suffix: string, sent: [string, string][]) => {
  const [secret, absent] = await Promise.all(
    ['secret', 'absent'].map((slug) =>
      ask(served.port, { method, target: `/@acme/apis/${slug}${suffix}`, headers: sent }),
    ),
  );
  return { secret: anonymise(secret!), absent: anonymise(absent!) };
};

describe('private looks the same as absent', () => {
  test.each(methods)('%s', async (method) => {
    for (const suffix of suffixes) {
      const { secret, absent } = await both(method, suffix, []);
      expect({ suffix, answer: secret }).toEqual({ suffix, answer: absent });
      expect(secret).toMatch(/^HTTP\/1.1 404 /);
    }
  });

  test.each(headers.map((sent) => ({ sent })))('GET with $sent', async ({ sent }) => {
    for (const suffix of suffixes) {
      const { secret, absent } = await both('GET', suffix, sent);
      expect({ suffix, answer: secret }).toEqual({ suffix, answer: absent });
      expect(secret).toMatch(/^HTTP\/1.1 404 /);
    }
  });

  test.each(['other', 'narrow'])('to the key %s', async (name) => {
    for (const suffix of suffixes) {
      const { secret, absent } = await both('GET', suffix, [['Authorization', `Bearer ${served.values[name]}`]]);
      expect({ suffix, answer: secret }).toEqual({ suffix, answer: absent });
      expect(secret).toMatch(/^HTTP\/1.1 404 /);
    }
  });

  test.each(['', '/apis', '?limit=x', '?cursor=x', '/apis?limit=x'])('an organization, %j', async (suffix) => {
    for (const method of methods) {
      const [hidden, absent] = await Promise.all(
        ['hidden', 'absent'].map((org) => ask(served.port, { method, target: `/@${org}${suffix}` })),
      );
      expect(anonymise(hidden!)).toBe(anonymise(absent!));
      expect(hidden!.status).toBe(404);
    }
  });

  test('and its own readers can tell', async () => {
    const authorization: [string, string] = ['Authorization', `Bearer ${served.values['acme']}`];
    const { secret, absent } = await both('GET', '', [authorization]);
    expect(secret).not.toBe(absent);
  });
});
