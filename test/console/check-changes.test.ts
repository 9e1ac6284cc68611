import { afterAll, beforeAll, expect, test } from 'vitest';
import { publishVersion } from '../server/registry.ts';
import { openConsole, textOf, type ConsoleServer, type Person } from './harness.ts';

let server: ConsoleServer;
let admin: Person;
beforeAll(async () => {
  server = await openConsole();
  admin = await server.signIn();
  await publishVersion(server.registry, '@acme/apis/pay', '1.0.0');
  await publish('1.1.0', ['/charges', '/refunds']);
});
afterAll(() => server[Symbol.asyncDispose]());

const get = { get: { responses: { 200: { description: 'ok' } } } };
const documentWith = (version: string, paths: readonly string[], more: object = {}) =>
  JSON.stringify({
    openapi: '3.1.0',
    info: { title: 'Pay', version },
    paths: { ...Object.fromEntries(paths.map((path) => [path, get])), ...more },
  });
const send = (document: string, verb: 'check' | 'go', typed = {}) =>
  admin.send('/console/acme/apis/pay/publish', { '/document': document, '/latest': 'yes', do: verb, ...typed });
const publish = (version: string, paths: readonly string[]) => send(documentWith(version, paths), 'go');

test('the check before publishing shows what changes against the version before, breaks first', async () => {
  const { text } = await send(documentWith('2.0.0', ['/charges', '/payouts']), 'check');
  expect(text).toMatch(/Compared with 1\.1\.0, the highest release below it: 1 breaking, 1 safe\./);
  const list = /<ul class="what-changes">(.*?)<\/ul>/s.exec(text)![1]!;
  const items = [...list.matchAll(/<li><span class="tag (\w*)">([^<]*)<\/span> ([^<]*)<\/li>/g)].map(
    ([, ...item]) => item,
  );
  expect(items.map(([tone, verdict]) => [tone, verdict])).toEqual([
    ['error', 'breaking'],
    ['good', 'safe'],
  ]);
  expect(items[0]![2]).toContain('/refunds');
});

test('the check says why a label got a number', async () => {
  const { text } = await send(documentWith('1.1.0', ['/charges', '/other']), 'check');
  expect(textOf(text, 'good')).toBe(
    'This can be published, as version 1.1.0+2. The document says 1.1.0, which is published with other content and never changes. For a version of its own, raise the version in the document.',
  );
  const own = await send(documentWith('1.1.0+7', ['/charges', '/other']), 'check');
  expect(textOf(own.text, 'good')).toBe('This can be published, as version 1.1.0+7.');
});
