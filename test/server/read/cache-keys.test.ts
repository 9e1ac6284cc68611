import { afterAll, beforeAll, expect, test } from 'vitest';
import { ask } from '../http.ts';
import { openServed, type Served } from '../served.ts';

let served: Served;
beforeAll(async () => {
  served = await openServed();
});
afterAll(() => served[Symbol.asyncDispose]());

const fields = ['surrogate-key', 'cache-tag'];

async function sent(port: number, target: string, ...headers: [string, string][]) {
  const answer = await ask(port, { target, headers });
  return fields.map((name) => answer.headers.get(name) ?? null);
}

test('a public answer names its address alone as the key by which caches can drop it', async () => {
  const key = '@acme/apis/pay';
  expect(await sent(served.port, '/@acme/apis/pay@1.1.0')).toEqual([key, key]);
  for (const target of [
    '/@acme/apis/pay',
    '/@acme/apis/pay@1',
    '/@acme/apis/pay/versions',
    '/@acme/apis/pay/index.html',
  ])
    expect(await sent(served.port, target), target).toEqual([key, key]);
  for (const target of ['/@acme', '/@acme/apis'])
    expect(await sent(served.port, target), target).toEqual(['@acme', '@acme']);
  for (const target of ['/', '/llms.txt', '/search/index.json'])
    expect(await sent(served.port, target), target).toEqual(['registry', 'registry']);
});

test('what is private, absent or refused has no key, whoever asks', async () => {
  const member: [string, string] = ['Authorization', `Bearer ${served.values['acme']}`];
  for (const target of ['/@acme/apis/secret', '/@acme/apis/none', '/@acme/apis/pay@1.0.3', '/@acme/apis/pay@9.9.9'])
    for (const headers of [[], [member]])
      expect(await sent(served.port, target, ...headers), target).toEqual([null, null]);
  expect(await sent(served.port, '/@acme', member)).toEqual([null, null]);
});
