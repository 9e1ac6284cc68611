import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fsck } from '../../src/registry/fsck.ts';
import { publicLogOf } from '../../src/registry/transparency/public-log.ts';
import { createApp } from '../../src/server/app.ts';
import { listen } from '../../src/server/listen.ts';
import { formatVerifierKey } from '../../src/model/transparency/note.ts';
import { createOwnKey } from '../../src/store/own-key.ts';
import { copyStore } from '../../src/store/copy-store.ts';
import { createMemoryBucket } from '../memory-store.ts';
import { assertFormat } from '../../src/store/format.ts';
import type { Bucket } from '../../src/store/bucket.ts';
import { openStore } from './damaged-store.ts';
import { createTestQueue, publishVersion } from './registry.ts';

// What becomes of a registry whose `.log-key` is lost, damaged or another one: in its own data folder, and where a backup was restored without it.

let folder: string;
let bucket: Bucket;
let copy: Bucket;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stele-log-key-'));
  bucket = createMemoryBucket();
  copy = createMemoryBucket();
  await assertFormat(bucket);
  const registry = openHere(bucket);
  await publishVersion(registry, '@acme/apis/one', '1.0.0');
  await registry.refs.settle();
  const log = (await publicLogOf(registry))!;
  await log.update();
  await log.checkpoint();
  await copyStore(bucket, copy);
});
afterAll(() => rm(folder, { recursive: true }));

const keyFile = () => join(folder, '.log-key');

/** A process on a store, with the key of the folder. */
function openHere(of: Bucket) {
  // Each process has a log of its own.
  const opened = openStore({ ...of });
  return { ...opened, logKey: createOwnKey(folder, '.log-key') };
}

const lost = 'The key of the public log is lost. Restore the file `.log-key` of the data folder.';
const tooShort =
  'The key of the public log must have at least 32 characters in each line. Restore the file `.log-key` of the data folder.';
const another = /^The public log has the key registry\.test\/log\+.*, and this server has .*\. Restore `\.log-key`/;

test.each([
  { what: 'lost', text: null, isLost: true, fault: [], ready: lost },
  { what: 'empty', text: '', isLost: false, fault: [tooShort], ready: tooShort },
  { what: 'cut in half', text: 'cut', isLost: false, fault: [tooShort], ready: tooShort },
  { what: 'one bit another', text: 'flip', isLost: false, fault: [/Put the right one back/], ready: another },
  { what: 'another key', text: 'the key that a new server would make for itself', isLost: false, fault: [/Put the right one back/], ready: another }, // prettier-ignore
])('.log-key: $what', async ({ text, isLost, fault, ready }) => {
  const sound = await readFile(keyFile(), 'utf8');
  if (text === null) await rm(keyFile());
  else if (text === 'cut') await writeFile(keyFile(), sound.slice(0, 20));
  else if (text === 'flip') await writeFile(keyFile(), (sound.startsWith('A') ? 'B' : 'A') + sound.slice(1));
  else await writeFile(keyFile(), text);
  try {
    for (const place of [bucket, copy]) {
      const registry = openHere(place);
      const { damages, lostKey } = await fsck(registry);
      expect(lostKey !== null).toBe(isLost);
      expect(damages.map(({ key }) => key)).toEqual(fault.map(() => '.log-key'));
      for (const [at, each] of fault.entries()) expect(damages[at]!.detail).toMatch(each);
      const context = { registry, queue: createTestQueue(registry), url: 'http://registry.test', isReady: () => true };
      const listening = await listen(createApp(context), { host: '127.0.0.1', port: 0 });
      const statusOf = async (path: string) => (await fetch(listening.url + path)).status;
      const signed = ['/log/checkpoint', '/log/key', '/log/key.pem', '/@acme/apis/one@1.0.0?proof'];
      for (const path of signed) expect([path, await statusOf(path)]).toEqual([path, 503]);
      expect(await statusOf('/@acme/apis/one@1.0.0.json')).toBe(200);
      const said = (await (await fetch(`${listening.url}/readyz`)).json()) as { publicLog: string[] };
      expect([...new Set(said.publicLog)]).toEqual([expect.stringMatching(ready)]);
      await listening.close(1000);
    }
    // Nobody made another one.
    if (text === null) await expect(readFile(keyFile())).rejects.toThrow('ENOENT');
  } finally {
    await writeFile(keyFile(), sound);
  }
});

test('.log-key: put back', async () => {
  const log = (await publicLogOf(openHere(copy)))!;
  expect((await log.checkpoint()).size).toBe(3);
  expect((await fsck(openHere(copy))).damages).toEqual([]);
});

test('.log-key: of a registry whose address changed, it goes on, and announces its name', async () => {
  const moved = { ...openHere(copy) };
  const registry = { ...moved, config: { ...moved.config, url: 'https://moved.test/contracts' } };
  const log = (await publicLogOf(registry))!;
  expect((await log.checkpoint()).origin).toBe('moved.test/contracts/log');
  await log.update();
  const text = formatVerifierKey(log.signer());
  expect(text).toContain('moved.test/contracts/log+');
  expect(text).toBe((JSON.parse(Buffer.from((await log.proveKey())!.extra!).toString()) as { key: string }).key);
  expect((await fsck(registry)).damages).toEqual([]);
  expect((await log.checkpoint()).size).toBe(4);
});
