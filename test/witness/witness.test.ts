import { hash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { checkpointText, formatHashes, parseCheckpoint } from '../../src/model/transparency/checkpoint.ts';
import {
  formatNote,
  formatVerifierKey,
  mlDsaKey,
  parseSignatures,
  signersOf,
  signingKey,
  signText,
} from '../../src/model/transparency/note.ts';
import { nodesIn } from '../../src/model/transparency/tiles.ts';
import { leafHash, proveConsistency, rootOf } from '../../src/model/transparency/tree.ts';
import { publicLogOf } from '../../src/registry/transparency/public-log.ts';
import { createMemoryBucket } from '../../src/store/memory.ts';
import { createWitness, formatAddCheckpoint } from '../../src/witness/witness.ts';
import { serveWitness } from '../../src/witness/serve-witness.ts';
import { createLoggedWorld, put } from '../registry/transparency/logged.ts';

const logKey = signingKey('log.test/log', Buffer.alloc(32, 1));
const witnessKey = signingKey('witness.test/w', Buffer.alloc(32, 2), 'cosignature');
const otherKey = mlDsaKey('witness.test/w', Buffer.alloc(32, 3));
const now = () => new Date('2026-01-02T03:04:05Z');

/** A log of leaves; `fork`: from this leaf on it has others. */
function logOf(fork = Infinity) {
  const hashes = Array.from({ length: 40 }, (_, at) =>
    leafHash(Buffer.from(at >= fork ? `other ${at}` : `leaf ${at}`)),
  );
  const nodes = (size: number) => nodesIn(async () => Buffer.concat(hashes.slice(0, size)), size);
  return {
    async request(old: number, size: number, key = logKey) {
      const text = checkpointText(logKey.name, { size, root: await rootOf(nodes(size), size) });
      const proof = old <= size ? await proveConsistency(nodes(size), old, size) : [];
      return formatAddCheckpoint(old, formatHashes(proof), formatNote({ text, signatures: [signText(key, text)] }));
    },
  };
}

const open = (bucket = createMemoryBucket()) =>
  createWitness(bucket, { keys: [witnessKey, otherKey], logs: [{ key: logKey, url: null }], now });

describe('a witness', () => {
  test('cosigns what goes on from what it has seen, and nothing else', async () => {
    const [witness, log] = [open(), logOf()];
    const first = await witness.add(await log.request(0, 5));
    expect(first.status).toBe(200);
    expect(await witness.add(await log.request(5, 9))).toMatchObject({ status: 200 });
    expect(await witness.add(await log.request(9, 9))).toMatchObject({ status: 200 });
    const head = parseCheckpoint((await witness.latest(hash('sha256', logKey.name)))!)!;
    expect(head.size).toBe(9);
    expect(signersOf(head.note, [logKey, witnessKey, otherKey])).toHaveLength(3);
    const line = parseSignatures(first.body)!;
    const text = (await log.request(0, 5)).split('\n\n')[1]!;
    expect(signersOf({ text: `${text}\n`, signatures: line }, [witnessKey, otherKey])).toHaveLength(2);

    expect(await witness.add(await log.request(5, 12))).toEqual({ status: 409, body: '9\n' });
    expect(await witness.add(await log.request(0, 12))).toEqual({ status: 409, body: '9\n' });
    expect(await witness.add(await log.request(9, 8))).toMatchObject({ status: 400 });
    expect(await witness.add(await logOf(3).request(9, 12))).toMatchObject({ status: 422 });
    expect(await witness.add(await logOf(3).request(9, 9))).toMatchObject({ status: 422 });
    const forged = signingKey(logKey.name, Buffer.alloc(32, 9));
    expect(await witness.add(await log.request(9, 12, forged))).toMatchObject({ status: 403 });
    expect(await witness.add((await log.request(9, 12)).replace('log.test/log', 'other.test/log'))).toMatchObject({
      status: 404,
    });
    expect(await witness.add('old nine\n\nnothing')).toMatchObject({ status: 400 });
    expect((await witness.head(logKey.name))!.size).toBe(9);
    expect(await witness.latest('0'.repeat(64))).toBe(null);
  });

  test('of two processes on one bucket, one goes on from a checkpoint', async () => {
    const bucket = createMemoryBucket();
    const [log, other] = [logOf(), logOf(6)];
    expect(await open(bucket).add(await log.request(0, 5))).toMatchObject({ status: 200 });
    const [one, two] = [open(bucket), open(bucket)];
    const answers = await Promise.all([one.add(await log.request(5, 9)), two.add(await other.request(5, 10))]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409]);
    // What anybody may send again is not kept again.
    const { length } = await bucket.list('witness/');
    const size = (await open(bucket).head(logKey.name))!.size;
    await one.add(await (size === 9 ? log : other).request(size, size));
    expect(await bucket.list('witness/')).toHaveLength(length);
  });
});

test('a registry has its heads cosigned, and a rewritten one gets no cosignature', async () => {
  const world = createLoggedWorld();
  const own = (await publicLogOf(world.registry))!;
  const witness = await serveWitness(createMemoryBucket(), {
    keys: [witnessKey],
    logs: [
      {
        key: { name: own.origin, algorithm: 'note', key: Buffer.from(own.key.split('+')[2]!, 'base64').subarray(1) },
        url: null,
      },
    ],
    port: 0,
    host: '127.0.0.1',
    interval: 0,
    log: () => undefined,
  });
  try {
    const witnesses = [{ url: witness.url, key: formatVerifierKey(witnessKey) }];
    const config = { ...world.registry.config, publicLog: { key: null, witnesses } };
    const registry = { ...world.registry, bucket: { ...world.bucket }, config };
    for (let minor = 0; minor < 3; minor++) {
      await put(registry, `@acme/apis/pay@1.${minor}.0`);
      const log = (await publicLogOf(registry))!;
      await log.update();
      const { size, note } = await log.checkpoint();
      expect(size).toBe(3 + 2 * minor);
      expect(signersOf(note, [witnessKey])).toEqual([witnessKey]);
      const proof = (await log.prove('@acme/apis/pay', `1.${minor}.0`))!;
      expect(signersOf(proof.checkpoint.note, [witnessKey])).toEqual([witnessKey]);
    }

    const rewritten = createLoggedWorld();
    const forged = { ...rewritten.registry, config };
    for (let minor = 0; minor < 5; minor++) await put(forged, `@acme/apis/pay@2.${minor}.0`);
    const log = (await publicLogOf(forged))!;
    await log.update();
    expect(signersOf((await log.checkpoint()).note, [witnessKey])).toEqual([]);
    expect(rewritten.events.find(({ event }) => event === 'a witness did not cosign')?.fields['error']).toContain(
      '422',
    );
    expect((await fetch(`${witness.url}/key`).then((answer) => answer.text())).trim()).toBe(
      formatVerifierKey(witnessKey),
    );
    expect((await fetch(`${witness.url}/${'0'.repeat(64)}/checkpoint`)).status).toBe(404);
  } finally {
    await witness.close();
  }
});
