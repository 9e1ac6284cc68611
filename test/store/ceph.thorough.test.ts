import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { PublishRequest } from '../../src/registry/append-version.ts';
import { publish } from '../../src/registry/publish.ts';
import type { Registry } from '../../src/registry/registry.ts';
import { resourceRef, type Resource } from '../../src/model/resource.ts';
import { createRefs } from '../../src/store/refs.ts';
import { createS3Bucket, openObjects, openS3Bucket } from '../../src/store/s3.ts';
import { bucketContract, bytesOf, type OpenedBucket } from '../contract/bucket.ts';
import { objectsContract } from '../contract/objects.ts';
import { createClock, createIds, refsContract } from '../contract/refs.ts';
import { createWorld, snapshotOf } from '../registry/world.ts';
import { hasCeph, startCeph, type Ceph } from '../servers/ceph.ts';
import { startFaultProxy, type HttpFault } from '../servers/fault-proxy.ts';
import { openProcess } from './processes.ts';

// `s3.test.ts` holds a stand-in to the same promises in every run.
const where = hasCeph ? '' : ' (skipped: no Ceph here; Debian has it in ceph-mon, ceph-osd and radosgw)';

describe.skipIf(!hasCeph)(`S3 by a real object gateway, Ceph's${where}`, () => {
  let ceph: Ceph;
  let count = 0;
  beforeAll(async () => {
    ceph = await startCeph();
  });
  afterAll(() => ceph?.[Symbol.asyncDispose]());

  const nextSettings = () => ceph.settings(`test-${++count}`);

  /** Each has a prefix of its own. */
  async function open(): Promise<OpenedBucket> {
    return { bucket: createS3Bucket(await openObjects(nextSettings())), close: async () => {} };
  }

  bucketContract('Ceph', open);
  objectsContract('Ceph', open);
  refsContract('Ceph', open);

  test('passes the probe and the check', async () => {
    const bucket = await openS3Bucket(nextSettings());
    await bucket.check();
    expect(await bucket.list('')).toEqual([]);
  });

  test.each([
    [
      'a secret key that is wrong',
      { credentials: { accessKeyId: 'test', secretAccessKey: 'wrong' } },
      'its secret key is wrong',
    ],
    [
      'an access key that is not known',
      { credentials: { accessKeyId: 'x', secretAccessKey: 'x' } },
      'its access key is not known',
    ],
    ['a bucket that is not there', { bucket: 'elsewhere' }, 'its bucket does not exist'],
  ])('is not opened with %s', async (_, changes, reason) => {
    await expect(openS3Bucket({ ...nextSettings(), ...changes })).rejects.toMatchObject({
      code: 'unavailable',
      message: `The store is not writable: ${reason}; nothing was written.`,
    });
  });

  test('of two processes that write the same keys, one wins each, and no change of either is lost', async () => {
    const settings = nextSettings();
    const processes = await Promise.all([1, 2].map(() => openProcess(JSON.stringify(settings))));
    try {
      for (let race = 0; race < 10; race++) {
        const put = { do: 'put', key: `races/${race}`, text: 'the same' } as const;
        const answers = await Promise.all(processes.map(({ tell }) => tell(put)));
        expect(answers.sort()).toEqual(['created', 'exists']);
      }
      await Promise.all(processes.map(({ tell }) => tell({ do: 'increment', name: 'things/one', times: 15 })));
    } finally {
      await Promise.all(processes.map(({ close }) => close()));
    }
    const refs = createRefs(await openS3Bucket(settings), { ...createClock(), uniqueId: createIds('reader') });
    expect((await refs.read('things/one'))?.value).toBe(30);
    expect(await Array.fromAsync(refs.history('things/one'))).toHaveLength(30);
  });

  test('two registries publish at once: one winner for each label, and each sees both within a second', async () => {
    const world = createWorld(undefined, await openS3Bucket(nextSettings()));
    const registries = [world.registry, world.another()];
    for (const version of ['1.0.0', '1.1.0', '1.2.0']) {
      const results = await Promise.all(
        registries.map((registry, index) => publish(registry, upload(version, `from ${index}`))),
      );
      expect(results.map(({ outcome }) => outcome).sort()).toEqual(['conflict', 'published']);
      // Another label of each is its own.
      await Promise.all(registries.map((registry, index) => publish(registry, upload(`${version}-${index}`, 'own'))));
      world.pass(1000);
      const seen = await Promise.all(registries.map(versionsOf));
      expect(seen[0]).toEqual(seen[1]);
      expect(seen[0]).toEqual(expect.arrayContaining([version, `${version}-0`, `${version}-1`]));
    }
  });

  test('while one request in ten goes wrong on the way, each key has one writer', async () => {
    await using proxy = await startFaultProxy(ceph.port);
    const bucket = createS3Bucket(await openObjects({ ...nextSettings(), endpoint: proxy.endpoint }));
    const faults: HttpFault[] = [
      { kind: 'lost' },
      { kind: 'status', status: 503, code: 'SlowDown' },
      { kind: 'reset' },
      { kind: 'twice' },
      { kind: 'cut' },
    ];
    let asked = 0;
    proxy.choose = () => (++asked % 10 === 0 ? faults[(asked / 10) % faults.length]! : null);
    for (let race = 0; race < 20; race++) {
      const key = `races/${race}`;
      const answers = await Promise.all([1, 2, 3].map(() => bucket.putIfAbsent(key, bytesOf(key))));
      expect(answers.sort(), key).toEqual(['created', 'exists', 'exists']);
      expect(Buffer.from((await bucket.get(key))!).toString()).toBe(key);
    }
  });
});

function upload(version: string, text: string): PublishRequest {
  const file = `openapi: 3.1.0\ninfo: {title: Pay, version: "${version}"}\nx-text: ${text}\n`;
  return {
    coordinate: { org: 'acme', type: 'apis', slug: 'pay' },
    snapshot: snapshotOf(null, null, { 'api.yaml': file }),
    entry: 'api.yaml',
    version,
    onConflict: 'reject',
    latest: true,
    dryRun: false,
    create: {},
    author: { actor: 'operator:test', origin: null },
  };
}

async function versionsOf({ refs }: Registry): Promise<string[]> {
  const record = await refs.read<Resource>(resourceRef({ org: 'acme', type: 'apis', slug: 'pay' }));
  return record!.value.versions.map(({ label }) => label);
}
