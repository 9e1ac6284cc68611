import { expect, test } from 'vitest';
import { createKey } from '../../src/registry/keys/keys.ts';
import { expireRecords } from '../../src/registry/maintenance/gc.ts';
import { createWorld } from './world.ts';

const day = 24 * 60 * 60_000;
const change = { actor: 'operator:test', origin: null, action: 'note' };

test('records that expire are deleted after their days, and lasting ones stay', async () => {
  const world = createWorld();
  const { registry } = world;
  const write = (name: string) => registry.refs.update(name, () => ({ value: {}, change }));
  const { key } = await createKey(registry, { org: 'acme', name: 'k', scopes: ['read'] }, change);
  const names = ['runs/acme/old', 'checks/acme/old', 'idempotency/acme/old', 'repositories/acme/old'];
  for (const name of names) await write(name);
  world.pass(13 * day);
  await write('runs/acme/new');
  const left = async () => {
    const all = await Promise.all([...names, 'runs/acme/new'].map((name) => registry.refs.readFresh(name)));
    return all.map((each) => each !== null);
  };
  await expireRecords(registry);
  expect(await left()).toEqual([true, true, false, true, true]);
  world.pass(80 * day);
  await expireRecords(registry);
  expect(await left()).toEqual([false, false, false, true, true]);
  expect((await registry.refs.readFresh(`keys/${key.id}`))?.value).toMatchObject({ org: 'acme' });
});
