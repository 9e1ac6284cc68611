import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeStore } from '../../scripts/faults/operations.ts';
import { stopAt } from '../../scripts/faults/stop-at.ts';

/** The short form of `scripts/faults/cuts.ts`. */

let root: string;
let secret: string;
const made = () => join(root, 'made');
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'stele-stops-'));
  secret = await makeStore(made());
});
afterAll(() => rm(root, { recursive: true }));

test.each([
  ['kill', 60],
  ['luck', 110],
  ['cut', 170],
] as const)('nothing acknowledged is lost, changed or done twice: %s at file call %i', async (state, number) => {
  const stop = { made: made(), secret, folder: join(root, state), writers: 2, number, state, seed: 1 };
  expect(await stopAt(stop)).toMatchObject({ isReached: true, wrong: [] });
});
