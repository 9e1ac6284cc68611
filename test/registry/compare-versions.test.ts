import { expect, test } from 'vitest';
import { notCompared, type ChangeRules } from '../../src/model/comparison.ts';
import { anonymous } from '../../src/model/access.ts';
import { comparisonOf } from '../../src/registry/compare-versions.ts';
import { sandboxLost } from '../../src/compile/compile.ts';
import { grantRead, grantVersion } from '../../src/registry/read.ts';
import type { Registry } from '../../src/registry/registry.ts';
import { createTestRegistry, publishVersion } from '../server/registry.ts';

/** Finds versions of the API by their labels, for everybody. */
async function openVersions(registry: Registry) {
  const granted = (await grantRead(registry, anonymous, { org: 'acme', type: 'apis', slug: 'pay' }))!;
  return (label: string) => grantVersion(granted, { kind: 'version', version: label })!.granted;
}

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
  const version = await openVersions(registry);
  tries = 0;
  const ask = () => comparisonOf(registry, version('1.0.0'), version('3.0.0'));
  for (let times = 0; times < 3; times++) expect((await ask()).reason).toContain('within the limits');
  expect(tries).toBe(1);
  now += 61_000;
  await ask();
  expect(tries).toBe(2);
});

test('what was compared when it was published is read; what exceeded the limits then is tried again', async () => {
  const plain = createTestRegistry();
  let isTooLarge = false;
  let tries = 0;
  const compare: Registry['compiler']['compare'] = async (...given) => {
    tries++;
    return isTooLarge ? notCompared('Too large.') : plain.compiler.compare(...given);
  };
  const registry = { ...plain, compiler: { ...plain.compiler, compare } };
  await publishVersion(registry, '@acme/apis/pay', '1.0.0');
  await publishVersion(registry, '@acme/apis/pay', '2.0.0');
  isTooLarge = true;
  await publishVersion(registry, '@acme/apis/pay', '3.0.0');
  isTooLarge = false;
  const version = await openVersions(registry);
  tries = 0;
  expect((await comparisonOf(registry, version('1.0.0'), version('2.0.0'))).reason).toBeNull();
  expect(tries).toBe(0);
  expect((await comparisonOf(registry, version('2.0.0'), version('3.0.0'))).reason).toBeNull();
  expect(tries).toBe(1);
});

test('what took too long to compare is published, stored nowhere, and compared when somebody asks', async () => {
  const plain = createTestRegistry();
  let isSlow = true;
  let tries = 0;
  const compare: Registry['compiler']['compare'] = async (...given) => {
    tries++;
    if (isSlow) throw sandboxLost('Its process was stopped after 600 seconds of CPU time.', true);
    return plain.compiler.compare(...given);
  };
  let now = 0;
  const registry = { ...plain, monotonic: () => now, compiler: { ...plain.compiler, compare } };
  await publishVersion(registry, '@acme/apis/pay', '1.0.0');
  await publishVersion(registry, '@acme/apis/pay', '2.0.0');
  const version = await openVersions(registry);
  expect(version('2.0.0').version.changes ?? null).toBeNull();
  const ask = () => comparisonOf(registry, version('1.0.0'), version('2.0.0'));
  tries = 0;
  for (let times = 0; times < 3; times++) expect((await ask()).reason).not.toBeNull();
  expect(tries).toBe(1);
  isSlow = false;
  now += 61_000;
  expect((await ask()).reason).toBeNull();
});

test('an organization decides what new values of an enum mean, also for what was compared before', async () => {
  const plain = createTestRegistry();
  for (const label of ['1.0.0', '2.0.0', '3.0.0']) await publishVersion(plain, '@acme/apis/pay', label);
  const asked: ChangeRules[] = [];
  const compiler: Registry['compiler'] = {
    ...plain.compiler,
    async compare(before, after, limits, rules) {
      asked.push(rules);
      return plain.compiler.compare(before, after, limits, rules);
    },
  };
  const changes = { enums: 'breaking' } as const;
  const organizations = { acme: { repositories: [], owners: [], defaults: {}, changes } };
  const compared = async (registry: Registry) => {
    const version = await openVersions(registry);
    await comparisonOf(registry, version('1.0.0'), version('3.0.0'));
  };
  const usual = { ...plain, compiler };
  const strict = { ...usual, config: { ...plain.config, organizations } };
  for (const registry of [usual, strict, usual, strict]) await compared(registry);
  expect(asked).toEqual([{ enums: 'risky' }, { enums: 'breaking' }]);
});
