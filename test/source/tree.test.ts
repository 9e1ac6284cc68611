import { describe, expect, test } from 'vitest';
import { findPaths, listEntries } from '../../src/source/lookup.ts';
import { parseTree, type TreeEntry } from '../../src/source/git-format.ts';

const id = 'ab'.repeat(20);

function encodeTree(...entries: (readonly [string, string | Buffer])[]): Buffer {
  return Buffer.concat(
    entries.flatMap(([mode, name]) => [
      Buffer.from(`${mode} `),
      Buffer.from(name),
      Buffer.from([0]),
      Buffer.from(id, 'hex'),
    ]),
  );
}

describe('a tree object', () => {
  test('gives kinds by mode, in the order of paths', () => {
    const tree = encodeTree(
      ['120000', 'z'],
      ['40000', 'a'],
      ['100644', 'a.b'],
      ['100755', 'a-b'],
      ['160000', 'm'],
      ['100664', 'y'],
    );
    expect(parseTree(tree).map(({ name, kind }) => `${name} ${kind}`)).toEqual([
      'a-b file',
      'a.b file',
      'a folder',
      'm submodule',
      'y file',
      'z symlink',
    ]);
    expect(parseTree(tree)[0]?.id).toBe(id);
  });

  test('keeps names with backslashes, quotes, newlines and colons', () => {
    const names = ['a\\b', 'a"b', 'a\nb', 'C:', 'CON', ' ', '.git ', '__proto__', 'ü'];
    expect(
      parseTree(encodeTree(...names.map((name) => ['100644', name] as const)))
        .map(({ name }) => name)
        .sort(),
    ).toEqual(names.sort());
  });

  test('leaves out names that no path can hold, and all but the first of equal ones', () => {
    const tree = encodeTree(
      ['100644', ''],
      ['40000', '.'],
      ['40000', '..'],
      ['100644', 'a/b'],
      ['100644', 'x'],
      ['120000', 'x'],
      ['100644', Buffer.from([0xff, 0xfe])],
    );
    expect(parseTree(tree)).toEqual([{ name: 'x', kind: 'file', id }]);
  });

  test.each([
    ['the id', encodeTree(['100644', 'a']).subarray(0, -1)],
    ['the name', Buffer.from('100644 a')],
    ['the mode', Buffer.from('100644')],
  ])('that is cut off in %s is an error', (_, bytes) => {
    expect(() => parseTree(bytes)).toThrow('cut off');
  });

  test('of nothing is empty', () => {
    expect(parseTree(Buffer.alloc(0))).toEqual([]);
  });
});

describe('a tree that holds itself many times over', () => {
  // Ten names in each of any number of levels, all the same tree: 10^n paths from a few bytes.
  const list = async (): Promise<TreeEntry[]> =>
    Array.from({ length: 10 }, (_, n) => ({ name: `f${n}`, kind: 'folder' as const, id }));

  test('is refused when the limit is reached, not when memory ends', async () => {
    await expect(listEntries(id, list, 10_000)).rejects.toMatchObject({ code: 'too_large' });
  });

  test('is looked up in no more steps than the path has', async () => {
    const path = `${'f1/'.repeat(500)}f1`;
    expect(await findPaths(id, [path], list)).toMatchObject([{ found: false, problem: { rule: 'file-missing' } }]);
  });
});
