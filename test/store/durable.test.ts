import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { publish, type PublishResult } from '../../src/registry/publish.ts';
import { openFsBucket } from '../../src/store/fs.ts';
import { bytesOf } from '../contract/bucket.ts';
import { createWorld, snapshotOf } from '../registry/world.ts';
import { openFolder } from './buckets.ts';
import { watchFiles, type FileCall, type WatchedFiles } from './watched-files.ts';

let folder: string;
let files: WatchedFiles;
let close: () => Promise<void>;
beforeEach(async () => {
  ({ folder, close } = await openFolder());
  files = watchFiles(folder);
});
afterEach(() => close());

const openBucket = () => openFsBucket(join(folder, 'data'), { files });

/** Publishes through the verb, on the folder. */
async function publishOne(version: string): Promise<PublishResult> {
  const { registry } = createWorld(undefined, await openBucket());
  return publish(registry, {
    coordinate: { org: 'acme', type: 'apis', slug: 'pay' },
    snapshot: snapshotOf(null, null, { 'api.yaml': `openapi: 3.1.0\ninfo: {title: Pay, version: "${version}"}\n` }),
    entry: 'api.yaml',
    version: null,
    onConflict: 'reject',
    latest: true,
    dryRun: false,
    create: {},
    author: { actor: 'operator:test', origin: null },
  });
}

const isFsync = ({ name }: FileCall) => name === 'fsync';
const tell = ({ name, path }: FileCall) => `${name} ${path.replace(/\.tmp\/.*/, '.tmp/…')}`;

describe('a power cut takes nothing that was acknowledged', () => {
  test('of the first publish, in a folder that is made for it, and of the next', async () => {
    for (const version of ['1.0.0', '1.1.0']) {
      expect((await publishOne(version)).outcome).toBe('published');
      expect(files.lostByPowerCut()).toEqual([]);
    }
  });

  test('the file calls of one write: its bytes are fsynced before they are named, and each folder after it gained a name', async () => {
    const bucket = await openBucket();
    expect(files.calls.filter(isFsync).map(tell)).toEqual(['fsync ', 'fsync data']);
    files.calls.length = 0;
    await bucket.putIfAbsent('a/b/c', bytesOf('x'));
    expect(files.calls.map(tell)).toEqual([
      'open data/.tmp/…',
      'write data/.tmp/…',
      'fsync data/.tmp/…',
      'close data/.tmp/…',
      'mkdir data/a',
      'open data',
      'fsync data',
      'close data',
      'mkdir data/a/b',
      'open data/a',
      'fsync data/a',
      'close data/a',
      'link data/a/b/c',
      'open data/a/b',
      'fsync data/a/b',
      'close data/a/b',
      'unlink data/.tmp/…',
    ]);
  });

  test('a publish fsyncs each file before it is named, and the folder after', async () => {
    await publishOne('1.0.0');
    files.calls.length = 0;
    await publishOne('1.1.0');
    const links = files.calls.filter(({ name }) => name === 'link');
    expect(links.length).toBeGreaterThanOrEqual(6);
    expect(files.calls.filter((call) => isFsync(call) && call.path.startsWith('data/.tmp/'))).toHaveLength(
      links.length,
    );
    for (const { path, number } of links) {
      const after = files.calls.filter(
        (call) => isFsync(call) && call.number > number && path === `${call.path}/${path.split('/').at(-1)}`,
      );
      expect(after, `folder of ${path}`).not.toEqual([]);
    }
  });

  test('nor brings back what was deleted', async () => {
    const bucket = await openBucket();
    await bucket.putIfAbsent('a/b', bytesOf('x'));
    await bucket.delete('a/b');
    expect(files.lostByPowerCut()).toEqual([]);
  });

  test('the model sees each fsync that is left out', async () => {
    const bucket = await openBucket();
    for (const [index, left] of ['data/.tmp/…', 'data', 'data/a0', 'data/a0/b'].entries()) {
      files.plan = (call) => (tell(call).replace(/a\d/, 'a0') === `fsync ${left}` ? { kind: 'skipped' } : null);
      await bucket.putIfAbsent(`a${index}/b/c`, bytesOf('x'));
      expect(files.lostByPowerCut(), left).toContain(`data/a${index}/b/c`);
    }
  });
});

describe('an fsync that failed', () => {
  const fsyncFails = (call: FileCall) => (isFsync(call) ? ({ kind: 'fails' } as const) : null);

  test('is never followed by an acknowledgement, whichever of a publish it is, and doing it again is safe', async () => {
    await publishOne('1.0.0');
    let tried = 0;
    for (let hasFailed = true; hasFailed; tried++) {
      let left = tried;
      hasFailed = false;
      files.plan = (call) => (isFsync(call) && left-- === 0 ? ((hasFailed = true), { kind: 'fails' }) : null);
      const version = `1.${tried + 1}.0`;
      const answer = await publishOne(version).catch((error: unknown) => error);
      if (hasFailed) expect(answer, `fsync ${tried}`).toMatchObject({ code: 'outcome_unknown' });
      files.plan = () => null;
      if (hasFailed) expect(['published', 'unchanged']).toContain((await publishOne(version)).outcome);
    }
    expect(tried).toBeGreaterThan(10);
  });

  test('is not believed when it succeeds the next time: nothing is written until the store has proved itself', async () => {
    const bucket = await openBucket();
    files.plan = (call) => (tell(call) === 'fsync data/a' ? { kind: 'done but fails' } : null);
    await expect(bucket.putIfAbsent('a/b', bytesOf('x'))).rejects.toMatchObject({ code: 'outcome_unknown' });
    // Only the folder that is in doubt goes on failing.
    await expect(bucket.check()).rejects.toMatchObject({ code: 'unavailable' });
    await expect(bucket.putIfAbsent('c/d', bytesOf('x'))).rejects.toMatchObject({ code: 'unavailable' });
    expect(await bucket.get('c/d')).toBeNull();
    expect(await bucket.get('a/b')).not.toBeNull();
    files.plan = () => null;
    // A fsync alone says yes now, and the name that it dropped is still lost.
    expect(files.lostByPowerCut()).toContain('data/a/b');
    await bucket.check();
    expect(files.lostByPowerCut()).toEqual([]);
    expect(await bucket.putIfAbsent('c/d', bytesOf('x'))).toBe('created');
  });

  test('proves itself to the next writer too, who need not ask', async () => {
    const bucket = await openBucket();
    files.plan = fsyncFails;
    await expect(bucket.putIfAbsent('a/b', bytesOf('x'))).rejects.toMatchObject({ code: 'outcome_unknown' });
    files.plan = () => null;
    expect(await bucket.putIfAbsent('a/b', bytesOf('x'))).toBe('created');
    expect(files.lostByPowerCut()).toEqual([]);
  });

  test('makes the writes beside it doubtful', async () => {
    const bucket = await openBucket();
    await bucket.putIfAbsent('a/first', bytesOf('x'));
    let failed = false;
    files.plan = (call) => (tell(call) === 'fsync data/a' && !failed ? ((failed = true), { kind: 'fails' }) : null);
    const answers = await Promise.allSettled(['a/b', 'a/c', 'a/d'].map((key) => bucket.putIfAbsent(key, bytesOf('x'))));
    expect(answers.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  });

  test('of the probe is told by the check, and so is a store that is full', async () => {
    const bucket = await openBucket();
    await bucket.check();
    files.plan = fsyncFails;
    await expect(bucket.check()).rejects.toMatchObject({ code: 'unavailable' });
    files.plan = ({ name }) => (name === 'write' ? { kind: 'fails', code: 'ENOSPC' } : null);
    await expect(bucket.check()).rejects.toMatchObject({
      message: 'The store has no space left.',
    });
  });
});

describe('a write whose call failed', () => {
  test('though it was done: it is ours, and durable', async () => {
    const bucket = await openBucket();
    files.plan = ({ name }) => (name === 'link' ? { kind: 'done but fails' } : null);
    expect(await bucket.putIfAbsent('a/b', bytesOf('x'))).toBe('created');
    files.plan = ({ name }) => (name === 'link' ? { kind: 'done but fails', code: 'EEXIST' } : null);
    expect(await bucket.putIfAbsent('a/c', bytesOf('x'))).toBe('created');
    expect(files.lostByPowerCut()).toEqual([]);
  });

  test.each(['open', 'write', 'close', 'mkdir', 'link'] as const)(
    'at %s has written nothing, and says so',
    async (name) => {
      const bucket = await openBucket();
      files.plan = (call) => (call.name === name ? { kind: 'fails' } : null);
      await expect(bucket.putIfAbsent('a/b', bytesOf('x'))).rejects.toMatchObject({
        code: 'unavailable',
        message: 'The store is not writable: its disk reports an error; nothing was written.',
      });
      files.plan = () => null;
      expect(await bucket.get('a/b')).toBeNull();
      expect(await bucket.putIfAbsent('a/b', bytesOf('y'))).toBe('created');
    },
  );
});
