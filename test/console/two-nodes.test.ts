import { expect, test } from 'vitest';
import { changeResource } from '../../src/registry/change-resource.ts';
import { publishVersion } from '../server/registry.ts';
import { createNodes } from '../server/nodes.ts';
import { openConsole } from './harness.ts';

test('a page shows what the form before did at another node', async () => {
  const [first, second] = createNodes();
  await using server = await openConsole(second);
  const { get } = await server.signIn();
  await publishVersion(first, '@acme/apis/pay', '1.0.0');
  expect((await get('/console/acme/apis/pay')).status).toBe(200);
  const author = { actor: 'operator:test', origin: null };
  await changeResource(first, { org: 'acme', type: 'apis', slug: 'pay' }, { name: 'Renamed' }, author);
  expect((await get('/console/acme/apis/pay')).text).toContain('Renamed');
});
