import { expect, test } from 'vitest';
import { createAnswerCache, type AnswerCache } from '../../src/registry/answer-cache.ts';
import { createNotes, type Reads } from '../../src/store/log/reads.ts';

/** Records that changed last when the test says; `isKnown`: whether that is known without waiting. */
function createTips() {
  const tips = { now: 1, isKnown: true };
  const { noting, note, noteAll } = createNotes();
  const areSameNow = (reads: Reads) => [...reads.values()].every((at) => at === tips.now);
  const areSame = (reads: Reads) => (reads.size === 0 || tips.isKnown ? areSameNow(reads) : null);
  const refs = { noting, noteAll, areSame, areStillSame: async (reads: Reads) => areSameNow(reads) };
  return { tips, refs, read: () => note('resources/acme/apis/pay', tips.now) };
}

const one = () => 1;

test('an answer is valid until a record that was read for it changes', async () => {
  const { tips, refs, read } = createTips();
  const kept = createAnswerCache(refs);
  let made = 0;
  const ask = () => kept.answer('list', () => (read(), ++made), one);
  expect([await ask(), await ask(), kept.find('list')]).toEqual([1, 1, 1]);
  tips.now = 2;
  expect(kept.find('list')).toBeUndefined();
  expect([await ask(), await ask(), kept.find('list')]).toEqual([2, 2, 2]);
});

test('an answer is not given at once while others may have appended, but after they were asked', async () => {
  const { tips, refs, read } = createTips();
  const kept = createAnswerCache(refs);
  await kept.answer('list', () => (read(), 'old'), one);
  tips.isKnown = false;
  expect(kept.find('list')).toBeUndefined();
  expect(await kept.answer('list', () => 'new', one)).toBe('old');
});

test('what was read before an entry and again after it counts as older than the entry', async () => {
  const { tips, refs, read } = createTips();
  const kept = createAnswerCache(refs);
  const old = await kept.answer('list', () => (read(), tips.now++, read(), 'old'), one);
  expect([old, kept.find('list')]).toEqual(['old', undefined]);
});

test('who asks at once shares the work, unless what it read has changed; a rejection is not kept', async () => {
  const { tips, refs, read } = createTips();
  const kept = createAnswerCache(refs);
  const gates: PromiseWithResolvers<string>[] = [];
  const ask = () => kept.answer('page', () => (read(), gates[gates.push(Promise.withResolvers()) - 1]!.promise), one);
  const [first, second] = [ask(), ask()];
  await Promise.resolve();
  tips.now = 2;
  const third = ask();
  await new Promise((resolve) => setImmediate(resolve));
  expect(gates).toHaveLength(2);
  gates[0]!.resolve('old');
  expect([await first, await second]).toEqual(['old', 'old']);
  gates[1]!.reject(new Error('gone'));
  await expect(third).rejects.toThrow('gone');
  expect(kept.find('page')).toBeUndefined();
  const fourth = ask();
  await new Promise((resolve) => setImmediate(resolve));
  gates[2]!.resolve('new');
  expect([await fourth, kept.find('page')]).toEqual(['new', 'new']);
});

test('scopes share the memory and contents, and no answers', async () => {
  const { refs } = createTips();
  const kept = createAnswerCache(refs);
  const [mine, other, view] = [kept.scope(), kept.scope(), kept.contentsOnly()];
  mine.keep('page', 'links of one', new Map(), 1);
  expect([mine.find('page'), other.find('page'), kept.find('page'), view.find('page')]).toEqual([
    'links of one',
    undefined,
    undefined,
    undefined,
  ]);
  await mine.content('sha256:a', async () => 'bytes', one);
  const remade = (each: AnswerCache) => each.content('sha256:a', async () => 'made again', one);
  expect(await Promise.all([other, kept, view].map(remade))).toEqual(['bytes', 'bytes', 'bytes']);
  expect(await view.answer('page', () => 'made', one)).toBe('made');
  expect(await view.answer('page', () => 'made again', one)).toBe('made again');
});

test('an answer that is made of another one rests on what that rests on, also where it was kept or is shared', async () => {
  const { tips, refs, read } = createTips();
  const kept = createAnswerCache(refs);
  const inner = () => kept.answer('inner', async () => (read(), 'inner'), one);
  const outer = (name: string) => kept.answer(name, async () => `${name} of ${await inner()}`, one);
  expect(await Promise.all([outer('first'), outer('second')])).toEqual(['first of inner', 'second of inner']);
  expect(await outer('third')).toBe('third of inner');
  tips.now = 2;
  expect(['first', 'second', 'third'].map((name) => kept.find(name))).toEqual([undefined, undefined, undefined]);
});

test('what depends on its key alone takes no reads along, and adds none', async () => {
  const { tips, refs, read } = createTips();
  const kept = createAnswerCache(refs);
  await kept.answer('page', () => kept.content('sha256:a', async () => (read(), 'bytes'), one), one);
  tips.now = 2;
  expect([kept.find('page'), await kept.content('sha256:a', async () => 'made again', one)]).toEqual([
    'bytes',
    'bytes',
  ]);
});

test('above the limit of bytes, what was used least recently goes, and what is larger than all is not kept', () => {
  const { refs } = createTips();
  const kept = createAnswerCache(refs, { limit: 10_000 });
  for (const name of ['a', 'b', 'c']) kept.keep(name, name, new Map(), 2800);
  expect(kept.find('a')).toBe('a');
  kept.keep('d', 'd', new Map(), 2800);
  expect(['a', 'b', 'c', 'd'].map((name) => kept.find(name))).toEqual(['a', undefined, 'c', 'd']);
  kept.keep('large', 'large', new Map(), 20_000);
  expect(kept.find('large')).toBeUndefined();
  const { bytes, limit } = kept.use();
  expect(bytes).toBeLessThanOrEqual(limit);
  expect(bytes).toBeGreaterThan(3 * 2800);
});

test('the answer of a key is forgotten', () => {
  const kept = createAnswerCache(createTips().refs);
  kept.keep('page', 'incomplete', new Map(), 1);
  kept.forget('page');
  expect(kept.find('page')).toBeUndefined();
});
