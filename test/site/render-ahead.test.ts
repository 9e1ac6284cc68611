import { expect, test } from 'vitest';
import { parseCoordinate } from '../../src/model/address.ts';
import type { Turn } from '../../src/compile/compile.ts';
import { resourceRef, type Resource } from '../../src/model/resource.ts';
import { publish } from '../../src/registry/publish.ts';
import { openRenderAhead } from '../../src/site/render-ahead.ts';
import { createWorld, snapshotOf, type World } from '../registry/world.ts';

const { coordinate } = parseCoordinate('@acme/apis/pay')!;

/** As long as the documents whose pages take a while. */
const long = 'x'.repeat(300_000);

async function publishVersion({ registry }: World, version: string, title = long): Promise<void> {
  const result = await publish(registry, {
    coordinate,
    snapshot: snapshotOf(null, null, { 'a.json': JSON.stringify({ openapi: '3.1.0', info: { title, version } }) }),
    entry: 'a.json',
    version,
    onConflict: 'reject',
    latest: true,
    dryRun: false,
    create: { name: 'pay', visibility: 'private' },
    author: { actor: 'test', origin: null },
  });
  expect(result.outcome).toBe('published');
}

test('a long document is rendered before anybody asks, once, as the work of its organization', async () => {
  const world = createWorld();
  const { compiler } = world.registry;
  const turns: (Turn | undefined)[] = [];
  compiler.render = async (_document, _limits, turn) => {
    turns.push(turn);
    return { html: '', navigation: '', markdown: '', truncated: false, pages: null };
  };
  const ahead = openRenderAhead(world.registry);
  await publishVersion(world, '1.0.0');
  await ahead.settled();
  expect(turns).toEqual([{ org: 'acme', lane: 'publish' }]);
  await world.registry.refs.update<Resource>(resourceRef(coordinate), (current) => ({
    value: { ...current!.value, description: 'Changed.' },
    change: { actor: 'test', origin: null, action: 'change' },
  }));
  await ahead.settled();
  expect(turns).toHaveLength(1);
  await publishVersion(world, '1.1.0', 'A short one');
  await ahead.settled();
  expect(turns).toHaveLength(1);
  await ahead.close();
  await publishVersion(world, '1.2.0');
  await ahead.settled();
  expect(turns).toHaveLength(1);
});

test('a document that cannot be rendered stops nothing', async () => {
  const world = createWorld();
  const { compiler } = world.registry;
  let renders = 0;
  compiler.render = async () => {
    renders++;
    throw new Error('It broke.');
  };
  const ahead = openRenderAhead(world.registry);
  await publishVersion(world, '1.0.0');
  await ahead.settled();
  await publishVersion(world, '1.1.0');
  await ahead.settled();
  expect(renders).toBe(2);
  await ahead.close();
});
