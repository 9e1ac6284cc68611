import { afterAll, beforeAll, expect, test } from 'vitest';
import { signersOf } from '../../../src/model/transparency/note.ts';
import { publicLogOf } from '../../../src/registry/transparency/public-log.ts';
import { listAll } from '../../../src/store/bucket.ts';
import { openWitness, type WitnessServer } from '../../servers/witness.ts';
import { createLoggedWorld, put } from './logged.ts';

let witness: WitnessServer;

beforeAll(async () => {
  witness = await openWitness();
});
afterAll(() => witness[Symbol.asyncDispose]());

/** A registry that asks the witness of a path. */
function openWitnessed(path: string) {
  const world = createLoggedWorld();
  const witnesses = [{ url: witness.url + path, key: witness.vkey }];
  const config = { ...world.registry.config, publicLog: { key: null, witnesses } };
  return { ...world, registry: { ...world.registry, config } };
}

test('a registry has its heads cosigned, and a rewritten one gets no cosignature', async () => {
  const { registry } = openWitnessed('/one');
  for (let minor = 0; minor < 3; minor++) {
    await put(registry, `@acme/apis/pay@1.${minor}.0`);
    const log = (await publicLogOf(registry))!;
    await log.update();
    const { size, note } = await log.checkpoint();
    expect(size).toBe(3 + 2 * minor);
    expect(signersOf(note, [witness.key])).toEqual([witness.key]);
    const proof = (await log.prove('@acme/apis/pay', `1.${minor}.0`))!;
    expect(signersOf(proof.checkpoint.note, [witness.key])).toEqual([witness.key]);
  }

  const { registry: forged, events } = openWitnessed('/one');
  for (let minor = 0; minor < 5; minor++) await put(forged, `@acme/apis/pay@2.${minor}.0`);
  const log = (await publicLogOf(forged))!;
  await log.update();
  expect(signersOf((await log.checkpoint()).note, [witness.key])).toEqual([]);
  expect(events.find(({ event }) => event === 'a witness did not cosign')?.fields['error']).toContain('422');
});

test('a witness that did not answer is asked again a minute later, although the log did not grow', async () => {
  const { registry, pass } = openWitnessed('/late');
  await put(registry, '@acme/apis/pay@1.0.0');
  witness.silent.add('/late');
  const log = (await publicLogOf(registry))!;
  const cosigners = async () => signersOf((await log.checkpoint()).note, [witness.key]);
  await log.update();
  witness.silent.delete('/late');
  await log.update();
  expect(await cosigners()).toEqual([]);
  pass(60_000);
  await log.update();
  expect(await cosigners()).toEqual([witness.key]);
});

test('a cosignature that was damaged is not served, and its witness is asked again', async () => {
  const { registry, pass, bucket } = openWitnessed('/damaged');
  await put(registry, '@acme/apis/pay@1.0.0');
  const log = (await publicLogOf(registry))!;
  await log.update();
  const keys = await Array.fromAsync(listAll(bucket, 'tree/cosigned/'));
  const sound = Buffer.from((await bucket.get(keys[0]!))!);
  const damaged = Buffer.from(sound);
  damaged[damaged.length - 10]! ^= 1;
  await bucket.delete(keys[0]!);
  await bucket.putIfAbsent(keys[0]!, damaged);
  const cosigners = async () => signersOf((await log.checkpoint()).note, [witness.key]);
  expect(await cosigners()).toEqual([]);
  pass(60_000);
  await log.update();
  expect(await cosigners()).toEqual([witness.key]);
});
