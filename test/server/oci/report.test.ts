import { expect, test } from 'vitest';
import { shareCompiler } from '../../compile/shared-compiler.ts';
import { createTestRegistry } from '../registry.ts';
import { openApi, unlimited } from '../v1/api.ts';

const document = `openapi: 3.1.0
info: { title: Pay, version: 1.0.0 }
paths: { /charges: { get: { responses: { '200': { description: Charges. } } } } }
`;

test('a report with findings of a private ruleset is there for nobody, since caches share it; of a public one for all', async () => {
  await using api = await openApi({ ...createTestRegistry(unlimited), compiler: shareCompiler() });
  const style = 'extends: []\nrules:\n  operation-summary: warn\n';
  await api.call('POST', '/v1/rulesets', { body: { name: 'style', slug: 'style' } });
  await api.call('POST', '/v1/rulesets/style/document', { body: { document: style } });
  const ruleset = '@acme/rulesets/style';
  await api.call('POST', '/v1/apis', { body: { name: 'Pay', slug: 'pay', visibility: 'public', ruleset } });
  expect((await api.call('POST', '/v1/apis/pay/spec', { body: { document } })).status).toBe(201);

  const basic = { authorization: `Basic ${Buffer.from(`x:${api.admin}`).toString('base64')}` };
  const get = (path: string, headers = {}) => fetch(`${api.url}/v2/acme/apis/pay/${path}`, { headers });
  const { config } = (await (await get('manifests/1.0.0')).json()) as { config: { digest: string } };
  const { report } = (await (await get(`blobs/${config.digest}`)).json()) as { report: string };
  const statuses = () =>
    Promise.all([{}, basic].map(async (headers) => (await get(`blobs/${report}`, headers)).status));
  expect(await statuses()).toEqual([404, 404]);
  await api.call('PATCH', '/v1/rulesets/style', { body: { visibility: 'public' } });
  expect(await statuses()).toEqual([200, 200]);
});
