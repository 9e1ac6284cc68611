import { expect, test } from 'vitest';
import { shareCompiler } from '../compile/shared-compiler.ts';
import { findResource } from '../../src/registry/lives.ts';
import { open, seven, url, waitFor } from './pulls-scene.ts';

/** What the check of a pull request says of those who use its documents, under each `impact`. */

const branch = 'refs/pull/7/head';
const site = 'https://r.test';
const compiler = shareCompiler();
const money = (version: string, ...required: string[]) =>
  JSON.stringify({
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Money',
    version,
    type: 'object',
    required,
    properties: { amount: { type: 'integer' } },
  });
const shop = JSON.stringify({
  openapi: '3.1.0',
  info: { title: 'Shop', version: '1.0.0' },
  paths: {
    '/orders': {
      post: {
        requestBody: { content: { 'application/json': { schema: { $ref: `${site}/@acme/schemas/money@^1` } } } },
        responses: { 200: { description: 'OK' } },
      },
    },
  },
});
const settings = (impact: string, exemptions = '') => `defaults: {visibility: public}
resources:
  - {path: money.json, impact: ${impact}${exemptions}}
  - {path: shop.json}
`;

async function proposed(impact: string, exemptions = '') {
  const { source, sync, host, hook, checked, registry } = await open({}, { url: site }, compiler);
  const base = { 'stele.yaml': settings(impact, exemptions), 'money.json': money('1.0.0'), 'shop.json': shop };
  source.push(url, base);
  await sync();
  const next = { ...base, 'money.json': money('1.1.0', 'amount') };
  const head = source.push(url, next, { branch });
  await hook({ kind: 'pull', repository: 'acme/apis', pull: seven, isOpen: true });
  await checked(head);
  const name = 'stele @acme/schemas/money';
  const told = () => host.told.filter((each) => each.commit === head && each.state !== 'running');
  await waitFor(() => expect(told().map((each) => each.name)).toContain(name));
  return { check: told().find((each) => each.name === name)!, source, sync, next, registry };
}

const broken = /@acme\/apis\/shop@1\.0\.0`?: POST \/orders: /;

test('warn: it says whom the change breaks, and passes', async () => {
  const { check } = await proposed('warn');
  expect(check).toMatchObject({ state: 'success', summary: expect.stringMatching(broken) });
  expect(check.summary).toContain('**It breaks 1 of 1 user at their next publish.**');
});

test('none: it says nothing of users', async () => {
  const { check } = await proposed('none');
  expect(check.state).toBe('success');
  expect(check.summary).not.toContain('shop');
});

test('block: it fails, and the merged commit is not published until its users are fine with it', async () => {
  const { check, source, sync, next, registry } = await proposed('block');
  expect(check).toMatchObject({ state: 'failure', title: 'Breaks 1 user' });
  expect(check.summary).toMatch(/shop@.{0,3}1\.0\.0 \(gets it at its next publish\): POST \/orders: /u);
  const latest = async () => (await findResource(registry, { org: 'acme', type: 'schemas', slug: 'money' }))!.latest;
  source.push(url, next);
  await sync();
  expect(await latest()).toBe('1.0.0');
  // The user moves away: nothing about money changed, and a sync that somebody asks for tries it again.
  source.push(url, { ...next, 'shop.json': shop.replace('@^1', '@1.0.0') });
  await sync();
  await sync();
  expect(await latest()).toBe('1.1.0');
});

test('block: an exemption accepts it, and the report keeps the reason', async () => {
  const { check } = await proposed('block', ', exemptions: [{rule: user-broken, reason: Nobody calls it.}]');
  expect(check).toMatchObject({ state: 'success' });
  expect(check.summary).toContain('1 finding exempted');
});
