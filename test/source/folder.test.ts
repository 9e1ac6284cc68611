import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { execFileSync } from 'node:child_process';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { openFolder } from '../../src/source/folder.ts';
import { contractLimits, ruleOf, testSnapshot, type ContractFiles } from '../contract/snapshot.ts';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function createFolder(files: ContractFiles): string {
  const root = mkdtempSync(join(tmpdir(), 'stele-folder-'));
  folders.push(root);
  for (const [path, content] of Object.entries(files)) {
    const at = join(root, path);
    mkdirSync(dirname(at), { recursive: true });
    if (typeof content === 'object' && 'symlink' in content) symlinkSync(content.symlink, at);
    else writeFileSync(at, content);
  }
  return root;
}

describe('a working folder', () => {
  testSnapshot(async (files) => {
    const root = createFolder(files);
    mkdirSync(join(root, '.git'));
    writeFileSync(join(root, '.git', 'config'), '');
    const [first = ''] = Object.keys(files).filter((path) => !path.includes('/'));
    return (await openFolder(join(root, first), contractLimits)).snapshot;
  });

  test('begins at the git work tree that the file is in', async () => {
    const root = createFolder({ '.git/HEAD': '', 'apis/pay/openapi.yaml': 'a: 1', 'common.yaml': 'b: 1' });
    const { snapshot, entry } = await openFolder(join(root, 'apis/pay/openapi.yaml'), contractLimits);
    expect(entry).toBe('apis/pay/openapi.yaml');
    expect(await ruleOf(snapshot, 'common.yaml')).toBe('found');
  });

  test('begins at the folder of the file where there is no work tree', async () => {
    const root = createFolder({ 'apis/openapi.yaml': 'a: 1', 'common.yaml': 'b: 1' });
    const { snapshot, entry } = await openFolder(join(root, 'apis/openapi.yaml'), contractLimits);
    expect(entry).toBe('openapi.yaml');
    expect((await snapshot.entries()).map((each) => each.path)).toEqual(['openapi.yaml']);
  });

  test('reads the file that a person names through a link', async () => {
    const root = createFolder({ 'real/openapi.yaml': 'a: 1', 'link.yaml': { symlink: 'real/openapi.yaml' } });
    const { snapshot, entry } = await openFolder(join(root, 'link.yaml'), contractLimits);
    expect(entry).toBe('openapi.yaml');
    expect(await ruleOf(snapshot, entry)).toBe('found');
  });

  test('does not go into a repository inside', async () => {
    const root = createFolder({
      '.git/HEAD': '',
      'a.yaml': '',
      'vendor/lib/.git': 'gitdir: x',
      'vendor/lib/b.yaml': '',
    });
    const { snapshot } = await openFolder(join(root, 'a.yaml'), contractLimits);
    expect(await ruleOf(snapshot, 'vendor/lib/b.yaml')).toBe('submodule');
    expect((await snapshot.entries()).map(({ path, kind }) => [path, kind])).toEqual([
      ['a.yaml', 'file'],
      ['vendor/lib', 'submodule'],
    ]);
  });

  test('does not wait for a pipe', async () => {
    const root = createFolder({ 'a.yaml': '' });
    execFileSync('mkfifo', [join(root, 'pipe.yaml')]);
    const { snapshot } = await openFolder(join(root, 'a.yaml'), contractLimits);
    expect(await ruleOf(snapshot, 'pipe.yaml')).toBe('file-missing');
    expect(await snapshot.entries()).toHaveLength(1);
  });

  test('says which file is not there', async () => {
    await expect(openFolder('/nonexistent/a.yaml', contractLimits)).rejects.toMatchObject({
      code: 'not_found',
      message: expect.stringContaining('/nonexistent/a.yaml'),
    });
  });
});

test('what vanishes while a folder is read is missing, and no fault', async () => {
  const root = createFolder({ '.git/HEAD': '', 'a.yaml': 'a: 1', 'b.yaml': 'b: 1', 'c.yaml': 'c: 1', 'sub/d.yaml': 'd: 1' });
  const { snapshot } = await openFolder(join(root, 'a.yaml'), contractLimits);
  function* paths() {
    yield 'a.yaml';
    rmSync(join(root, 'b.yaml'));
    yield 'b.yaml';
  }
  const read = await snapshot.read(paths() as never);
  expect(read.map((file) => (file.found ? 'found' : file.problem.rule))).toEqual(['found', 'file-missing']);
  // Called once the names of a folder are read.
  const compare = vi.spyOn(Buffer, 'compare').mockImplementationOnce(() => {
    rmSync(join(root, 'c.yaml'));
    rmSync(join(root, 'sub'), { recursive: true });
    return -1;
  });
  const entries = await snapshot.entries().finally(() => compare.mockRestore());
  expect(entries.map(({ path }) => path)).toEqual(['a.yaml']);
}); // prettier-ignore
