import { expect, test } from 'vitest';
import { isThorough } from '../thorough.ts';
import { shuffleEvents } from './shuffle.ts';

test('whatever order hooks come in, and to whichever process: the tips are published, each commit once', async () => {
  const count = isThorough ? 60 : 24;
  const { behind, twice, wrong, events } = await shuffleEvents({ repositories: isThorough ? 4 : 2, events: count });
  expect({ behind, twice, wrong }).toEqual({ behind: [], twice: [], wrong: [] });
  expect(events).toBe(count);
});
