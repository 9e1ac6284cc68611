import { expect, test } from 'vitest';
import type { Snapshot } from '../../src/source/snapshot.ts';

/** What a tree of the contract holds: text, bytes, or a link to another path. */
export type ContractFiles = Record<string, string | Uint8Array | { symlink: string }>;

/** The limits that the snapshots of the contract are opened with. */
export const contractLimits = { fileBytes: 100_000, entries: 50 };

/**
 * What every snapshot of many files promises (src/source/snapshot.ts). `open` makes one of exactly these files, read under
 * `contractLimits`.
 */
export function testSnapshot(open: (files: ContractFiles) => Promise<Snapshot>): void {
  const names = [
    'z.yaml',
    'a/b.yaml',
    'a-b.yaml',
    'a.yaml',
    'ä/ü ö.yaml',
    'new\nline.yaml',
    '"quoted".yaml',
    '-rf.yaml',
  ];
  const tree = Object.fromEntries(names.map((name) => [name, `name: ${JSON.stringify(name)}\n`]));

  test('lists every file in order of path', async () => {
    const entries = await (await open(tree)).entries();
    const inOrder = [...names].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    expect(entries.map(({ path }) => path)).toEqual(inOrder);
    expect(entries.every(({ kind, id }) => kind === 'file' && /^[0-9a-f]{40}$/.test(id))).toBe(true);
  });

  test('gives a file the id that git gives its content', async () => {
    const [entry] = await (await open({ 'hello.txt': 'hello\n' })).entries();
    expect(entry).toEqual({ path: 'hello.txt', kind: 'file', id: 'ce013625030ba8dba906f756967f9e9ca394464a' });
  });

  test('reads the files in the order asked for, each as often as asked', async () => {
    const paths = [...names.toReversed(), 'z.yaml'];
    const files = await (await open(tree)).read(paths);
    expect(files.map(({ path }) => path)).toEqual(paths);
    for (const file of files) {
      expect(file.found && Buffer.from(file.bytes).toString()).toBe(`name: ${JSON.stringify(file.path)}\n`);
    }
  });

  test('reads no files', async () => {
    expect(await (await open(tree)).read([])).toEqual([]);
  });

  test('keeps bytes as they are', async () => {
    const bytes = Uint8Array.from({ length: 512 }, (_, index) => index % 256);
    const [file] = await (await open({ 'all.bin': bytes, empty: '' })).read(['all.bin']);
    expect(file?.found && Buffer.compare(file.bytes, bytes)).toBe(0);
    const [empty] = await (await open({ 'all.bin': bytes, empty: '' })).read(['empty']);
    expect(empty?.found && empty.bytes.length).toBe(0);
  });

  const twisted = [
    '/z.yaml',
    '',
    '.',
    '..',
    '../z.yaml',
    'a/../z.yaml',
    './z.yaml',
    'a//b.yaml',
    'a/',
    'z.yaml\0',
    '/etc/passwd',
  ];
  test('refuses paths that are not plain', async () => {
    const files = await (await open(tree)).read(twisted);
    expect(files.map((file) => [file.path, !file.found && file.problem.rule])).toEqual(
      twisted.map((path) => [path, 'path-outside-tree']),
    );
  });

  const absent = [
    'a',
    'b.yaml',
    'a/b',
    'a/b.yaml/c',
    'z.yaml/x',
    '.git/config',
    'z.yaml ',
    'a\\b.yaml',
    'x'.repeat(300),
  ];
  test('finds no file where there is none', async () => {
    const files = await (await open(tree)).read(absent);
    expect(files.map((file) => [file.path, !file.found && file.problem.rule])).toEqual(
      absent.map((path) => [path, 'file-missing']),
    );
  });

  test('compares paths byte for byte, and says what was probably meant', async () => {
    const snapshot = await open(tree);
    const paths = ['Z.yaml', 'A/B.yaml', 'z.yml', 'a\u0308/u\u0308 o\u0308.yaml'];
    const files = await snapshot.read(paths);
    expect(files.map((file) => !file.found && [file.problem.rule, file.problem.file, file.problem.message])).toEqual([
      ['file-missing', 'Z.yaml', 'There is no such file. Did you mean "z.yaml"?'],
      ['file-missing', 'A/B.yaml', 'There is no such file. Did you mean "a/b.yaml"?'],
      ['file-missing', 'z.yml', 'There is no such file. Did you mean "z.yaml"?'],
      ['file-missing', 'a\u0308/u\u0308 o\u0308.yaml', 'There is no such file. Did you mean "ä/ü ö.yaml"?'],
    ]);
  });

  test('follows no symbolic link, neither to a file nor through a folder nor out of the tree', async () => {
    const links = { file: 'real/a.yaml', folder: 'real', out: '/etc', up: '../../../etc/passwd' };
    const snapshot = await open({
      'real/a.yaml': 'a: 1\n',
      ...Object.fromEntries(Object.entries(links).map(([name, symlink]) => [name, { symlink }])),
    });
    const kinds = (await snapshot.entries()).map(({ path, kind }) => `${path} ${kind}`);
    expect(kinds).toEqual(['file symlink', 'folder symlink', 'out symlink', 'real/a.yaml file', 'up symlink']);
    for (const path of ['file', 'folder', 'folder/a.yaml', 'out/passwd', 'up']) {
      expect(await ruleOf(snapshot, path)).toBe('symlink');
    }
    const [file] = await snapshot.read(['folder/a.yaml']);
    expect(file?.found === false && file.problem.message).toContain('"folder"');
  });

  test('refuses a Git LFS pointer by name, and not a file that only mentions it', async () => {
    const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${'a'.repeat(64)}\nsize 123456\n`;
    const snapshot = await open({ 'big.yaml': pointer, 'about.md': `# LFS\n${pointer}` });
    const [big, about] = await snapshot.read(['big.yaml', 'about.md']);
    expect(big?.found === false && big.problem.rule).toBe('lfs-pointer');
    expect(big?.found === false && big.problem.message).toContain('123456 bytes');
    expect(about?.found).toBe(true);
  });

  test('refuses a file over the limit, and reads one at the limit', async () => {
    const over = Buffer.alloc(contractLimits.fileBytes + 1, 'a');
    const snapshot = await open({ over, at: over.subarray(1) });
    const files = await snapshot.read(['over', 'at']);
    expect(files.map((file) => (file.found ? file.bytes.length : file.problem.rule))).toEqual([
      'file-too-large',
      100_000,
    ]);
  });

  test('refuses to list a tree of more entries than the limit, and still reads from it', async () => {
    const many = Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`f${index}.yaml`, `${index}\n`]));
    const snapshot = await open(many);
    await expect(snapshot.entries()).rejects.toMatchObject({ code: 'too_large' });
    const [file] = await snapshot.read(['f7.yaml']);
    expect(file?.found).toBe(true);
  });

  test('lists a tree of exactly as many entries as the limit', async () => {
    const many = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`f${index}.yaml`, `${index}\n`]));
    expect(await (await open(many)).entries()).toHaveLength(50);
  });
}

/** The rule by which a path is refused, or `found`. */
export async function ruleOf(snapshot: Snapshot, path: string): Promise<string> {
  const [file] = await snapshot.read([path]);
  if (file === undefined) return 'nothing';
  return file.found ? 'found' : file.problem.rule;
}
