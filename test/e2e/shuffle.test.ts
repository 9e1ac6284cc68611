import { expect, test } from 'vitest';
import { shuffleEvents } from './shuffle.ts';

test('whatever order hooks come in, and to whichever process: the tips are published, each commit once', async () => {
  const { behind, twice, wrong, events } = await shuffleEvents({ repositories: 4, events: 60 });
  expect({ behind, twice, wrong }).toEqual({ behind: [], twice: [], wrong: [] });
  expect(events).toBe(60);
});
