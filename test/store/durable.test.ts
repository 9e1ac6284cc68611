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

describe('a power cut loses nothing that was acknowledged', () => {
  test('of the first publish in a new folder, nor of the next', async () => {
    for (const version of ['1.0.0', '1.1.0']) {
      expect((await publishOne(version)).outcome).toBe('published');
      expect(files.lostByPowerCut()).toEqual([]);
    }
  });

  test('one write fsyncs its bytes before linking them, and each folder after it gained an entry', async () => {
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

  test('a publish fsyncs each file before linking it, and the folder afterwards', async () => {
    await publishOne('1.0.0');
    files.calls.length = 0;
    await publishOne('1.1.0');
    const links = files.calls.filter(({ name }) => name === 'link');
    // The comparison with the version before is an object of its own.
    expect(links.map(({ path }) => path.split('/')[1]).sort()).toEqual(['log', 'objects', 'packs']);
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

  test('and does not restore deleted files', async () => {
    const bucket = await openBucket();
    await bucket.putIfAbsent('a/b', bytesOf('x'));
    await bucket.delete('a/b');
    expect(files.lostByPowerCut()).toEqual([]);
  });

  test('the test detects each missing fsync', async () => {
    const bucket = await openBucket();
    for (const [index, left] of ['data/.tmp/…', 'data', 'data/a0', 'data/a0/b'].entries()) {
      files.plan = (call) => (tell(call).replace(/a\d/, 'a0') === `fsync ${left}` ? { kind: 'skipped' } : null);
      await bucket.putIfAbsent(`a${index}/b/c`, bytesOf('x'));
      expect(files.lostByPowerCut(), left).toContain(`data/a${index}/b/c`);
    }
  });
});

describe('a failed fsync', () => {
  const fsyncFails = (call: FileCall) => (isFsync(call) ? ({ kind: 'fails' } as const) : null);

  test('is never followed by an acknowledgement, wherever in a publish it fails, and a retry is safe', async () => {
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

  test('blocks further writes until the store passes its check, even if the next fsync succeeds', async () => {
    const bucket = await openBucket();
    files.plan = (call) => (tell(call) === 'fsync data/a' ? { kind: 'done but fails' } : null);
    await expect(bucket.putIfAbsent('a/b', bytesOf('x'))).rejects.toMatchObject({ code: 'outcome_unknown' });
    // Only the folder with the failed fsync keeps failing.
    await expect(bucket.check()).rejects.toMatchObject({ code: 'unavailable' });
    await expect(bucket.putIfAbsent('c/d', bytesOf('x'))).rejects.toMatchObject({ code: 'unavailable' });
    expect(await bucket.get('c/d')).toBeNull();
    expect(await bucket.get('a/b')).not.toBeNull();
    files.plan = () => null;
    // Another fsync succeeds, but the entry that the failed one dropped is still lost.
    expect(files.lostByPowerCut()).toContain('data/a/b');
    await bucket.check();
    expect(files.lostByPowerCut()).toEqual([]);
    expect(await bucket.putIfAbsent('c/d', bytesOf('x'))).toBe('created');
  });

  test('is cleared by the next write too, without a separate check', async () => {
    const bucket = await openBucket();
    files.plan = fsyncFails;
    await expect(bucket.putIfAbsent('a/b', bytesOf('x'))).rejects.toMatchObject({ code: 'outcome_unknown' });
    files.plan = () => null;
    expect(await bucket.putIfAbsent('a/b', bytesOf('x'))).toBe('created');
    expect(files.lostByPowerCut()).toEqual([]);
  });

  test('makes the outcome of concurrent writes unknown', async () => {
    const bucket = await openBucket();
    await bucket.putIfAbsent('a/first', bytesOf('x'));
    let failed = false;
    files.plan = (call) => (tell(call) === 'fsync data/a' && !failed ? ((failed = true), { kind: 'fails' }) : null);
    const answers = await Promise.allSettled(['a/b', 'a/c', 'a/d'].map((key) => bucket.putIfAbsent(key, bytesOf('x'))));
    expect(answers.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  });

  test('of the probe fails the check, and so does a full disk', async () => {
    const bucket = await openBucket();
    await bucket.check();
    files.plan = fsyncFails;
    await expect(bucket.check()).rejects.toMatchObject({ code: 'unavailable' });
    // Of its bytes alone, though its folder is confirmed.
    files.plan = (call) => (isFsync(call) && call.path.includes('/.probe-') ? { kind: 'fails' } : null);
    await expect(bucket.check()).rejects.toMatchObject({ code: 'unavailable' });
    files.plan = ({ name }) => (name === 'write' ? { kind: 'fails', code: 'ENOSPC' } : null);
    await expect(bucket.check()).rejects.toMatchObject({ message: 'The store has no space left.' });
  });
});

describe('a failed file call', () => {
  test('that took effect anyway counts as our write, and is durable', async () => {
    const bucket = await openBucket();
    files.plan = ({ name }) => (name === 'link' ? { kind: 'done but fails' } : null);
    expect(await bucket.putIfAbsent('a/b', bytesOf('x'))).toBe('created');
    files.plan = ({ name }) => (name === 'link' ? { kind: 'done but fails', code: 'EEXIST' } : null);
    expect(await bucket.putIfAbsent('a/c', bytesOf('x'))).toBe('created');
    expect(files.lostByPowerCut()).toEqual([]);
  });

  test.each(['open', 'write', 'close', 'mkdir', 'link'] as const)(
    'of %s writes nothing and throws unavailable',
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
