import { expect, test } from 'vitest';
import { atAnyTime, createAnswerCache, logsOf, type Logs } from '../../src/registry/answer-cache.ts';

/** Records whose tip is what the test says; null: it must be waited for. */
function createTips() {
  const tips = { now: 1, isKnown: true };
  const tip = (logs: Logs) => (logs.length === 0 ? 0 : tips.isKnown ? tips.now : null);
  return { tips, refs: { tip, follow: async () => tips.now } };
}

const one = () => 1;

test('an answer is valid until a log that it rests on has another entry', async () => {
  const { tips, refs } = createTips();
  const kept = createAnswerCache(refs);
  let made = 0;
  const ask = () => kept.answer('list', logsOf('acme'), () => ++made, one);
  expect([await ask(), await ask(), kept.find('list')]).toEqual([1, 1, 1]);
  tips.now = 2;
  expect(kept.find('list')).toBeUndefined();
  expect([await ask(), await ask(), kept.find('list')]).toEqual([2, 2, 2]);
});

test('an answer is not given at once while others may have appended, but after they were asked', async () => {
  const { tips, refs } = createTips();
  const kept = createAnswerCache(refs);
  await kept.answer('list', logsOf('acme'), () => 'old', one);
  tips.isKnown = false;
  expect(kept.find('list')).toBeUndefined();
  expect(await kept.answer('list', logsOf('acme'), () => 'new', one)).toBe('old');
});

test('what was read while an entry was appended counts as older than the entry', async () => {
  const { tips, refs } = createTips();
  const kept = createAnswerCache(refs);
  const old = await kept.answer('list', logsOf('acme'), () => (tips.now++, 'old'), one);
  expect([old, kept.find('list')]).toEqual(['old', undefined]);
});

test('who asks at once shares the work, unless the logs have moved; a rejection is not kept', async () => {
  const { tips, refs } = createTips();
  const kept = createAnswerCache(refs);
  const gates: PromiseWithResolvers<string>[] = [];
  const ask = () =>
    kept.answer('page', logsOf('acme'), () => gates[gates.push(Promise.withResolvers()) - 1]!.promise, one);
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
  mine.keep('page', 'links of one', atAnyTime, 1);
  expect([mine.find('page'), other.find('page'), kept.find('page'), view.find('page')]).toEqual([
    'links of one',
    undefined,
    undefined,
    undefined,
  ]);
  await mine.content('sha256:a', async () => 'bytes', one);
  expect([other, kept, view].map((each) => each.findContent('sha256:a'))).toEqual(['bytes', 'bytes', 'bytes']);
  expect(await view.answer('page', [], () => 'made', one)).toBe('made');
  expect(await view.answer('page', [], () => 'made again', one)).toBe('made again');
});

test('above the limit of bytes, what was used least recently goes, and what is larger than all is not kept', () => {
  const { refs } = createTips();
  const kept = createAnswerCache(refs, { limit: 10_000 });
  for (const name of ['a', 'b', 'c']) kept.keep(name, name, atAnyTime, 2800);
  expect(kept.find('a')).toBe('a');
  kept.keep('d', 'd', atAnyTime, 2800);
  expect(['a', 'b', 'c', 'd'].map((name) => kept.find(name))).toEqual(['a', undefined, 'c', 'd']);
  kept.keep('large', 'large', atAnyTime, 20_000);
  expect(kept.find('large')).toBeUndefined();
  const { bytes, limit } = kept.use();
  expect(bytes).toBeLessThanOrEqual(limit);
  expect(bytes).toBeGreaterThan(3 * 2800);
});

test('the answer of a key is forgotten', () => {
  const kept = createAnswerCache(createTips().refs);
  kept.keep('page', 'incomplete', atAnyTime, 1);
  kept.forget('page');
  expect(kept.find('page')).toBeUndefined();
});
