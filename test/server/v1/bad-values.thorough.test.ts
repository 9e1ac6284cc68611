import { afterAll, beforeAll, expect, test } from 'vitest';
import { badNames, badValues, nothings } from '../../bad-values.ts';
import { createTestRegistry, publishVersion } from '../registry.ts';
import { openApi, unlimited, type Api } from './api.ts';
import { description } from './described.ts';

/** Every query parameter of every operation with every bad value, empty and doubled: refused, and not taken for its absence. */

const values = new Set([...nothings, ...Object.values(badValues), ...badNames].filter((value) => value.length <= 3000));

/** Texts that may be anything but empty, and what of the values is a right one: `?force` alone has the value of `?force=`. */
const texts = ['q', 'actor', 'rule'];
const right: Readonly<Record<string, readonly string[]>> = { deleted: ['', 'true'], dryRun: ['', 'true'], force: ['', 'true'], last: ['', 'true'], wait: ['0'] }; // prettier-ignore

let api: Api;
beforeAll(async () => {
  const registry = createTestRegistry(unlimited);
  api = await openApi(registry);
  for (const type of ['apis', 'schemas', 'rulesets']) await publishVersion(registry, `@acme/${type}/pay`, '1.0.0');
  await api.call('POST', '/v1/sites', { body: { title: 'Guide', slug: 'pay' } });
});
afterAll(() => api[Symbol.asyncDispose]());

const rows = description.operations.flatMap((operation) =>
  operation.parameters.flatMap((each) => (each.in === 'query' ? [[operation.id, each.name, operation] as const] : [])),
);

test.each(rows)('%s ?%s', async (_, name, { path, method, body }) => {
  const names: Record<string, string> = { organization: 'acme', version: '1.0.0' };
  const target = path.replaceAll(/\{(\w+)\}/g, (_all, part: string) => names[part] ?? 'pay');
  const ask = async (query: string) =>
    (await api.call(method.toUpperCase(), `${target}?${query}`, body === null ? {} : { body: {} })).status;
  const wrong: string[] = [];
  for (const value of values) {
    if (right[name]?.includes(value)) continue;
    const status = await ask(`${name}=${encodeURIComponent(value)}`);
    const isTaken = texts.includes(name) && value !== '' && status === 200;
    if (!isTaken && (status < 400 || status >= 500)) wrong.push(`${JSON.stringify(value)}: ${status}`);
  }
  if ((await ask(`${name}=true&${name}=true`)) !== 400) wrong.push('twice');
  expect(wrong).toEqual([]);
});

test('nothing is gone', async () => {
  for (const type of ['apis', 'schemas', 'rulesets', 'sites'])
    expect((await api.call('GET', `/v1/${type}/pay`)).status).toBe(200);
});
