import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import * as nodeFiles from 'node:fs/promises';
import { mkdir, readdir, rename, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { listAll } from '../../src/store/bucket.ts';
import { openFsBucket } from '../../src/store/fs.ts';
import type { Files } from '../../src/store/folder/files.ts';
import { createRefs } from '../../src/store/refs.ts';
import { bucketContract, bytesOf } from '../contract/bucket.ts';
import { createIds } from '../contract/refs.ts';
import { localBuckets, openFolder } from './buckets.ts';
import { openProcess, type OtherProcess } from './processes.ts';
import { watchFiles } from './watched-files.ts';
import { isThorough, unlessThorough } from '../thorough.ts';

const folderBucket = localBuckets.find(({ name }) => name === 'a folder')!;
bucketContract(folderBucket.name, () => folderBucket.open());

describe('a folder', () => {
  let folder: string;
  const ends: (() => Promise<void>)[] = [];
  beforeEach(async () => {
    const opened = await openFolder();
    folder = join(opened.folder, 'data');
    ends.push(opened.close);
  });
  afterEach(async () => {
    while (ends.length > 0) await ends.pop()!();
  });

  async function start(options?: { limitBytes: number }): Promise<OtherProcess> {
    const other = await openProcess(folder, options);
    ends.push(() => other.close());
    return other;
  }

  test('of another user is refused to root, and nothing is written', async () => {
    await mkdir(folder);
    const { uid } = await nodeFiles.stat(folder);
    const isRoot = vi.spyOn(process, 'geteuid').mockReturnValue(0);
    // Only root can give a folder away; whoever else runs the tests owns it already.
    if (uid === 0) await nodeFiles.chown(folder, 1001, 1001);
    await expect(openFsBucket(folder)).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(/belongs to another user \(\d+\).*sudo -u '#\d+'\.$/) as string,
    });
    expect(await readdir(folder)).toEqual([]);
    if (uid === 0) {
      // A store that root made on a volume of somebody else's.
      await mkdir(join(folder, '.tmp'));
      await openFsBucket(folder);
    }
    isRoot.mockRestore();
  });

  test('can be opened by many processes: each sees what the others wrote', async () => {
    const [one, two] = [await openFsBucket(folder), await openFsBucket(folder)];
    expect(await one.putIfAbsent('a/b', bytesOf('one'))).toBe('created');
    expect(await two.putIfAbsent('a/b', bytesOf('two'))).toBe('exists');
    expect(Buffer.from((await two.get('a/b'))!).toString()).toBe('one');
    await two.delete('a/b');
    expect(await one.get('a/b')).toBeNull();
    expect(await one.list('')).toEqual([]);
  });

  test.skipIf(!isThorough)(`lets exactly one of two processes win each of 200 races${unlessThorough}`, async () => {
    const processes = await Promise.all([start(), start()]);
    const bucket = await openFsBucket(folder);
    const wins = [0, 0];
    for (let race = 0; race < 200; race++) {
      const key = `races/${race}`;
      const answers = await Promise.all(
        processes.map((other, index) => other.tell({ do: 'put', key, text: `process ${index}` })),
      );
      expect([...answers].sort()).toEqual(['created', 'exists']);
      const winner = answers.indexOf('created');
      wins[winner]!++;
      expect(Buffer.from((await bucket.get(key))!).toString()).toBe(`process ${winner}`);
    }
    expect(wins[0]! + wins[1]!).toBe(200);
  });

  test('loses nothing when two processes append to one ref', async () => {
    const processes = await Promise.all([start(), start()]);
    await Promise.all(processes.map((other) => other.tell({ do: 'increment', name: 'things/one', times: 50 })));
    const refs = createRefs(await openFsBucket(folder), {
      now: () => new Date(),
      monotonic: () => performance.now(),
      uniqueId: createIds('reader'),
    });
    const history = await Array.fromAsync(refs.history<number>('things/one'));
    expect(history.map(({ value }) => value)).toEqual(Array.from({ length: 100 }, (_, index) => 100 - index));
    for (const { child } of processes) {
      expect(history.filter(({ actor }) => actor === String(child.pid))).toHaveLength(50);
    }
  });

  test('has complete files only after a process was killed while writing, and all acknowledged ones', async () => {
    const size = 2 * 1024 * 1024;
    for (let kill = 1; kill <= (isThorough ? 6 : 2); kill++) {
      const other = await start();
      const acknowledged: string[] = [];
      const enough = Promise.withResolvers<void>();
      other.child.on('message', ({ written }: { written: string }) => {
        if (acknowledged.push(written) >= kill) enough.resolve();
      });
      other.child.send({ do: 'flood', bytes: size });
      await enough.promise;
      const exited = once(other.child, 'exit');
      other.child.kill('SIGKILL');
      expect((await exited)[1]).toBe('SIGKILL');
      const bucket = await openFsBucket(folder);
      const keys = await Array.fromAsync(listAll(bucket, `flood/${other.child.pid}-`));
      expect(keys).toEqual(expect.arrayContaining(acknowledged));
      for (const key of keys) {
        const bytes = (await bucket.get(key))!;
        expect(bytes.byteLength).toBe(size);
        expect(new Set(bytes)).toEqual(new Set([Number(key.split('-')[1]) % 256]));
      }
    }
  });

  test('ignores temporary files of killed processes', async () => {
    const bucket = await openFsBucket(folder);
    await writeFile(join(folder, '.tmp', 'left-behind'), 'part of something');
    await mkdir(join(folder, 'a', 'empty'), { recursive: true });
    await writeFile(join(folder, 'a', '.DS_Store'), 'not ours');
    expect(await bucket.list('')).toEqual([]);
    expect(await bucket.putIfAbsent('a/b', bytesOf('x'))).toBe('created');
    expect(await Array.fromAsync(listAll(bucket, ''))).toEqual(['a/b']);
    expect(await (await openFsBucket(folder)).list('')).toEqual(['a/b']);
  });

  test('deletes temporary files of killed processes at the start, but not those still being written', async () => {
    const files = watchFiles(folder);
    await (await openFsBucket(folder, { files })).putIfAbsent('a', bytesOf('x'));
    const own = files.calls.find(({ name }) => name === 'write')!.path.slice('.tmp/'.length);
    const other = await start();
    const leave = (name: string) => writeFile(join(folder, '.tmp', name), 'x');
    const [running, ended] = [other.child.pid!, 999_999_999].map((pid) => own.replace(`.${process.pid}.`, `.${pid}.`));
    // That process may run on another machine, or in another container.
    const elsewhere = ended!.replace(/^[0-9a-f]{12}/, '0'.repeat(12));
    for (const name of [own, running!, ended!, elsewhere, 'old', 'of-somebody']) await leave(name);
    const hoursAgo = new Date(Date.now() - 2 * 3_600_000);
    await utimes(join(folder, '.tmp', 'old'), hoursAgo, hoursAgo);
    await openFsBucket(folder);
    expect((await readdir(join(folder, '.tmp'))).sort()).toEqual([running, elsewhere, 'of-somebody'].sort());
    await other.close();
    await openFsBucket(folder);
    expect((await readdir(join(folder, '.tmp'))).sort()).toEqual([elsewhere, 'of-somebody'].sort());
  });

  test('is opened a second time in one process while something is written to it', async () => {
    const files: Files = {
      ...nodeFiles,
      async link(from, to) {
        await openFsBucket(folder);
        return nodeFiles.link(from, to);
      },
    };
    expect(await (await openFsBucket(folder, { files })).putIfAbsent('a', bytesOf('x'))).toBe('created');
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
    const bucket = await openFsBucket(folder);
    await bucket.putIfAbsent('a/b', bytesOf('x'));
    await rename(folder, `${folder}-elsewhere`);
    await mkdir(folder);
    await expect(bucket.get('a/b')).rejects.toMatchObject({ code: 'unavailable' });
    await expect(bucket.list('')).rejects.toMatchObject({ code: 'unavailable' });
    await expect(bucket.putIfAbsent('a/c', bytesOf('x'))).rejects.toMatchObject({ code: 'unavailable' });
    await expect(bucket.check()).rejects.toMatchObject({ code: 'unavailable' });
  });

  test('reports an error, and not absence, if a file cannot be read', async () => {
    const bucket = await openFsBucket(folder);
    await symlink('loop', join(folder, 'loop'));
    await expect(bucket.get('loop')).rejects.toMatchObject({ code: 'ELOOP' });
  });

  test('takes what is no file for nothing, and waits for no writer of a FIFO', async () => {
    const bucket = await openFsBucket(folder);
    execFileSync('mkfifo', [join(folder, 'fifo')]);
    await symlink('/dev/zero', join(folder, 'zero'));
    for (const key of ['fifo', 'zero']) {
      expect(await bucket.get(key)).toBeNull();
      expect(await bucket.getPart(key, 0, 10)).toBeNull();
    }
    expect(await bucket.list('')).toEqual([]);
  });

  test('leaves no temporary file, whether a write wins or loses', async () => {
    const bucket = await openFsBucket(folder);
    await bucket.putIfAbsent('a', bytesOf('x'));
    await bucket.putIfAbsent('a', bytesOf('y'));
    await expect(bucket.putIfAbsent('a/b', bytesOf('z'))).rejects.toMatchObject({ code: 'unavailable' });
    expect(await readdir(join(folder, '.tmp'))).toEqual([]);
  });

  test('finds no key below another key, and none that is a folder', async () => {
    const bucket = await openFsBucket(folder);
    await bucket.putIfAbsent('a/b', bytesOf('x'));
    expect(await bucket.get('a/b/c')).toBeNull();
    expect(await bucket.get('a')).toBeNull();
    await bucket.delete('a/b/c');
    await bucket.delete('a');
    expect(await bucket.list('')).toEqual(['a/b']);
  });

  test.each(['disk', 'file size limit'])('a write beyond the %s throws and leaves nothing', async (wall) => {
    const room = 256 * 1024;
    const mounted = wall === 'disk' && mountSmall(folder, room);
    const other = await start(mounted ? undefined : { limitBytes: room });
    expect(await other.tell({ do: 'fill', key: 'small/before', bytes: 1000 })).toBe('created');
    expect(await other.tell({ do: 'fill', key: 'large/one', bytes: 4 * room })).toBe('unavailable');
    expect(await other.tell({ do: 'fill', key: 'small/after', bytes: 1000 })).toBe('created');
    const bucket = await openFsBucket(folder);
    expect(await bucket.list('')).toEqual(['small/after', 'small/before']);
    expect(await bucket.get('large/one')).toBeNull();
    expect(await readdir(join(folder, '.tmp'))).toEqual([]);
  });

  /** Mounts a file system of so many bytes on the folder. False where this machine does not allow it: then a limit on files must do. */
  function mountSmall(path: string, bytes: number): boolean {
    try {
      execFileSync('mkdir', ['-p', path]);
      execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${bytes}`, 'tmpfs', path], { stdio: 'ignore' });
    } catch {
      return false;
    }
    ends.push(async () => void execFileSync('umount', ['--lazy', path]));
    return true;
  }
});
