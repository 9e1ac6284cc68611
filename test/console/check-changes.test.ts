import { digestOf } from '../../src/model/digest.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { changeResource, publishVersion } from '../server/registry.ts';
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
    'This can be published, as version 1.1.0+2. The document says 1.1.0, which is published with other content and never changes. To publish a new version, raise the version in the document.',
  );
  const own = await send(documentWith('1.1.0+7', ['/charges', '/other']), 'check');
  expect(textOf(own.text, 'good')).toBe('This can be published, as version 1.1.0+7.');
});

test('the check says whom a break breaks: who gets the version and who stays, apart', async () => {
  const money = (...required: string[]) => {
    const $schema = 'https://json-schema.org/draft/2020-12/schema';
    return JSON.stringify({ $schema, type: 'object', required, properties: { amount: { type: 'integer' } } });
  };
  const sendTo = (path: string, document: string, verb: 'check' | 'go', version: string) =>
    admin.send(`/console/acme/${path}/publish`, {
      '/document': document,
      '/version': version,
      '/latest': 'yes',
      do: verb,
    });
  await publishVersion(server.registry, '@acme/schemas/money', '1.0.0', { document: {} });
  await sendTo('schemas/money', money(), 'go', '1.1.0');
  for (const [slug, range] of [
    ['ranged', '^1'],
    ['pinned', '1.1.0'],
  ] as const) {
    await publishVersion(server.registry, `@acme/apis/${slug}`, '1.0.0');
    const dependencies = [
      { coordinate: '@acme/schemas/money', range, version: '1.1.0', digest: digestOf(''), how: 'url' as const },
    ];
    await changeResource(server.registry, `@acme/apis/${slug}`, (resource) => ({
      ...resource,
      versions: resource.versions.map((version) => ({ ...version, dependencies })),
    }));
  }
  const { text } = await sendTo('schemas/money', money('amount'), 'check', '1.2.0');
  const [, told] = /<h3>Whom it breaks<\/h3>(.*?)<p class="quiet">/s.exec(text) ?? [];
  // The compiler of this world finds that nothing changes for them.
  expect(told).toContain('It breaks none of 1 user at their next publish.');
  expect(told).toContain('It breaks none of 1 user only if they leave their version.');
});
