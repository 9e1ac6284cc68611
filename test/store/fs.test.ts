import { execFileSync } from 'node:child_process';
import * as nodeFiles from 'node:fs/promises';
import { mkdir, readdir, rename, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { listAll } from '../../src/store/bucket.ts';
import { openFsBucket } from '../../src/store/fs.ts';
import type { Files } from '../../src/store/files.ts';
import { bucketContract, bytesOf } from '../contract/bucket.ts';
import { localBuckets } from './buckets.ts';
import { openFolderHere } from './processes.ts';
import { watchFiles } from './watched-files.ts';

const folderBucket = localBuckets.find(({ name }) => name === 'a folder')!;
bucketContract(folderBucket.name, () => folderBucket.open());

describe('a folder', () => {
  const here = openFolderHere();

  test('of another user is refused to root, and nothing is written', async () => {
    await mkdir(here.folder);
    const { uid } = await nodeFiles.stat(here.folder);
    const isRoot = vi.spyOn(process, 'geteuid').mockReturnValue(0);
    // Only root can give a folder away; whoever else runs the tests owns it already.
    if (uid === 0) await nodeFiles.chown(here.folder, 1001, 1001);
    await expect(openFsBucket(here.folder)).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(/belongs to another user \(\d+\).*sudo -u '#\d+'\.$/) as string,
    });
    expect(await readdir(here.folder)).toEqual([]);
    if (uid === 0) {
      // A store that root made on a volume of somebody else's.
      await mkdir(join(here.folder, '.tmp'));
      await openFsBucket(here.folder);
    }
    isRoot.mockRestore();
  });

  test('ignores temporary files of killed processes', async () => {
    const bucket = await openFsBucket(here.folder);
    await writeFile(join(here.folder, '.tmp', 'left-behind'), 'part of something');
    await mkdir(join(here.folder, 'a', 'empty'), { recursive: true });
    await writeFile(join(here.folder, 'a', '.DS_Store'), 'not ours');
    expect(await bucket.list('')).toEqual([]);
    expect(await bucket.putIfAbsent('a/b', bytesOf('x'))).toBe('created');
    expect(await Array.fromAsync(listAll(bucket, ''))).toEqual(['a/b']);
    expect(await (await openFsBucket(here.folder)).list('')).toEqual(['a/b']);
  });

  test('deletes temporary files of killed processes at the start, but not those still being written', async () => {
    const files = watchFiles(here.folder);
    await (await openFsBucket(here.folder, { files })).putIfAbsent('a', bytesOf('x'));
    const own = files.calls.find(({ name }) => name === 'write')!.path.slice('.tmp/'.length);
    const other = await here.start();
    const leave = (name: string) => writeFile(join(here.folder, '.tmp', name), 'x');
    const [running, ended] = [other.child.pid!, 999_999_999].map((pid) => own.replace(`.${process.pid}.`, `.${pid}.`));
    // That process may run on another machine, or in another container.
    const elsewhere = ended!.replace(/^[0-9a-f]{12}/, '0'.repeat(12));
    for (const name of [own, running!, ended!, elsewhere, 'old', 'of-somebody']) await leave(name);
    const hoursAgo = new Date(Date.now() - 2 * 3_600_000);
    await utimes(join(here.folder, '.tmp', 'old'), hoursAgo, hoursAgo);
    await openFsBucket(here.folder);
    expect((await readdir(join(here.folder, '.tmp'))).sort()).toEqual([running, elsewhere, 'of-somebody'].sort());
    await other.close();
    await openFsBucket(here.folder);
    expect((await readdir(join(here.folder, '.tmp'))).sort()).toEqual([elsewhere, 'of-somebody'].sort());
  });

  test('is opened a second time in one process while something is written to it', async () => {
    const files: Files = {
      ...nodeFiles,
      async link(from, to) {
        await openFsBucket(here.folder);
        return nodeFiles.link(from, to);
      },
    };
    expect(await (await openFsBucket(here.folder, { files })).putIfAbsent('a', bytesOf('x'))).toBe('created');
  });

  test.each([
    ['/proc/x', 'a folder cannot be created there'],
    ['/proc/x/y', 'a folder cannot be created there'],
    ['/dev/null', 'a file is in its place'],
    ['/dev/null/x', 'a file is in its place'],
  ])('cannot be at %s, and opening it fails at once', async (path, why) => {
    await expect(openFsBucket(path)).rejects.toMatchObject({
      code: 'unavailable',
      message: `${path} cannot be the data folder: ${why}.`,
    });
  });

  test('reports an error, and not absence, if the folder itself is missing', async () => {
    const bucket = await openFsBucket(here.folder);
    await bucket.putIfAbsent('a/b', bytesOf('x'));
    await rename(here.folder, `${here.folder}-elsewhere`);
    await mkdir(here.folder);
    await expect(bucket.get('a/b')).rejects.toMatchObject({ code: 'unavailable' });
    await expect(bucket.list('')).rejects.toMatchObject({ code: 'unavailable' });
    await expect(bucket.putIfAbsent('a/c', bytesOf('x'))).rejects.toMatchObject({ code: 'unavailable' });
    await expect(bucket.check()).rejects.toMatchObject({ code: 'unavailable' });
  });

  test('reports an error, and not absence, if a file cannot be read', async () => {
    const bucket = await openFsBucket(here.folder);
    await symlink('loop', join(here.folder, 'loop'));
    await expect(bucket.get('loop')).rejects.toMatchObject({ code: 'ELOOP' });
  });

  test('takes what is no file for nothing, and waits for no writer of a FIFO', async () => {
    const bucket = await openFsBucket(here.folder);
    execFileSync('mkfifo', [join(here.folder, 'fifo')]);
    await symlink('/dev/zero', join(here.folder, 'zero'));
    for (const key of ['fifo', 'zero']) {
      expect(await bucket.get(key)).toBeNull();
      expect(await bucket.getPart(key, 0, 10)).toBeNull();
    }
    expect(await bucket.list('')).toEqual([]);
  });

  test('leaves no temporary file, whether a write wins or loses', async () => {
    const bucket = await openFsBucket(here.folder);
    await bucket.putIfAbsent('a', bytesOf('x'));
    await bucket.putIfAbsent('a', bytesOf('y'));
    await expect(bucket.putIfAbsent('a/b', bytesOf('z'))).rejects.toMatchObject({ code: 'unavailable' });
    expect(await readdir(join(here.folder, '.tmp'))).toEqual([]);
  });

  test('finds no key below another key, and none that is a folder', async () => {
    const bucket = await openFsBucket(here.folder);
    await bucket.putIfAbsent('a/b', bytesOf('x'));
    expect(await bucket.get('a/b/c')).toBeNull();
    expect(await bucket.get('a')).toBeNull();
    await bucket.delete('a/b/c');
    await bucket.delete('a');
    expect(await bucket.list('')).toEqual(['a/b']);
  });
});
