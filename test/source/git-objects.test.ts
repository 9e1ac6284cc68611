import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createGitObjects } from '../../src/source/git-objects.ts';
import { createFixtureRepository } from '../servers/fixture-repository.ts';

test('an object that was read is not read again, and those of other repositories are', async () => {
  const root = mkdtempSync(join(tmpdir(), 'stele-objects-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const repository = createFixtureRepository(join(root, 'a.git'));
  const commit = repository.commit({ files: { 'a.txt': 'one', 'b.txt': 'two' } });
  const [a, b] = ['a.txt', 'b.txt'].map((path) => repository.git('rev-parse', `${commit}:${path}`)) as [string, string];
  const options = (folder: string) => ({
    folder,
    searchPath: process.env['PATH']!,
    signal: new AbortController().signal,
  });
  const { read } = createGitObjects();
  expect([...(await read([a], options(repository.folder)))]).toEqual([[a, Buffer.from('one')]]);
  expect((await read([b, a], options(repository.folder))).get(b)?.toString()).toBe('two');

  const other = createFixtureRepository(join(root, 'b.git'));
  other.commit({ files: { 'c.txt': 'three' } });
  await expect(read([a], options(other.folder))).rejects.toThrow('lost object');

  rmSync(repository.folder, { recursive: true });
  const remembered = await read([b, a], options(repository.folder));
  expect([...remembered.keys()]).toEqual([b, a]);
  for (const bytes of remembered.values()) expect(bytes.buffer.byteLength).toBe(bytes.byteLength);
});
