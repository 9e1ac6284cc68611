import { Router } from 'express';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { RegistryError } from '../../src/model/errors.ts';
import { createApp } from '../../src/server/app.ts';
import type { Login } from '../../src/server/server-context.ts';
import { listen, type Listening } from '../../src/server/listen.ts';
import { ask } from './http.ts';
import { createTestQueue, createTestRegistry, publishVersion } from './registry.ts';

/** Takes `session=ada` for a reader of acme, and refuses `session=forged`. */
const login: Login = {
  router: Router(),
  async readSession({ headers: { cookie } }) {
    if (cookie === 'session=forged') throw new RegistryError('unauthenticated', 'The session is not valid.');
    if (cookie !== 'session=ada') return null;
    const organizations = { acme: [{ scopes: ['read'], resources: null }] } as const;
    return { principal: { kind: 'user', id: 'ada', organizations }, name: 'Ada', token: 't', expiresAt: '2030-01-01' };
  },
  signInUrl: (returnTo) => `/login?returnTo=${encodeURIComponent(returnTo)}`,
};

let listening: Listening;
beforeAll(async () => {
  const registry = createTestRegistry();
  await publishVersion(registry, '@acme/apis/secret', '1.0.0', { visibility: 'private' });
  await publishVersion(registry, '@other/apis/secret', '1.0.0', { visibility: 'private' });
  const queue = createTestQueue(registry);
  const app = createApp({ registry, queue, url: 'http://registry.test', isReady: () => true, login });
  listening = await listen(app, { host: '127.0.0.1', port: 0 });
});
afterAll(() => listening.close(1000));

const get = (target: string, headers: [string, string][] = []) => ask(listening.port, { target, headers });
const asAda: [string, string] = ['Cookie', 'session=ada'];

test('a session reads what its user may', async () => {
  const answer = await get('/@acme/apis/secret', [asAda]);
  expect(answer.status).toBe(200);
  expect(answer.headers.get('cache-control')).toBe('private, no-store');
  expect((await get('/@other/apis/secret', [asAda])).status).toBe(404);
  expect((await get('/@acme', [asAda])).status).toBe(200);
  expect((await get('/@acme/apis/secret/embed', [asAda])).status).toBe(200);
  expect((await get('/@acme/rulesets', [asAda])).body.toString()).toBe('{"items":[],"next":null}');
});

test('a session that is over is nobody, and one that is not valid is refused everywhere', async () => {
  expect((await get('/@acme/apis/secret', [['Cookie', 'session=over']])).status).toBe(404);
  expect((await get('/healthz', [['Cookie', 'session=forged']])).status).toBe(401);
});

test('a key wins over a session', async () => {
  expect((await get('/@acme/apis/secret', [asAda, ['Authorization', 'Bearer x']])).status).toBe(401);
});

test.each(['/@acme/apis/secret?format=yaml', '/@acme/apis/absent?format=yaml', '/nowhere'])(
  'a page that is not found at %s says where to sign in',
  async (target) => {
    const { body } = await get(target);
    expect(JSON.parse(body.toString())).toMatchObject({ status: 404, signIn: login.signInUrl(target) });
  },
);
