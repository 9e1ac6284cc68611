import { expect, test } from 'vitest';
import { anonymous } from '../../src/model/access.ts';
import { changeResource } from '../../src/registry/change-resource.ts';
import { logsOf } from '../../src/registry/answer-cache.ts';
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
  expect(await grantRead(registry, anonymous, pay)).not.toBeNull();
  const { answers } = registry;
  answers.keep('page', 'public', await answers.moment(logsOf('acme')), 6);
  expect(answers.find('page')).toBe('public');
  await changeResource(other, pay, { visibility: 'private' }, { actor: 'operator:test', origin: null });
  world.step(-hour);
  world.pass(1000);
  expect(answers.find('page')).toBeUndefined();
  expect(await grantRead(registry, anonymous, pay)).toBeNull();
  expect(answers.find('page')).toBeUndefined();
});
