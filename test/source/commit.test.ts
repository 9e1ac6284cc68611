import { describe, expect, test } from 'vitest';
import { parseCommit, personFrom } from '../../src/source/git-format.ts';
import { openWorld } from './world.ts';

const tree = 'ab'.repeat(20);
const author = 'author A <a@stele.test> 1 +0000';

function committedAt(line: string): string | null | undefined {
  return parseCommit(Buffer.from(`tree ${tree}\n${author}\n${line}\n\ncommitter X <x> 99 +0000\n`))?.committedAt;
}

describe('a commit object', () => {
  test('names its tree and its date', () => {
    const text = `tree ${tree}\nparent ${tree}\n${author}\ncommitter T <t@stele.test> 1767225660 +0130\n\ntree\n`;
    expect(parseCommit(Buffer.from(text))).toEqual({
      tree,
      committedAt: '2026-01-01T00:01:00.000Z',
      note: { author: 'A', subject: 'tree' },
      signature: null,
    });
  });

  test.each([
    [
      'Ana Müller <ana@stele.test> 1 +0000',
      'Add refunds\n\nAt last.',
      { author: 'Ana Müller', subject: 'Add refunds' },
    ],
    ['ana@stele.test <ana@stele.test> 1 +0000', 'Add refunds', null],
    [' <a@stele.test> 1 +0000', 'Add refunds', null],
    ['A <a@stele.test> 1 +0000', '', null],
    ['A <a@stele.test> 1 +0000', '\n\n  Tab\there \u202e', { author: 'A', subject: 'Tab here' }],
    ['A <a@stele.test> 1 +0000', 'x'.repeat(9000), { author: 'A', subject: `${'x'.repeat(139)}…` }],
  ])('by %s gives a name and a first line, but no address', (line, message, note) => {
    const text = `tree ${tree}\nauthor ${line}\ncommitter T <t> 1 +0000\n\n${message}`;
    expect(parseCommit(Buffer.from(text))?.note).toEqual(note);
  });

  test.each([
    ['committer T <t> 0 +0000', '1970-01-01T00:00:00.000Z'],
    ['committer A > B <t>1767225660', '2026-01-01T00:01:00.000Z'],
    ['committer T <t> 253402300799 +0000', '9999-12-31T23:59:59.000Z'],
    ['committer T <t> 253402300800 +0000', null],
    ['committer T <t> 99999999999999999999 +0000', null],
    ['committer T <t> -5 +0000', null],
    ['committer T <t>', null],
    ['committer', null],
    ['encoding committer', null],
  ])('%s', (line, at) => {
    expect(committedAt(line)).toBe(at);
  });

  test('without a tree is none', () => {
    expect(parseCommit(Buffer.from(`${author}\n\ntree ${tree}\n`))).toBeNull();
    expect(parseCommit(Buffer.alloc(0))).toBeNull();
  });
});

test('a snapshot knows when its commit was committed', async () => {
  await using world = await openWorld();
  const commit = world.createRepository().commit({ files: { 'a.yaml': '' }, date: 1_767_225_660 });
  const snapshot = await world.openSource().snapshot(world.remote(), commit);
  expect(snapshot.committedAt).toBe('2026-01-01T00:01:00.000Z');
});

test('a person whose name or address has characters that nobody sees is not the one without them', () => {
  expect(personFrom('An\u200bn', 'ann\u202e@example.com')).toEqual({ name: 'An n', email: 'ann @example.com' });
});
