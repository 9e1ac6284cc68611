import { expect, test } from 'vitest';
import { createNodes } from '../nodes.ts';
import { documentOf, openApi } from './api.ts';

async function openNodes() {
  const [first, second] = createNodes();
  const [one, two] = [await openApi(first), await openApi(second)];
  // Each reads the log of the organization for the first time.
  for (const node of [one, two]) await node.call('GET', '/v1/apis');
  const close = async () => void (await Promise.all([one, two].map((node) => node[Symbol.asyncDispose]())));
  return { one, two, [Symbol.asyncDispose]: close };
}

test('a site is published with the pages that another node was just sent', async () => {
  await using nodes = await openNodes();
  const { one, two } = nodes;
  const page = (markdown: string) => ({ body: { title: 'Home', markdown } });
  expect((await one.call('POST', '/v1/sites', { body: { slug: 'guide', title: 'Guide' } })).status).toBe(201);
  expect((await two.call('PUT', '/v1/sites/guide/pages/index', page('# One'))).status).toBe(200);
  const first = await one.call('POST', '/v1/sites/guide/publish', { body: {} });
  expect(first.json).toMatchObject({ outcome: 'published' });
  await two.call('PUT', '/v1/sites/guide/pages/index', page('# Two'));
  const second = await one.call('POST', '/v1/sites/guide/publish', { body: {} });
  expect(second.json).toMatchObject({ outcome: 'published', rendered: 1 });
  const again = await two.call('POST', '/v1/sites/guide/publish', { body: {} });
  expect(again.json).toMatchObject({ outcome: 'unchanged' });
});

test('a change finds what another node just made, changed or deleted', async () => {
  await using nodes = await openNodes();
  const { one, two } = nodes;
  await one.call('POST', '/v1/apis', { body: { name: 'Pay', slug: 'pay' } });
  const publish = () => two.call('POST', '/v1/apis/pay/spec', { body: { document: documentOf('1.0.0') } });
  expect((await publish()).status).toBe(201);
  const deprecate = { status: { state: 'yanked', reason: 'Wrong.' } };
  expect((await one.call('PATCH', '/v1/apis/pay/versions/1.0.0', { body: deprecate })).status).toBe(200);
  await one.call('DELETE', '/v1/apis/pay');
  expect((await two.call('PATCH', '/v1/apis/pay', { body: { name: 'Paid' } })).status).toBe(404);
  expect((await two.call('POST', '/v1/apis/pay/undelete')).status).toBe(200);
  expect((await one.call('PATCH', '/v1/apis/pay', { body: { name: 'Paid' } })).status).toBe(200);
});

test('a key that another node just made is accepted, with its own secret alone', async () => {
  await using nodes = await openNodes();
  const { one, two } = nodes;
  const made = await one.call('POST', '/v1/keys', { body: { name: 'job', scopes: ['publish'] } });
  const key = String(made.json['secret']);
  expect((await two.call('GET', '/v1/me', { key })).status).toBe(200);
  expect((await two.call('GET', '/v1/me', { key: key.replace(/.$/, 'x') })).status).toBe(401);
});
