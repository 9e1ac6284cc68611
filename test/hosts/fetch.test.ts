import { expect, test } from 'vitest';
import { createFetch, inTime } from '../../src/hosts/host-fetch.ts';
import { createInOrder } from '../../src/scheduling/in-order.ts';
import { openStandIn } from '../servers/stand-in.ts';

test('nothing goes to another origin than that of the API', async () => {
  await using api = await openStandIn(() => ({ status: 200, body: 'here' }));
  await using other = await openStandIn(() => ({ status: 200, body: 'there' }));
  const ask = createFetch(`${api.url}/api/v3`, 1000);
  const headers = { authorization: 'token secret' };
  expect(await (await ask(`${api.url}/api/v3/x`, { headers })).json()).toBe('here');
  for (const url of [`${other.url}/x`, new URL(other.url), new Request(other.url, { headers })])
    await expect(ask(url, { headers })).rejects.toThrow(TypeError);
  expect(other.requests).toEqual([]);
});

test('a redirect of the API is followed with the same method and body, and only within the API', async () => {
  await using other = await openStandIn(() => ({ status: 200, body: 'there' }));
  await using api = await openStandIn(({ path, method, body, headers }) => {
    const [, status, to] = /^\/api\/v3\/(\d+)\/(.*)$/.exec(path) ?? [];
    const targets: Record<string, string> = {
      here: '/api/v3/new',
      away: `${other.url}/api/v3/new`,
      page: '/login',
      user: `http://me:secret@${headers.host}/api/v3/new`,
    };
    if (to === 'round') return { status: Number(status), headers: { location: path } };
    if (status !== undefined) return { status: Number(status), headers: { location: targets[to!]! } };
    return { status: 200, body: { path, method, body, authorization: headers.authorization } };
  });
  const ask = createFetch(`${api.url}/api/v3`, 1000);
  const init = { method: 'POST', body: '{"state":"success"}', headers: { authorization: 'token secret' } };
  const said = { path: '/api/v3/new', method: 'POST', body: { state: 'success' }, authorization: 'token secret' };
  for (const status of [301, 307, 308]) {
    expect(await (await ask(`${api.url}/api/v3/${status}/here`, init)).json()).toEqual(said);
    for (const to of ['away', 'page', 'user', 'round'])
      expect((await ask(`${api.url}/api/v3/${status}/${to}`, init)).status, `${status} ${to}`).toBe(404);
  }
  expect((await ask(`${api.url}/api/v3/302/here`, init)).status).toBe(404);
  expect(other.requests).toEqual([]);
});

test('an answer may have 16 MB', async () => {
  const largest = 16 * 1024 * 1024;
  let size = largest;
  // With the quotes of JSON.
  await using api = await openStandIn(() => ({ status: 200, body: 'x'.repeat(size - 2) }));
  const ask = createFetch(`${api.url}/api/v3`, 60_000);
  expect((await (await ask(`${api.url}/api/v3/x`)).arrayBuffer()).byteLength).toBe(largest);
  size++;
  await expect(ask(`${api.url}/api/v3/x`)).rejects.toThrow('The answer is too large.');
});

test('work that does not end in time is aborted', async () => {
  let reason: AbortSignal | null = null;
  const endless = inTime('GitHub', 1, (signal) => {
    reason = signal;
    return new Promise<never>(() => {});
  });
  await expect(endless).rejects.toMatchObject({ code: 'unreachable', message: 'GitHub did not answer in time.' });
  expect(reason!.aborted).toBe(true);
});

test('work of one name waits for what was asked before, also when that fails', async () => {
  const inOrder = createInOrder();
  const done: string[] = [];
  const first = Promise.withResolvers<void>();
  const one = inOrder('a', () => first.promise.then(() => Promise.reject(new Error('one'))));
  const two = inOrder('a', async () => void done.push('two'));
  await inOrder('b', async () => void done.push('other'));
  expect(done).toEqual(['other']);
  first.resolve();
  await expect(one).rejects.toThrow('one');
  await two;
  expect(done).toEqual(['other', 'two']);
});
