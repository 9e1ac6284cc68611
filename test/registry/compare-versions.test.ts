import { expect, test } from 'vitest';
import { notCompared } from '../../src/model/comparison.ts';
import { anonymous } from '../../src/model/access.ts';
import { comparisonOf } from '../../src/registry/changes/compare-versions.ts';
import { grantRead, grantVersion } from '../../src/registry/read.ts';
import { createTestRegistry, publishVersion } from '../server/registry.ts';

test('a comparison over the limits is tried again after a minute, however many ask', async () => {
  const plain = createTestRegistry();
  let now = 0;
  let tries = 0;
  const compare = async () => {
    tries++;
    return notCompared('Too large.');
  };
  const registry = { ...plain, monotonic: () => now, compiler: { ...plain.compiler, compare } };
  await publishVersion(registry, '@acme/apis/pay', '1.0.0');
  await publishVersion(registry, '@acme/apis/pay', '2.0.0');
  await publishVersion(registry, '@acme/apis/pay', '3.0.0');
  const granted = (await grantRead(registry, anonymous, { org: 'acme', type: 'apis', slug: 'pay' }))!;
  const version = (label: string) => grantVersion(granted, { kind: 'version', version: label })!.granted;
  tries = 0;
  const ask = () => comparisonOf(registry, version('1.0.0'), version('3.0.0'));
  for (let times = 0; times < 3; times++) expect((await ask()).reason).toContain('within the limits');
  expect(tries).toBe(1);
  now += 61_000;
  await ask();
  expect(tries).toBe(2);
});
