import { expect, test } from 'vitest';
import { shareCompiler } from '../compile/shared-compiler.ts';
import { createTestRegistry } from '../server/registry.ts';
import { unlimited } from '../server/v1/api.ts';
import { createBrowser } from '../server/login/browser.ts';
import { openConsole, type Person } from './harness.ts';

const schema = '{"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Order", "type": "object"}';

test('a new document is of an organization that exists, and a link to it names one', async () => {
  await using server = await openConsole(createTestRegistry({ ...unlimited, organizations: { acme: {}, other: {} } }));
  const offered = async ({ get }: Pick<Person, 'get'>, path: string) =>
    /name="\/org".*?<\/select>/s.exec((await get(path)).text)?.[0].match(/value="[^"]*"(?: selected)?/g);
  const operator = await server.operate();
  expect(await offered(operator, '/console/new?org=acme')).toContain('value="acme" selected');
  expect(await offered(operator, '/console/new')).toEqual(['value="" selected', 'value="acme"', 'value="other"']);
  const key = await server.signIn();
  // A key is of one.
  expect(await offered(key, '/console/new?org=other')).toEqual(['value="acme" selected']);
});

test('a document is of the kind that it says, unless another is chosen', async () => {
  await using server = await openConsole({ ...createTestRegistry(unlimited), compiler: shareCompiler() });
  const admin = await server.signIn();
  const typed = { '/document': schema, '/org': 'acme', '/visibility': 'public', do: 'go' };
  const refused = await admin.send('/console/new', { ...typed, '/type': 'apis' });
  expect(refused.text).toContain('The document is a JSON Schema, not an OpenAPI document.');
  const published = await admin.send('/console/new', { ...typed, '/type': '' });
  expect(published.headers.get('location')).toMatch(/^\/console\/acme\/schemas\/order\/published\//);
  const taken = await admin.send('/console/new', { ...typed, '/type': '', '/slug': 'order' });
  expect(taken.text).toContain('@acme/schemas/order exists already.');
  const narrow = await server.signIn({ name: 'narrow', scopes: ['publish'], resources: ['schemas/*'] });
  const own = await narrow.send('/console/new', { ...typed, '/type': '', '/slug': 'line' });
  expect(own.headers.get('location')).toMatch(/^\/console\/acme\/schemas\/line\/published\//);
});

test('a document refers to what its author may read, as one that a client publishes', async () => {
  const registry = { ...createTestRegistry({ ...unlimited, url: 'https://stele.example' }), compiler: shareCompiler() };
  await using server = await openConsole(registry);
  const typed = { '/org': 'acme', '/visibility': 'private', '/type': 'schemas', do: 'go' };
  const referring = schema.replace('"type"', '"$ref": "https://stele.example/@acme/schemas/order@latest", "type"');
  const admin = await server.signIn();
  const secret = await admin.send('/console/new', { ...typed, '/document': schema, '/slug': 'order' });
  expect(secret.headers.get('location')).toContain('/order/published/');
  const own = await admin.send('/console/new', { ...typed, '/document': referring, '/slug': 'own' });
  expect(own.headers.get('location')).toContain('/own/published/');
  const narrow = await server.signIn({ name: 'narrow', scopes: ['publish'], resources: ['schemas/pay-*'] });
  const refused = await narrow.send('/console/new', { ...typed, '/document': referring, '/slug': 'pay-line' });
  expect([refused.status, refused.headers.get('location')]).toEqual([422, null]);
});

test('the home page of an empty registry says to each reader what they can do', async () => {
  await using server = await openConsole();
  const homeOf = async ({ get }: Pick<Person, 'get'>) => (await get('/')).text;
  const stranger = (await createBrowser().request(`${server.url}/`)).text;
  expect(stranger).toContain('No public contracts yet. <a href="/account">Sign in</a> to see private ones.');
  const writer = await homeOf(await server.signIn());
  expect(writer).toContain('Nothing is published yet that you may read.');
  expect(writer).not.toContain('Sign in');
  expect(writer).toContain('href="/console/new"');
  const reader = await homeOf(await server.signIn({ name: 'rae', scopes: ['read'] }));
  expect(reader).toContain('You may read, and not publish.');
  expect(reader).not.toContain('href="/console/new"');
});
