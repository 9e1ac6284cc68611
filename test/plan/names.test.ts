import { expect, test } from 'vitest';
import { rulesetName } from '../../src/registry/gate/ruleset-gate.ts';
import { newResource } from '../../src/registry/create-resource.ts';
import { createWorld } from '../registry/world.ts';

test('an organization may be called as a member of every object is', async () => {
  const { registry } = createWorld();
  const coordinate = { org: 'constructor', type: 'apis', slug: 'constructor' } as const;
  const resource = newResource(registry, coordinate, { name: 'constructor' });
  expect(resource.visibility).toBe('private');
  expect(await rulesetName(registry, resource)).toBeNull();
});
