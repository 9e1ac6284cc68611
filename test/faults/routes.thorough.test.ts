import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openWorld, type World } from '../server/v1/matrix.ts';
import { createFaultyPorts, unheardDuring } from './faulty-ports.ts';

/** Every operation of the management API, while each call of each port rejects in turn: there is an answer, and no rejection that nobody hears. */
const ports = createFaultyPorts();
const operations = readFileSync(new URL('../server/v1/matrix.tsv', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n')
  .slice(1)
  .map((line) => line.split('\t').slice(0, 2) as [operation: string, slug: string]);

let world: World;
beforeAll(async () => {
  world = await openWorld(ports);
});
afterAll(() => world[Symbol.asyncDispose]());

/** Each of them once, on the resource that it does most with, which is the first. */
const once = operations.filter(([name], at) => operations.findIndex(([other]) => other === name) === at);
/** Calls of one operation reject as a port may, those of the next as none does: every other call, the odd or the even ones. */
const step = 2;
const kindsFor = (operation: string) => [operations.findIndex(([name]) => name === operation) % 2 === 1];

describe.each(once)('%s %s', (operation, slug) => {
  test.each(kindsFor(operation))('bug: %s', async (isBug) => {
    for (let call = isBug ? step : 1; ; call += step) {
      const begin = () => ports.failAt(call, isBug);
      const unheard = await unheardDuring(async () => {
        // What the description does not allow, such as 500, is an answer all the same.
        const answered = await world.observe(operation, slug, 'admin', begin).catch((error: Error) => error);
        if (answered instanceof TypeError) throw answered;
      });
      expect([call, unheard]).toEqual([call, []]);
      if (!ports.hasFailed()) break;
    }
    ports.failAt(null, false);
  });
});
