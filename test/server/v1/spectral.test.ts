import { expect, test } from 'vitest';
import { shareCompiler } from '../../compile/shared-compiler.ts';
import { createTestRegistry } from '../registry.ts';
import { openApi, unlimited, type Api } from './api.ts';

/** Spectral rulesets at the gate, over HTTP and in the sandbox. */
const compiler = shareCompiler();
const open = () => openApi({ ...createTestRegistry(unlimited), compiler });

async function publishRuleset(api: Api, slug: string, document: string) {
  await api.call('POST', '/v1/rulesets', { body: { name: slug, slug } });
  return api.call('POST', `/v1/rulesets/${slug}/document`, { body: { document } });
}

const pay = (info: string) => `openapi: 3.1.0\ninfo: { title: Pay, version: 1.0.0${info} }\npaths: {}\n`;
const publish = (api: Api, info: string) => api.call('POST', '/v1/apis/pay/spec', { body: { document: pay(info) } });
const attach = (api: Api) =>
  api.call('POST', '/v1/apis', {
    body: { name: 'Pay', slug: 'pay', visibility: 'public', ruleset: '@acme/rulesets/style' },
  });

const base = `
documentationUrl: https://acme.example/rules
rules: {has-contact: {given: $.info, severity: warn, then: {field: contact, function: truthy}}}`;

test('a document is published, or refused with the findings of a Spectral ruleset and its bases', async () => {
  await using api = await open();
  const first = await publishRuleset(api, 'base', base);
  expect(first.status).toBe(201);
  const style = 'extends: ["@acme/rulesets/base"]\nrules: {has-contact: error}\nx-stele-partial: false\n';
  expect((await publishRuleset(api, 'style', style)).status).toBe(201);
  expect((await attach(api)).status).toBe(201);
  const refused = await publish(api, '');
  expect(refused.status).toBe(422);
  expect(refused.json['problems']).toEqual([
    {
      rule: 'has-contact',
      ofRuleset: true,
      severity: 'error',
      message: '"contact" property must be truthy',
      file: expect.any(String) as string,
      pointer: '/info',
      line: 2,
      column: 1,
      documentationUrl: 'https://acme.example/rules#has-contact',
    },
  ]);
  expect((await publish(api, ', contact: { name: a }')).status).toBe(201);
  const about = (view: string) =>
    fetch(`${api.url}/@acme/apis/pay@1.0.0/${view}`, { headers: { authorization: `Bearer ${api.admin}` } });
  const report: unknown = await (await about('report')).json();
  expect(report).toMatchObject({ gate: { extended: { '@acme/rulesets/base': first.json['digest'] } } });
  // Names of rulesets that not everybody may read are in no document that everybody may.
  expect(await (await about('provenance')).text()).not.toContain('@acme/rulesets');
});

test('a ruleset that extends itself or nothing is refused when it is published', async () => {
  await using api = await open();
  const missing = await publishRuleset(api, 'style', 'extends: ["@acme/rulesets/base@1"]\n');
  expect(missing.status).toBe(422);
  expect(missing.json['problems']).toMatchObject([
    { rule: 'ruleset-extends', pointer: '/extends', message: expect.stringContaining('does not exist') as string },
  ]);
  await publishRuleset(api, 'base', base);
  expect((await publishRuleset(api, 'style', 'extends: ["@acme/rulesets/base"]\n')).status).toBe(201);
  const circle = await publishRuleset(api, 'base', 'extends: ["@acme/rulesets/style"]\n');
  expect(circle.status).toBe(422);
  expect(circle.json['problems']).toMatchObject([
    {
      message: expect.stringContaining(
        'extends itself: @acme/rulesets/base → @acme/rulesets/style → @acme/rulesets/base',
      ) as string,
    },
  ]);
});
