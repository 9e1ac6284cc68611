import { afterAll, beforeAll, expect, test } from 'vitest';
import { publishVersion } from '../server/registry.ts';
import { hiddenIn, openConsole, type ConsoleServer, type Person } from './harness.ts';

let server: ConsoleServer;
let admin: Person;
beforeAll(async () => {
  server = await openConsole();
  await publishVersion(server.registry, '@acme/rulesets/style', '1.0.0');
  await publishVersion(server.registry, '@acme/apis/pay', '1.0.0');
  admin = await server.signIn();
});
afterAll(() => server[Symbol.asyncDispose]());

const path = '/console/acme/rulesets/style/replay';

test('a published version is checked against what uses the ruleset, and nothing is stored', async () => {
  await admin.send('/console/acme/apis/pay/checks', { '/ruleset': '@acme/rulesets/style' });
  const answer = await admin.send(path, { '/version': '1.0.0' });
  expect(answer.text).toContain('Nothing new would be rejected');
  expect(answer.text).toContain('1 checked, 0 rejected that are accepted now');
  expect(answer.text).toContain('@acme/apis/pay@1.0.0');
});

test('a candidate that cannot be read is shown with its errors, and what was typed stays', async () => {
  const answer = await admin.send(path, { '/document': '{"refuse":"why <not>"}', '/version': '' });
  expect(answer.status).toBe(422);
  expect(answer.text).toContain('why &lt;not&gt;');
  expect(answer.text).toContain('{&quot;refuse&quot;:&quot;why &lt;not&gt;&quot;}</textarea>');
});

test('only who may publish the ruleset gets there', async () => {
  const reader = await server.signIn({ name: 'rae', scopes: ['read'] });
  expect((await reader.get('/console/acme/rulesets/style')).text).not.toContain('/replay');
  expect((await reader.get(path)).status).toBe(403);
  const hidden = hiddenIn((await reader.get('/console/acme')).text);
  expect((await reader.send(path, { '/version': '1.0.0' }, { hidden })).status).toBe(403);
});
