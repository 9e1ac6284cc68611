import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestRegistry, publishVersion } from '../server/registry.ts';
import { unlimited } from '../server/v1/api.ts';
import { openConsole, type ConsoleServer, type Person } from './harness.ts';

let server: ConsoleServer;
let admin: Person;

beforeAll(async () => {
  server = await openConsole();
  admin = await server.signIn();
});
afterAll(() => server[Symbol.asyncDispose]());

test('making a resource private says before whom it cuts off', async () => {
  await publishVersion(server.registry, '@acme/apis/pay', '1.0.0', { visibility: 'public' });
  const form = '/console/acme/apis/pay/visibility';
  const said = 'Private, everybody outside of @acme gets 404, with or without an account.';
  expect((await admin.get(form)).text).toContain(said);
  await admin.send(form, { '/visibility': 'private' });
  expect((await admin.get(form)).text).not.toContain(said);
});

test('a new organization leads to its first document, its members and its overview', async () => {
  const operator = await server.operate();
  const { text } = await operator.send('/console/-/organizations/new', { '/organization': 'fresh' });
  expect(text).toContain('@fresh is there');
  for (const href of ['/console/new?org=fresh', '/console/fresh/members', '/console/fresh'])
    expect(text).toContain(`href="${href}"`);
});

test('a first document begins with its organization, and nothing leads to one that nobody made', async () => {
  await using empty = await openConsole(createTestRegistry(unlimited));
  const { text } = await (await empty.operate()).get('/console/new');
  expect(text.indexOf('name="/org"')).toBeGreaterThan(0);
  expect(text.indexOf('name="/org"')).toBeLessThan(text.indexOf('name="/document"'));
  expect(text).not.toContain('/console/local');
});

test('events of a webhook are said in a sentence, and a chat has no signing secret', async () => {
  const form = '/console/acme/webhooks/new';
  expect((await admin.get(form)).text).toContain('A version waits until somebody approves its changes.');
  const chat = { '/url': 'https://hooks.slack.com/services/T0/B0/x', '/format': 'slack' };
  const { text } = await admin.send(form, chat);
  expect(text).toContain('so there is no secret');
  expect(text).not.toContain('class="secret"');
  const [trial] = /\/console\/acme\/webhooks\/[\w-]+\/test/.exec(text)!;
  const page = await admin.get(trial.replace('/test', ''));
  expect(page.text).not.toContain('New secret');
});
