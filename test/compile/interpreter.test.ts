import { expect, test } from 'vitest';
import { loadInterpreter } from '../../src/compile/interpreter/interpreter.ts';

// The usual bounds take seconds on a busy machine. What is counted is the same with small ones.
const interpreter = await loadInterpreter((text) => text, { call: 10, walk: 10, inAll: 25 });
const program = (source: string) => interpreter.open({ 'f.js': `${source}\nexport default () => [];` }, 0);
const steps = { failure: { kind: 'steps', message: '', frames: [] } };

test.each([
  ['a loop', 'for (;;);'],
  ['a caught loop', 'for (;;) try { for (;;); } catch {}'],
  ['a pattern that backtracks', '/^(a+)+$/.test(`${"a".repeat(40)}!`);'],
  ['exceptions', 'for (;;) try { null.x; } catch {}'],
])('%s without end takes too many steps', async (_, source) => {
  expect((await program(source)).takeFunction('f.js')).toEqual(steps);
});

test.each([
  ['then', '(function again() { Promise.resolve().then(again); })();'],
  ['await', '(async () => { for (;;) await null; })();'],
])('so do promises without end, of which each job counts: %s', async (_, source) => {
  const { takeFunction, finish } = await program(source);
  expect(takeFunction('f.js')).toEqual({ value: null });
  expect(finish()).toEqual(steps);
});
