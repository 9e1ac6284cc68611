import { expect, test, vi } from 'vitest';
import { createAsk, createFetch, inTime } from '../../src/hosts/ask.ts';
import { createInOrder } from '../../src/scheduling/turns.ts';
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

const inSeconds = (seconds: number) => String(Math.floor(Date.now() / 1000) + seconds);

test.for([
  ['GitHub, Gitea', 200, () => ({ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': inSeconds(300) })],
  ['GitHub, a secondary limit', 403, () => ({ 'retry-after': '300' })],
  ['GitLab', 429, () => ({ 'ratelimit-remaining': '0', 'ratelimit-reset': inSeconds(300), 'retry-after': '300' })],
  ['the draft of the IETF', 200, () => ({ 'ratelimit-remaining': '0', 'ratelimit-reset': '300' })],
  ['Azure DevOps, which delays before it refuses', 200, () => ({ 'retry-after': '300' })],
  ['a host that is down', 503, () => ({ 'retry-after': new Date(Date.now() + 300_000).toUTCString() })],
  ['GitHub, a secondary limit without a field', 403, () => ({}), { message: 'You exceeded a secondary rate limit.' }],
  [
    'a host that is down, and whose clock is wrong',
    503,
    () => ({
      date: new Date(Date.now() - 3_600_000).toUTCString(),
      'retry-after': new Date(Date.now() - 3_300_000).toUTCString(),
    }),
  ],
  [
    'a host whose clock is wrong',
    200,
    () => ({
      date: new Date(Date.now() - 86_400_000).toUTCString(),
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': inSeconds(300 - 86_400),
    }),
  ],
] as const)(
  'after %s said that the budget is used up, nothing is asked with the credential until the reset',
  async ([, status, headers, said]) => {
    let isLimited = true;
    const body = () => (isLimited && said) || 'here';
    await using api = await openStandIn(() => ({ status, ...(isLimited && { headers: headers() }), body: body() }));
    const [one, two] = [createFetch(api.url, 1000), createFetch(api.url, 1000)];
    expect((await one(`${api.url}/x`)).status).toBe(status);
    for (let n = 0; n < 102; n++) {
      const limited = await one(`${api.url}/x`);
      expect(limited.status).toBe(429);
      expect(Number(limited.headers.get('retry-after'))).toBeLessThanOrEqual(301);
    }
    expect(api.requests).toHaveLength(1);
    isLimited = false;
    await two(`${api.url}/x`);
    expect(api.requests).toHaveLength(2);
    const later = performance.now() + 302_000;
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => later);
    expect((await one(`${api.url}/x`)).status).toBe(status);
    clock.mockRestore();
    expect(api.requests).toHaveLength(3);
  },
);

test('a limit without a time lasts for a second, and twice as long each time that it is said again', async () => {
  let status = 429;
  await using api = await openStandIn(() => ({ status, body: 'here' }));
  const ask = createFetch(api.url, 1000);
  const clock = vi.spyOn(performance, 'now');
  // Whole, so that sums are exact.
  const start = Math.ceil(performance.now());
  const requests: number[] = [];
  for (let second = 0; second < 40; second += 0.25) {
    clock.mockReturnValue(start + second * 1000);
    const before = api.requests.length;
    const answer = await ask(`${api.url}/x`);
    expect([answer.status, Number(answer.headers.get('retry-after')) > 0]).toEqual([429, true]);
    if (api.requests.length > before) requests.push(second);
  }
  expect(requests).toEqual([0, 1, 3, 7, 15, 31]);
  clock.mockReturnValue(start + 63_000);
  status = 200;
  for (let n = 0; n < 3; n++) expect((await ask(`${api.url}/x`)).status).toBe(200);
  status = 429;
  await ask(`${api.url}/x`);
  clock.mockReturnValue(start + 64_000);
  await ask(`${api.url}/x`);
  expect(api.requests).toHaveLength(requests.length + 5);
  clock.mockRestore();
});

test.for([
  ['Retry-After', { 'retry-after': '300' }],
  ['no budget', { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': inSeconds(300) }],
])('403 with %s is a limit, and not a credential that was rejected', async ([, headers]) => {
  await using api = await openStandIn(() => ({ status: 403, headers: headers as Record<string, string> }));
  const settings = {
    name: 'gitea',
    url: api.url,
    apiUrl: api.url,
    credential: () => null,
    second: 1000,
    stopping: new AbortController(),
  };
  const ask = createAsk('Gitea', settings, () => '');
  const asking = ask(
    { name: 'acme/apis', credential: null },
    { method: 'GET', path: '/x' },
    new AbortController().signal,
  );
  await expect(asking).rejects.toThrow('Gitea limits the rate of requests with the credential for acme/apis (429).');
  expect(api.requests).toHaveLength(1);
});

test('a shorter limit that comes later, as of a request that was under way, ends no longer one', async () => {
  const limits = ['300', '1'];
  await using api = await openStandIn(({ path }) => ({
    status: 403,
    headers: { 'retry-after': limits[Number(path.slice(1))]! },
    after: Number(path.slice(1)) * 50,
  }));
  const ask = createFetch(api.url, 1000);
  await Promise.all([ask(`${api.url}/0`), ask(`${api.url}/1`)]);
  expect((await ask(`${api.url}/0`)).headers.get('retry-after')).toBe('300');
  expect(api.requests).toHaveLength(2);
});

test('a redirect that says that the budget is used up is followed after the reset', async () => {
  await using api = await openStandIn(({ path }) =>
    path === '/new' ? { status: 200 } : { status: 301, headers: { location: '/new', 'retry-after': '300' } },
  );
  expect((await createFetch(api.url, 1000)(`${api.url}/old`)).status).toBe(429);
  expect(api.requests).toHaveLength(1);
});

test('a reset that is far away, or no time, holds nothing up for longer than an hour', async () => {
  const resets = [inSeconds(9_000_000), 'soon', '-5', '', inSeconds(-5)];
  await using api = await openStandIn(() => {
    return {
      status: 200,
      headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': resets.shift() ?? '0' },
      body: '',
    };
  });
  const ask = createFetch(api.url, 1000);
  await ask(`${api.url}/x`);
  expect((await ask(`${api.url}/x`)).headers.get('retry-after')).toBe('3600');
  const another = createFetch(api.url, 1000);
  for (let n = 0; n < 5; n++) expect((await another(`${api.url}/x`)).status).toBe(200);
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
