import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { listAll } from '../../src/store/bucket.ts';
import { openFsBucket } from '../../src/store/fs.ts';
import { createRefs } from '../../src/store/refs.ts';
import { bytesOf } from '../contract/bucket.ts';
import { createIds } from '../contract/refs.ts';
import { openFolderHere } from './processes.ts';

describe('a folder', () => {
  const here = openFolderHere();

  test('can be opened by many processes: each sees what the others wrote', async () => {
    const [one, two] = [await openFsBucket(here.folder), await openFsBucket(here.folder)];
    expect(await one.putIfAbsent('a/b', bytesOf('one'))).toBe('created');
    expect(await two.putIfAbsent('a/b', bytesOf('two'))).toBe('exists');
    expect(Buffer.from((await two.get('a/b'))!).toString()).toBe('one');
    await two.delete('a/b');
    expect(await one.get('a/b')).toBeNull();
    expect(await one.list('')).toEqual([]);
  });

  test(`lets exactly one of two processes win each of 200 races`, async () => {
    const processes = await Promise.all([here.start(), here.start()]);
    const bucket = await openFsBucket(here.folder);
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
    const processes = await Promise.all([here.start(), here.start()]);
    await Promise.all(processes.map((other) => other.tell({ do: 'increment', name: 'things/one', times: 50 })));
    const refs = createRefs(await openFsBucket(here.folder), {
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
    for (let kill = 1; kill <= 6; kill++) {
      const other = await here.start();
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
      const bucket = await openFsBucket(here.folder);
      const keys = await Array.fromAsync(listAll(bucket, `flood/${other.child.pid}-`));
      expect(keys).toEqual(expect.arrayContaining(acknowledged));
      for (const key of keys) {
        const bytes = (await bucket.get(key))!;
        expect(bytes.byteLength).toBe(size);
        expect(new Set(bytes)).toEqual(new Set([Number(key.split('-')[1]) % 256]));
      }
    }
  });

  test.each(['disk', 'file size limit'])('a write beyond the %s throws and leaves nothing', async (wall) => {
    const room = 256 * 1024;
    const mounted = wall === 'disk' && mountSmall(here.folder, room);
    const other = await here.start(mounted ? undefined : { limitBytes: room });
    expect(await other.tell({ do: 'fill', key: 'small/before', bytes: 1000 })).toBe('created');
    expect(await other.tell({ do: 'fill', key: 'large/one', bytes: 4 * room })).toBe('unavailable');
    expect(await other.tell({ do: 'fill', key: 'small/after', bytes: 1000 })).toBe('created');
    const bucket = await openFsBucket(here.folder);
    expect(await bucket.list('')).toEqual(['small/after', 'small/before']);
    expect(await bucket.get('large/one')).toBeNull();
    expect(await readdir(join(here.folder, '.tmp'))).toEqual([]);
  });

  /** Mounts a file system of so many bytes on the folder. False where this machine does not allow it: then a limit on files must do. */
  function mountSmall(path: string, bytes: number): boolean {
    try {
      execFileSync('mkdir', ['-p', path]);
      execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${bytes}`, 'tmpfs', path], { stdio: 'ignore' });
    } catch {
      return false;
    }
    here.ends.push(async () => void execFileSync('umount', ['--lazy', path]));
    return true;
  }
});
