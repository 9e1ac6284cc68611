import { expect, test } from 'vitest';
import { type Run } from '../../src/model/connection.ts';
import { createPulls } from '../../src/pulls/pulls.ts';
import { createSyncQueue, type RunNews } from '../../src/sync/queue.ts';
import { follow } from '../../src/sync/follow.ts';
import { createWorld, type World } from '../registry/world.ts';

/** How far a run is, while it runs. */

const url = 'https://git.test/acme/many.git';

async function sync(world: World, count: number): Promise<{ run: Run; news: string[]; saved: unknown[] }> {
  const { registry, source } = world;
  const given = { url, branch: null, credential: null, visibility: 'private', validation: 'strict' } as const;
  const id = await follow(registry, 'acme', { ...given, discover: '' });
  const documents = Array.from({ length: count }, (_, n) => [
    `${n}.yaml`,
    `openapi: 3.1.0\ninfo: {title: T${n}, version: 1.0.0}\n`,
  ]);
  source.push(url, Object.fromEntries(documents) as Record<string, string>);
  const news: string[] = [];
  const note = ({ progress, document }: RunNews) =>
    void news.push(`${progress.done} of ${progress.total} ${document?.outcome ?? '-'}`);
  const saved: unknown[] = [];
  const { update } = registry.refs;
  registry.refs.update = async (name, decide) => {
    const made = await update(name, decide);
    if (name.startsWith('runs/')) saved.push((made!.value as Run).progress);
    return made;
  };
  const run = await (await createSyncQueue(registry, createPulls, note).request('acme', id, 'manual')).done;
  return { run, news, saved };
}

test('a run reports its total, then each document', async () => {
  const { run, news } = await sync(createWorld(), 3);
  expect(news).toEqual(['0 of 3 -', '1 of 3 published', '2 of 3 published', '3 of 3 published']);
  expect(run.progress).toEqual({ done: 3, total: 3 });
});

test('a long run saves how far it is, at most once a second', async () => {
  const world = createWorld();
  const { compile } = world.compiler;
  world.compiler.compile = async (...args) => {
    world.pass(300);
    return compile(...args);
  };
  const { saved } = await sync(world, 40);
  const figures = saved.filter((progress) => progress !== undefined);
  expect(figures.at(-1)).toEqual({ done: 40, total: 40 });
  expect(figures.length).toBeGreaterThan(2);
  expect(figures.length).toBeLessThanOrEqual(14);
});

test('a short run is saved only as before: when it is asked for, begins and ends', async () => {
  const { saved } = await sync(createWorld(), 3);
  expect(saved).toEqual([undefined, undefined, { done: 3, total: 3 }]);
});
