import { readdir, rm } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runStele } from '../e2e/stele.ts';
import { openConsumer, openLockWorld } from './lock-world.ts';

let world: Awaited<ReturnType<typeof openLockWorld>>;

beforeAll(async () => {
  world = await openLockWorld();
});

afterAll(() => world[Symbol.asyncDispose]());

const consumer = () => openConsumer(world.folder);

test('the program itself, with an empty home folder', async () => {
  const one = await consumer();
  const env = { HOME: one.cache };
  const added = await runStele(['add', '@acme/schemas/money', '--registry', world.registry], { cwd: one.path, env });
  expect(added).toMatchObject({ code: 0, stdout: 'added contracts/money.json: @acme/schemas/money@2.0.0 (^2.0.0)\n' });
  await rm(one.file('contracts'), { recursive: true });
  expect(await runStele(['install', '--frozen'], { cwd: one.path, env })).toMatchObject({ code: 1 });
  expect(await readdir(`${one.cache}/.cache/stele/contracts`)).toEqual(['sha256']);
});
