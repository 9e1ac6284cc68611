import { afterAll, beforeAll, expect, test } from 'vitest';
import { openConsole, textOf, type ConsoleServer, type Person } from './harness.ts';

let server: ConsoleServer;
let admin: Person;
beforeAll(async () => {
  server = await openConsole();
  admin = await server.signIn();
});
afterAll(() => server[Symbol.asyncDispose]());

test('a key for sites is renamed, and its forms say which key it is', async () => {
  const { key } = await server.signIn({ name: 'docs', scopes: ['publish'], resources: ['apis/pay-*', 'sites/*'] });
  const at = `/console/acme/keys/${key}`;
  const typed = { '/name': 'handbook', '/scopes': 'publish', '/resources': 'sites/*', '/expiresAt': '' };
  const page = await admin.send(`${at}/edit`, typed);
  expect([page.status, textOf(page.text, 'error')]).toEqual([303, null]);
  for (const form of ['edit', 'rotate', 'revoke'])
    expect(textOf((await admin.get(`${at}/${form}`)).text, 'eyebrow')).toBe(`handbook (${key})`);
});

test('a wrong pattern is explained without a regular expression', async () => {
  const typed = { '/name': 'ci', '/scopes': 'read', '/resources': 'pay-*' };
  expect(textOf((await admin.send('/console/acme/keys/new', typed)).text, 'error')).toContain(
    'must be a type and a name',
  );
});

test('the forms of an endpoint say which one it is', async () => {
  const endpoint = { '/url': 'https://ci.example/stele' };
  await admin.send('/console/acme/webhooks/new', endpoint);
  const [, at] = /href="(\/console\/acme\/webhooks\/(?!new)[^"]+)"/.exec(
    (await admin.get('/console/acme/webhooks')).text,
  )!;
  for (const form of ['edit', 'rotate', 'test', 'delete'])
    expect(textOf((await admin.get(`${at}/${form}`)).text, 'eyebrow')).toBe(endpoint['/url']);
});
