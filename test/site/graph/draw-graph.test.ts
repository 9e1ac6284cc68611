import { expect, test } from 'vitest';
import type { Use } from '../../../src/registry/graph/dependants.ts';
import { drawGraph } from '../../../src/site/pages/uses-pages.ts';
import { createLinks } from '../../../src/site/links.ts';
import { createWorld } from '../../registry/world.ts';

/** Uses of resources by others, as pairs of slugs: what is used, and by whom. */
function usesOf(pairs: readonly (readonly [string, string])[]): Use[] {
  const resource = (slug: string) => ({ org: 'acme', type: 'schemas', slug });
  return pairs.map(([used, user]) => ({
    used: resource(used),
    user: { resource: resource(user), behind: 0 },
  })) as unknown as Use[];
}

/** Whether every line is within the drawing. */
async function isWhole(pairs: readonly (readonly [string, string])[]): Promise<boolean> {
  const { answers } = createWorld().registry;
  const { svg } = await drawGraph(answers, createLinks('https://x.example'), usesOf(pairs), () => false);
  const [, top, , height] = /viewBox="(\S+) (\S+) (\S+) (\S+)"/.exec(svg)!.slice(1).map(Number) as number[];
  const heights = [...svg.matchAll(/ d="([^"]+)"/g)].flatMap(([, path]) =>
    [...path!.matchAll(/-?[\d.]+ (-?[\d.]+)/g)].map(([, y]) => Number(y)),
  );
  return Math.min(...heights) > top! && Math.max(...heights) < top! + height!;
}

test('no line leaves the drawing at its bottom', async () => {
  const names = { order: ['line', 'customer', 'money'], invoice: ['order', 'money'], line: ['money'] };
  const pairs = Object.entries(names).flatMap(([user, all]) => all.map((used) => [used, user] as const));
  const orders = [pairs, pairs.toReversed(), pairs.toSorted(), pairs.toSorted().toReversed()];
  for (const order of orders) expect(await isWhole(order)).toBe(true);
});

test('no line leaves the drawing, also where it passes columns', async () => {
  // Chains of many lengths, each of whose ends uses the first: the lines pass all the columns between.
  for (let count = 2; count < 9; count++) {
    const chain = Array.from({ length: count }, (_, at) => [`n${at}`, `n${at + 1}`] as const);
    const far = Array.from({ length: count - 1 }, (_, at) => [`n${at % 2}`, `n${at + 2}`] as const);
    expect(await isWhole([...chain, ...far])).toBe(true);
  }
});
