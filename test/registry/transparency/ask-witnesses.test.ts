import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseCheckpoint, parseHashes } from '../../../src/model/transparency/checkpoint.ts';
import { formatSignature, formatVerifierKey, signersOf } from '../../../src/model/transparency/note.ts';
import { emptyRoot, isConsistent, type TreeHead } from '../../../src/model/transparency/tree.ts';
import { publicLogOf } from '../../../src/registry/transparency/public-log.ts';
import { cosign, cosigningKey } from './cosign.ts';
import { createLoggedWorld, put } from './logged.ts';

const key = cosigningKey('witness.test/w', Buffer.alloc(32, 2));
let head: TreeHead = { size: 0, root: emptyRoot };

/** Cosigns what goes on from the checkpoint before (C2SP tlog-witness). */
const witness = createServer((request, response) => {
  void readText(request).then((body) => {
    const end = body.indexOf('\n\n');
    const [old, ...proof] = body.slice(0, end).split('\n');
    const checkpoint = parseCheckpoint(body.slice(end + 2))!;
    const size = Number(old!.slice('old '.length));
    if (request.url !== '/add-checkpoint') return response.writeHead(404).end();
    if (size !== head.size) return response.writeHead(409).end(`${head.size}\n`);
    if (!isConsistent(head, checkpoint, parseHashes(proof)!)) return response.writeHead(422).end();
    head = checkpoint;
    return response.end(formatSignature(cosign(key, checkpoint.note.text, 1_700_000_000)));
  });
});
let url = '';

beforeAll(async () => {
  await once(witness.listen(0, '127.0.0.1'), 'listening');
  url = `http://127.0.0.1:${(witness.address() as AddressInfo).port}`;
});
afterAll(() => witness.close());

test('a registry has its heads cosigned, and a rewritten one gets no cosignature', async () => {
  const world = createLoggedWorld();
  const witnesses = [{ url, key: formatVerifierKey(key) }];
  const config = { ...world.registry.config, publicLog: { key: null, witnesses } };
  const registry = { ...world.registry, bucket: { ...world.bucket }, config };
  for (let minor = 0; minor < 3; minor++) {
    await put(registry, `@acme/apis/pay@1.${minor}.0`);
    const log = (await publicLogOf(registry))!;
    await log.update();
    const { size, note } = await log.checkpoint();
    expect(size).toBe(3 + 2 * minor);
    expect(signersOf(note, [key])).toEqual([key]);
    const proof = (await log.prove('@acme/apis/pay', `1.${minor}.0`))!;
    expect(signersOf(proof.checkpoint.note, [key])).toEqual([key]);
  }

  const rewritten = createLoggedWorld();
  const forged = { ...rewritten.registry, config };
  for (let minor = 0; minor < 5; minor++) await put(forged, `@acme/apis/pay@2.${minor}.0`);
  const log = (await publicLogOf(forged))!;
  await log.update();
  expect(signersOf((await log.checkpoint()).note, [key])).toEqual([]);
  expect(rewritten.events.find(({ event }) => event === 'a witness did not cosign')?.fields['error']).toContain('422');
});
