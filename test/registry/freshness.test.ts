import { expect, test } from 'vitest';
import { anonymous } from '../../src/model/access.ts';
import { changeResource } from '../../src/registry/change-resource.ts';
import type { Reads } from '../../src/store/log/reads.ts';
import { grantRead } from '../../src/registry/read.ts';
import { publishVersion } from '../server/registry.ts';
import { createWorld } from './world.ts';

const pay = { org: 'acme', type: 'apis', slug: 'pay' } as const;
const hour = 3_600_000;

test('with the wall clock stepped back by an hour, what another process made private is not served', async () => {
  const world = createWorld();
  const { registry } = world;
  const other = world.another();
  await publishVersion(other, '@acme/apis/pay', '1.0.0', { visibility: 'public' });
  const { answers } = registry;
  const reads: Reads = new Map();
  expect(await answers.noting(reads, () => grantRead(registry, anonymous, pay))).not.toBeNull();
  answers.keep('page', 'public', reads, 6);
  expect(answers.find('page')).toBe('public');
  await changeResource(other, pay, { visibility: 'private' }, { actor: 'operator:test', origin: null });
  world.step(-hour);
  world.pass(1000);
  expect(answers.find('page')).toBeUndefined();
  expect(await grantRead(registry, anonymous, pay)).toBeNull();
  expect(answers.find('page')).toBeUndefined();
});
