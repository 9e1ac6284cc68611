import { expect, test } from 'vitest';
import { shuffleEvents } from './shuffle.ts';

test(`whatever order hooks come in, and to whichever process: the tips are published, each commit once`, async () => {
  const count = 60;
  const { behind, twice, wrong, events } = await shuffleEvents({ repositories: 4, events: count });
  expect({ behind, twice, wrong }).toEqual({ behind: [], twice: [], wrong: [] });
  expect(events).toBe(count);
});
