import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeMove } from '../../src/console/resource-forms.ts';
import type { Resource } from '../../src/model/resource.ts';
import { publishVersion } from '../server/registry.ts';
import { openConsole, textOf, type ConsoleServer, type Person } from './harness.ts';

let server: ConsoleServer;
let admin: Person;
beforeAll(async () => {
  server = await openConsole();
  for (const version of ['1.0.0', '2.0.0']) await publishVersion(server.registry, '@acme/apis/pay', version);
  await publishVersion(server.registry, '@acme/apis/one', '1.0.0');
  await publishVersion(server.registry, '@acme/rulesets/style', '1.0.0');
  await publishVersion(server.registry, '@acme/rulesets/style', '1.1.0');
  admin = await server.signIn();
});
afterAll(() => server[Symbol.asyncDispose]());

const noticeAt = async (path: string) => textOf((await admin.get(`/console/acme/${path}`)).text, 'notice');

test.each(['yank', 'withdraw'])('before %s, the form says where latest goes and who follows it', async (verb) => {
  expect(await noticeAt(`apis/pay/versions/2.0.0/${verb}`)).toBe(
    'Latest moves from 2.0.0 to 1.0.0. Readers of @acme/apis/pay without a version get 1.0.0.',
  );
  expect(await noticeAt(`apis/pay/versions/1.0.0/${verb}`)).toBe('Latest stays 2.0.0.');
  expect(await noticeAt(`apis/one/versions/1.0.0/${verb}`)).toContain('No version will be the latest.');
  expect(await noticeAt(`rulesets/style/versions/1.1.0/${verb}`)).toContain('and resources that it checks, get 1.0.0');
});

test('a deprecated version does not become the latest silently', async () => {
  const reason = { '/status/reason': 'It loses money.' };
  await admin.send('/console/acme/apis/pay/versions/1.0.0/deprecate', reason);
  const { text } = await admin.get('/console/acme/apis/pay/versions/2.0.0/withdraw');
  expect(text).toMatch(/<p class="notice bad">Latest moves from 2\.0\.0 to 1\.0\.0\./);
  expect(textOf(text, 'notice')).toContain('1.0.0 is deprecated (It loses money). To send them to a better version,');
  await admin.send('/console/acme/apis/pay/versions/1.0.0/restore');
});

test('the form for latest says why it is what it is, and what the rules choose', async () => {
  expect(await noticeAt('apis/pay/latest')).toContain('Latest is 2.0.0, the highest release.');
  expect((await admin.get('/console/acme/apis/pay/latest')).text).toContain('chosen by the rules: now 2.0.0');
});

test('a pin that ends is named', () => {
  const version = (label: string, state: 'active' | 'yanked') => ({ label, status: { state } });
  const resource = { org: 'acme', type: 'apis', slug: 'pay', latest: '1.0.0', latestPinned: true } as const;
  const [before, next] = (['active', 'yanked'] as const).map((state) => ({
    ...resource,
    versions: [version('1.0.0', state), version('2.0.0', 'active')],
  }));
  const { text } = describeMove(
    before as unknown as Resource,
    { ...next, latest: '2.0.0', latestPinned: false } as unknown as Resource,
  );
  expect(text).toContain('The pin on 1.0.0 ends.');
});
