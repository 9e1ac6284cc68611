import { expect, test } from 'vitest';
import { shareCompiler } from '../../compile/shared-compiler.ts';
import { createTestRegistry } from '../registry.ts';
import { unlimited } from '../v1/api.ts';
import { openConsole } from './harness.ts';

const schema = '{"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Order", "type": "object"}';

test('a link to a new document names its organization', async () => {
  await using server = await openConsole();
  const operator = await server.operate();
  expect((await operator.get('/console/new?org=acme')).text).toMatch(/name="\/org"[^>]*value="acme"/);
  const key = await server.signIn();
  expect((await key.get('/console/new?org=other')).text).toMatch(/name="\/org"[^>]*value="acme"/);
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
