import { afterAll, beforeAll, expect, test } from 'vitest';
import { documentOf, openApi, type Api } from './api.ts';

/** What is wrong with a body is said in the words of what was meant. */

let api: Api;

beforeAll(async () => {
  api = await openApi();
  await api.call('POST', '/v1/apis', { body: { name: 'Pay', slug: 'pay' } });
  await api.call('POST', '/v1/apis/pay/spec', { body: { document: documentOf('1.0.0') } });
});
afterAll(() => api[Symbol.asyncDispose]());

type Told = { pointer?: string; parameter?: string; detail: string }[];

async function faultsOf(method: string, path: string, body: unknown): Promise<Told> {
  const { status, json } = await api.call(method, path, { body });
  expect(status).toBe(400);
  return json['errors'] as Told;
}

const statuses: [string, unknown, Told][] = [
  ['deprecated without reason', { state: 'deprecated' }, [{ pointer: '/status/reason', detail: 'is missing' }]],
  ['withdrawn without reason', { state: 'withdrawn' }, [{ pointer: '/status/reason', detail: 'is missing' }]],
  [
    'active with a reason',
    { state: 'active', reason: 'x' },
    [{ pointer: '/status/reason', detail: 'is not expected here' }],
  ],
  [
    'deprecated with a misspelt member',
    { state: 'deprecated', reason: 'x', replacment: '2.0.0' },
    [{ pointer: '/status/replacment', detail: 'is not expected here. Did you mean "replacement"?' }],
  ],
  [
    'a state that there is not',
    { state: 'gone', reason: 'x' },
    [{ pointer: '/status/state', detail: 'must be "active", "deprecated", "yanked" or "withdrawn"' }],
  ],
  ['no state', { reason: 'x' }, [{ pointer: '/status/state', detail: 'is missing' }]],
  ['a text', 'deprecated', [{ pointer: '/status', detail: 'must be an object, not a string' }]],
  [
    'a replacement that is none',
    { state: 'deprecated', reason: 'x', replacement: '@acme/apis' },
    [{ pointer: '/status/replacement', detail: expect.stringContaining('such as "2.0.0", or a coordinate') as string }],
  ],
];

test('a deprecation names a replacement that readers find', async () => {
  for (const slug of ['open', 'hidden']) await api.call('POST', '/v1/apis', { body: { name: slug, slug } });
  await api.call('POST', '/v1/apis/open/spec', { body: { document: documentOf('1.0.0') } });
  await api.call('POST', '/v1/apis/open/spec', { body: { document: documentOf('2.0.0') } });
  const deprecate = (replacement: string) =>
    api.call('PATCH', '/v1/apis/open/versions/1.0.0', {
      body: { status: { state: 'deprecated', reason: 'x', replacement } },
    });
  const { status, json } = await deprecate('2.0.1');
  expect(status).toBe(400);
  expect(json['errors']).toEqual([
    {
      pointer: '/status/replacement',
      detail: 'does not exist; there is 2.0.0. Did you mean "2.0.0"? Publish it first, or leave this out',
    },
  ]);
  for (const absent of ['1.0.0', '@acme/apis/none', '@acme/apis/hidden', '@acme/apis/open@9.0.0', '@other/apis/open'])
    expect((await deprecate(absent)).status, absent).toBe(400);
  for (const there of ['2.0.0', '@acme/apis/open@2', '@acme/apis/pay'])
    expect((await deprecate(there)).status, there).toBe(200);
});

test('a public version names no private replacement, also not by becoming public', async () => {
  for (const slug of ['shown', 'secret']) {
    await api.call('POST', '/v1/apis', { body: { name: slug, slug } });
    await api.call('POST', `/v1/apis/${slug}/spec`, { body: { document: documentOf('1.0.0') } });
  }
  const show = (slug: string) => api.call('PATCH', `/v1/apis/${slug}`, { body: { visibility: 'public' } });
  const deprecate = (reason: string) =>
    api.call('PATCH', '/v1/apis/shown/versions/1.0.0', {
      body: { status: { state: 'deprecated', reason, replacement: '@acme/apis/secret@1.0.0' } },
    });
  expect((await deprecate('Old.')).status).toBe(200);
  const refused = await show('shown');
  expect([refused.status, refused.json['detail']]).toEqual([
    409,
    '@acme/apis/shown@1.0.0 names a replacement that is not public. Make that public first, or deprecate the version without it.',
  ]);
  await api.call('PATCH', '/v1/apis/shown/versions/1.0.0', { body: { status: { state: 'active' } } });
  expect((await show('shown')).status).toBe(200);
  expect((await deprecate('Older.')).json['errors']).toEqual([
    {
      pointer: '/status/replacement',
      detail: 'does not exist, or is not public as this version is; make it public first, or leave this out',
    },
  ]);
  expect((await show('secret')).status).toBe(200);
  expect((await deprecate('Older.')).status).toBe(200);
});

test.for(statuses)('a status is explained by the branch that is meant: %s', async ([, status, told]) => {
  expect(await faultsOf('PATCH', '/v1/apis/pay/versions/1.0.0', { status })).toEqual(told);
});

test('the detail says it in a sentence', async () => {
  const { json } = await api.call('PATCH', '/v1/apis/pay/versions/1.0.0', {
    body: { status: { state: 'deprecated' } },
  });
  expect(json['detail']).toBe('The body is invalid: /status/reason is missing.');
});

test.for([
  ['My Payments', 'my-payments'],
  ['a--b', 'a-b'],
  ['Überweisung', 'uberweisung'],
  [`x${'-y'.repeat(40)}`, 'x-y'],
])('a slug that will not do comes with one that will: %s', async ([slug, better]) => {
  const { status, json } = await api.call('POST', '/v1/apis', { body: { name: 'x', slug } });
  expect(status).toBe(400);
  const [, suggested] = /; "([^"]+)" would do\.$/.exec(json['detail'] as string)!;
  expect(suggested!.startsWith(better!)).toBe(true);
  const made = await api.call('POST', '/v1/apis', { body: { name: 'x', slug: suggested } });
  expect(made.status).toBe(201);
});

test('a slug of which nothing can be kept comes with none', async () => {
  expect(await faultsOf('POST', '/v1/apis', { name: 'x', slug: '支払い' })).toEqual([
    { pointer: '/slug', detail: 'must be 1 to 63 of a-z, 0-9 and single hyphens between them' },
  ]);
});

test('a label that will not do comes with one that will', async () => {
  const [fault] = await faultsOf('POST', '/v1/apis/pay/spec', { document: documentOf(null), version: '2.0 beta' });
  expect(fault).toEqual({ pointer: '/version', detail: expect.stringMatching(/; "2\.0-beta" would do$/) as string });
});

test('what no pattern says is checked: a name of spaces that are not ASCII', async () => {
  for (const name of ['\u00a0', ' \u3000\u2003']) {
    expect(await faultsOf('POST', '/v1/apis', { name, slug: 'blank' })).toEqual([
      { pointer: '/name', detail: 'must be one line of text: no control characters, and not blank' },
    ]);
  }
});

test('a document that is neither text nor an object', async () => {
  expect(await faultsOf('POST', '/v1/apis/pay/spec', { document: 7 })).toEqual([
    { pointer: '/document', detail: 'must be a string or an object, not a number' },
  ]);
});

test('an invalid ruleset, and one of another type', async () => {
  const detail = 'must be a ruleset, such as "@acme/rulesets/style" or "@acme/rulesets/style@^1"';
  expect(await faultsOf('PATCH', '/v1/apis/pay', { ruleset: 'style' })).toEqual([{ pointer: '/ruleset', detail }]);
  expect(await faultsOf('PATCH', '/v1/apis/pay', { ruleset: 7 })).toEqual([
    { pointer: '/ruleset', detail: 'must be a string or null, not a number' },
  ]);
});
