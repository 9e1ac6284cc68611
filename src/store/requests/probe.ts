import { randomUUID } from 'node:crypto';
import { RegistryError } from '../../model/errors.ts';
import type { S3Objects } from './s3-objects.ts';

const writers = 32;
const rounds = 3;

/**
 * Makes sure that the store keeps the promises that S3 makes: of 32 writers that race for one key,
 * exactly one wins, its bytes and its metadata are there, and the next list has the key. Rejects
 * with `unavailable`, saying what was seen.
 */
export async function probe(objects: S3Objects): Promise<void> {
  const folder = `.probe/${randomUUID()}/`;
  for (let round = 1; round <= rounds; round++) await race(objects, `${folder}${round}`);
}

async function race(objects: S3Objects, key: string): Promise<void> {
  const ids = Array.from({ length: writers }, () => randomUUID());
  try {
    const answers = await Promise.all(ids.map((id) => objects.put(key, Buffer.from(id), id)));
    const winners = ids.filter((_, index) => answers[index] === 'created');
    if (winners.length !== 1) {
      throw lie(`of ${writers} writers of one new key, ${winners.length} were told that they created it`);
    }
    const [winner] = winners;
    const stored = await objects.get(key);
    if (stored?.toString() !== winner) throw lie('the bytes of another writer than the winner were stored');
    if ((await objects.writerOf(key)) !== winner) throw lie('it does not keep the metadata of an object');
    if (!(await objects.list(key, '', 1)).includes(key))
      throw lie('a list does not have the key that was just written');
  } finally {
    await objects.delete(key).catch(() => undefined);
  }
}

/** Makes sure that the store still refuses to write a key that is there: its settings may change while Stele runs. */
export async function assertRefused(objects: S3Objects, key: string): Promise<void> {
  const id = randomUUID();
  if ((await objects.put(key, Buffer.from(id), id)) === 'exists') return;
  await objects.delete(key).catch(() => undefined);
  throw lie('it wrote a key that was there already');
}

function lie(detail: string): RegistryError {
  const message = `This S3 store cannot be used: ${detail}. Stele needs writes with If-None-Match (a conditional PUT) that hold for all writers. Use a store that has them, such as Amazon S3, Ceph or MinIO.`;
  return new RegistryError('unavailable', message);
}
