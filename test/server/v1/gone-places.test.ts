import { expect, test } from 'vitest';
import { description } from './described.ts';
import { openWorld } from './matrix.ts';

/** Before and after everything in the order of any list. */
const gone = [' ', '~'];

/** The slug in the world of the matrix that has what the list of this path lists. */
function slugFor(path: string): string {
  const slugs = { site: 'handbook', api: 'ledger', schema: 'money', webhook: 'of-all' };
  return Object.entries(slugs).find(([name]) => path.includes(`{${name}}`))?.[1] ?? 'style';
}

test('no list begins again where the item at which the page before ended is gone', async () => {
  await using world = await openWorld();
  const lists = description.operations.filter(
    ({ method, parameters }) => method === 'get' && parameters.some(({ name }) => name === 'cursor'),
  );
  const seen: string[] = [];
  const again: string[] = [];
  for (const { id, path } of lists) {
    const credential = path.startsWith('/v1/me') ? 'personal' : 'admin';
    const first = async (query: string) => {
      const { json } = await world.observe(id, slugFor(path), credential, undefined, `?limit=1${query}`);
      return JSON.stringify((json['items'] as object[] | undefined)?.[0] ?? null);
    };
    const begin = await first('');
    if (begin === 'null') continue;
    seen.push(id);
    const cursors = gone.map((place) => Buffer.from(JSON.stringify([id, place])).toString('base64url'));
    const begun = await Promise.all(cursors.map((cursor) => first(`&cursor=${cursor}`)));
    if (begun.every((item) => item === begin)) again.push(id);
  }
  expect(again).toEqual([]);
  expect(seen.length).toBeGreaterThan(20);
});
