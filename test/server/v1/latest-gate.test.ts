import { describe, expect, test } from 'vitest';
import { shareCompiler } from '../../compile/shared-compiler.ts';
import type { UserConfig } from '../../../src/config.ts';
import { createTestRegistry } from '../registry.ts';
import { openApi, unlimited, type Api } from './api.ts';

/** Whatever changes what readers of `latest` get needs what publishing it would. */
const compiler = shareCompiler();
const open = (user: UserConfig = {}) => openApi({ ...createTestRegistry({ ...unlimited, ...user }), compiler });

const api = (version: string, ...paths: string[]) =>
  JSON.stringify({
    openapi: '3.1.0',
    info: { title: 'Pay', version },
    paths: Object.fromEntries(paths.map((path) => [path, { get: { responses: { 200: { description: 'OK.' } } } }])),
  });

async function publish({ call }: Api, document: string, more: object = {}) {
  const { status } = await call('POST', '/v1/apis/pay/spec', { body: { document, ...more } });
  return status;
}

/** 0.0.1 has `/b` alone, 1.0.0 `/a`, 1.1.0 `/a` and `/c`, 1.2.0 the same under another name. */
async function openPay(gate: object): Promise<Api> {
  const server = await open();
  await server.call('POST', '/v1/apis', { body: { name: 'Pay', slug: 'pay' } });
  for (const document of [api('1.0.0', '/a'), api('1.1.0', '/a', '/c'), api('1.2.0', '/a', '/c')])
    expect(await publish(server, document)).toBe(201);
  expect(await publish(server, api('0.0.1', '/b'))).toBe(201);
  expect((await server.call('PATCH', '/v1/apis/pay', { body: gate })).status).toBe(200);
  return server;
}

const versions = '/v1/apis/pay/versions';
const yank = { status: { state: 'yanked', reason: 'Wrong.' } };
const active = { status: { state: 'active' } };
type Change = [path: string, body: object];

describe.each([[{ compatibility: 'semver' }], [{ approval: 'required' }]])(
  'under %o a key that may publish',
  (gate) => {
    test.each<[string, { first?: Change[]; change: Change; latest: string | null; raises?: true; isSafe?: boolean }]>([
      ['pins a version below all others', { change: ['/v1/apis/pay', { latest: '0.0.1' }], latest: '0.0.1' }],
      ['pins an older version', { change: ['/v1/apis/pay', { latest: '1.0.0' }], latest: '1.0.0' }],
      [
        'takes a pin away',
        {
          first: [['/v1/apis/pay', { latest: '0.0.1' }]],
          change: ['/v1/apis/pay', { latest: null }],
          latest: '1.2.0',
          raises: true,
        },
      ],
      [
        'yanks what adds something',
        { first: [[`${versions}/1.2.0`, yank]], change: [`${versions}/1.1.0`, yank], latest: '1.0.0' },
      ],
      [
        'yanks the last version',
        {
          first: ['1.0.0', '1.1.0', '0.0.1'].map((label): Change => [`${versions}/${label}`, yank]),
          change: [`${versions}/1.2.0`, yank],
          latest: null,
        },
      ],
      [
        'brings a version back',
        {
          first: ['1.0.0', '1.1.0', '1.2.0'].map((label): Change => [`${versions}/${label}`, yank]),
          change: [`${versions}/1.0.0`, active],
          latest: '1.0.0',
          raises: true,
        },
      ],
      ['yanks what differs in nothing', { change: [`${versions}/1.2.0`, yank], latest: '1.1.0', isSafe: true }],
      ['yanks what is not the latest', { change: [`${versions}/1.0.0`, yank], latest: '1.2.0', isSafe: true }],
    ])(
      '%s only where the gate lets it pass',
      async (_, { first = [], change: [path, body], latest, raises, isSafe = raises && 'compatibility' in gate }) => {
        await using server = await openPay(gate);
        const key = await server.makeKey({ scopes: ['publish'] });
        for (const [each, given] of first) await server.call('PATCH', each, { body: given });
        const answer = await server.call('PATCH', path, { key, body });
        if (!isSafe) {
          expect(answer.status).toBe(403);
          expect(answer.json['detail']).toContain(`would be ${latest ?? 'none'} instead of`);
          expect((await server.call('PATCH', path, { body })).status).toBe(200);
        } else expect(answer.status).toBe(200);
        expect((await server.call('GET', '/v1/apis/pay')).json['latest']).toBe(latest);
      },
    );
  },
);

test('without a gate, whoever may publish moves latest', async () => {
  await using server = await openPay({ compatibility: 'none' });
  const key = await server.makeKey({ scopes: ['publish'] });
  expect((await server.call('PATCH', '/v1/apis/pay', { key, body: { latest: '0.0.1' } })).status).toBe(200);
});

test('a sunset in the past begins its grace when it is stated, so that nothing is removed without notice', async () => {
  const organizations = { acme: { changes: { deprecation: { grace: '30d' } } } };
  await using server = await open({ organizations });
  await server.call('POST', '/v1/apis', { body: { name: 'Pay', slug: 'pay', compatibility: 'strict' } });
  expect(await publish(server, api('1.0.0', '/a', '/b'))).toBe(201);
  const key = await server.makeKey({ scopes: ['publish'] });
  const status = { state: 'deprecated', reason: 'Old.', sunset: '2020-01-01T00:00:00Z' };
  expect((await server.call('PATCH', `${versions}/1.0.0`, { key, body: { status } })).status).toBe(200);
  expect(await publish(server, api('1.1.0', '/a'))).toBe(422);
});

describe.each([[{ compatibility: 'semver' }], [{ approval: 'required' }]])(
  'under %o labels of several kinds',
  (gate) => {
    const openEmpty = async () => {
      const server = await open();
      await server.call('POST', '/v1/apis', { body: { name: 'Pay', slug: 'pay', ...gate } });
      return server;
    };
    const latestOf = async ({ call }: Api) => (await call('GET', '/v1/apis/pay')).json['latest'];

    // Dotted numbers have an order among themselves alone: with `foo` beside them, the newest is the latest.
    test('are no way to put a break in the place of the latest', async () => {
      await using server = await openEmpty();
      expect(await publish(server, api('1.0', '/a', '/b'))).toBe(201);
      expect(await publish(server, api('0.9', '/a'))).toBe(201);
      expect(await publish(server, api('foo', '/a'))).toBe(422);
      expect(await latestOf(server)).toBe('1.0');
      expect(await publish(server, api('foo', '/a', '/b', '/c'))).toBe(201);
    });

    test.each([
      ['a pre-release', ['1.0', '0.1.0-rc.1']],
      ['a release below', ['2.2', '0.1.0', '0.2.0']],
    ])('do not make %s the latest', async (_, [first, ...others]) => {
      await using server = await openEmpty();
      expect(await publish(server, api(first!, '/a', '/b'))).toBe(201);
      for (const each of others) expect(await publish(server, api(each, '/a'))).toBe(201);
      expect(await publish(server, api('foo', '/a'))).toBe(409);
      expect(await latestOf(server)).toBe(first);
    });
  },
);

test('a date is no way past approval', async () => {
  await using server = await open();
  await server.call('POST', '/v1/apis', { body: { name: 'Pay', slug: 'pay', approval: 'required' } });
  expect(await publish(server, api('1.0.0', '/a', '/b'))).toBe(201);
  const createdAt = '2019-01-01T00:00:00Z';
  expect(await publish(server, api('0.9.0', '/b'), { createdAt })).toBe(201);
  expect(await publish(server, api('1.9.0', '/a'), { createdAt })).toBe(422);
});
