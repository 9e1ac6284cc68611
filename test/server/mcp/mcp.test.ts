import { expect, test } from 'vitest';
import { publishVersion, setStatus } from '../registry.ts';
import { exchange, parseAnswer } from '../http.ts';
import { order, openWorld } from './mcp-world.ts';

test("the SDK's client searches, lists, reads, compares and asks who uses it", async () => {
  await using world = await openWorld();
  const { client, call } = await world.connect(world.key);
  const { tools } = await client.listTools();
  expect(tools.map(({ name, annotations }) => [name, annotations?.readOnlyHint])).toEqual(
    ['search', 'list', 'list_parts', 'read_operation', 'read_schema', 'examples', 'compare', 'who_uses'].map((name) => [
      name,
      true,
    ]),
  );
  expect(await call('list')).toMatchObject({
    items: [{ document: '@acme/apis/pay', version: '2.0.0' }, { document: '@open/schemas/money' }],
    total: 2,
  });
  const document = '@acme/apis/pay';
  expect(await call('search', { query: 'payments' })).toMatchObject({ found: [{ document }] });
  expect(await call('list_parts', { document })).toMatchObject({
    items: [{ operation: 'POST /payments' }, { schema: 'Payment' }],
  });
  expect(await call('read_operation', { document, operation: 'pay' })).toMatchObject({
    document: '@acme/apis/pay@2.0.0',
    operation: {
      requestBody: { content: { 'application/json': { schema: { properties: { amount: { type: 'string' } } } } } },
    },
  });
  expect(await call('read_schema', { document: '@acme/apis/pay@1.0.0', schema: 'Payment' })).toMatchObject({
    schema: { properties: { amount: { type: 'integer' } } },
  });
  expect(await call('examples', { document, operation: 'pay' })).toMatchObject({
    request: expect.stringContaining('curl'),
  });
  expect(await call('compare', { document, from: '1.0.0' })).toMatchObject({ from: '1.0.0', verdict: 'breaking' });
  expect(await call('who_uses', { document })).toEqual({ document, users: [] });
  expect(await call('read_operation', { document, operation: 'GET /none' })).toContain('has no operation');
  expect(await call('nothing')).toContain('No tool has this name');
  expect(await call('list', { org: '../x' })).toContain('must be the name of an organization');
});

test('the pages of a list have each item once', async () => {
  await using world = await openWorld();
  const names = Array.from({ length: 250 }, (_, at) => `S${at}`);
  const schemas = Object.fromEntries(names.map((name) => [name, { type: 'object' }]));
  await publishVersion(world.registry, '@open/apis/large', '1.0.0', { document: { components: { schemas } } });
  const { call } = await world.connect(null);
  const read: string[] = [];
  for (let after: string | undefined = ''; after !== undefined;) {
    const page: unknown = await call('list_parts', { document: '@open/apis/large', after });
    const { items, total, after: next } = page as { items: { schema: string }[]; total: number; after?: string };
    expect(total).toBe(names.length);
    read.push(...items.map(({ schema }) => schema));
    after = next;
  }
  expect(read).toEqual(names);
});

test('a page after an item that is gone is refused: it would begin again without end', async () => {
  await using world = await openWorld();
  const { call } = await world.connect(world.key);
  const document = '@acme/apis/pay';
  for (const [name, given] of [
    ['list', {}],
    ['list_parts', { document }],
  ] as const)
    expect(await call(name, { ...given, after: '@acme/apis/gone' })).toContain('Begin again without it.');
  expect(await call('list', { after: document })).toMatchObject({ items: [{ document: '@open/schemas/money' }] });
});

test.each([
  { state: 'deprecated', reason: 'Old.', replacement: '@acme/apis/pay@2.0.0', since: '2026-05-01T00:00:00.000Z' },
  { state: 'yanked', reason: 'Wrong.', since: '2026-05-01T00:00:00.000Z' },
] as const)('every answer about a version that is $state says so', async (status) => {
  await using world = await openWorld();
  const { client, call } = await world.connect(world.key);
  await setStatus(world.registry, '@acme/apis/pay', '1.0.0', status);
  const given = { document: '@acme/apis/pay@1.0.0', operation: 'pay', schema: 'Payment' };
  const about = { document: '@acme/apis/pay@1.0.0', status };
  const ofVersions = (await client.listTools()).tools.filter(({ inputSchema: { required = [] } }) =>
    required.includes('document'),
  );
  for (const { name, inputSchema } of ofVersions.filter((tool) => tool.name !== 'who_uses')) {
    const known = Object.entries(given).filter(([argument]) => Object.hasOwn(inputSchema.properties!, argument));
    expect(await call(name, Object.fromEntries(known)), name).toMatchObject(about);
    const sound = await call(name, { ...Object.fromEntries(known), document: '@acme/apis/pay@2.0.0' });
    expect(sound, name).not.toHaveProperty('status');
  }
});

test.each([null, 'key'])('what may not be read is as what is not there: %s', async (credential) => {
  await using world = await openWorld();
  const { call } = await world.connect(credential && world.key);
  const both = async (name: string, given: Record<string, string>) => {
    const [hidden, absent] = [
      await call(name, { ...given, document: '@hidden/apis/pay' }),
      await call(name, { ...given, document: '@absent/apis/pay' }),
    ];
    expect(hidden).toContain('Nothing exists here');
    expect(hidden).toEqual(absent);
  };
  for (const name of ['list_parts', 'read_schema', 'compare', 'who_uses']) await both(name, {});
  for (const name of ['read_operation', 'examples']) await both(name, { operation: 'pay' });
  const seen = JSON.stringify([
    await call('list'),
    await call('search', { query: 'payments' }),
    await call('list', { org: 'hidden' }),
  ]);
  expect(seen).not.toContain('@hidden');
  expect(seen.includes('@acme')).toBe(credential !== null);
});

test('text of documents is data: what the server says of itself is the same without it', async () => {
  await using world = await openWorld();
  const { client, call } = await world.connect(world.key);
  const said = JSON.stringify([client.getInstructions(), await client.listTools()]);
  expect(said).not.toContain('IGNORE');
  // In the answer, it is one string of JSON.
  expect(await call('read_operation', { document: '@acme/apis/pay', operation: 'pay' })).toMatchObject({
    operation: { summary: order },
  });
});

test('a revoked or wrong key, another method and a long or broken question are refused', async () => {
  await using world = await openWorld();
  const post = async (body: string, headers: Record<string, string> = {}) => {
    const all = { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers };
    return (await fetch(world.url, { method: 'POST', body, headers: all })).status;
  };
  const question = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
  expect(await post(question)).toBe(200);
  expect(await post(question, { authorization: 'Bearer stele_wrong' })).toBe(401);
  expect(await post(`"${'x'.repeat(70_000)}"`)).toBe(413);
  expect(await post('{')).toBe(400);
  expect(await post('[1]')).toBe(400);
  expect(await post(question, { 'content-type': 'text/plain' })).toBe(415);
  expect((await fetch(world.url)).status).toBe(405);
  expect((await fetch(world.url, { method: 'DELETE' })).status).toBe(405);
});

test('what a page of another site asks is refused, also where its name was bound to this machine', async () => {
  await using world = await openWorld();
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
  const statusOf = async (host: string, origin?: string) => {
    const fields = [`Host: ${host}`, 'Connection: close', 'Content-Type: application/json', 'Accept: application/json, text/event-stream', `Content-Length: ${body.length}`];
    if (origin !== undefined) fields.push(`Origin: ${origin}`);
    return parseAnswer(await exchange(Number(world.url.port), `POST /mcp HTTP/1.1\r\n${fields.join('\r\n')}\r\n\r\n${body}`)).status;
  };
  const port = world.url.port;
  expect(await statusOf('registry.test')).toBe(200);
  expect(await statusOf('registry.test', 'http://registry.test')).toBe(200);
  expect(await statusOf(`localhost:${port}`)).toBe(200);
  for (const origin of ['https://evil.example', 'null', `http://localhost:1`])
    expect([origin, await statusOf('registry.test', origin)]).toEqual([origin, 403]);
  expect(await statusOf(`evil.example:${port}`)).toBe(403);
  expect(await statusOf(`evil.example:${port}`, `http://evil.example:${port}`)).toBe(403);
}); // prettier-ignore
