import type { Digest } from '../../model/digest.ts';
import { isRegistryError } from '../../model/errors.ts';
import { parseSignatures } from '../../model/transparency/note.ts';
import { tileWidth } from '../../model/transparency/tree.ts';
import { listAll, type Bucket } from '../bucket.ts';
import type { CopyListener } from '../copy-keys.ts';
import { corrupt } from '../records.ts';
import type { Head } from '../log/heads.ts';
import { batchesFolder, batchKey, digestOfRoot, doesNotFollow, rootAt, treeSizeOf, start, stepOver, tilesFolder, treeFolder, treeName, type TreePosition, type BatchStep } from './batch.ts'; // prettier-ignore
import { cosignedFolder, cosignedSize, findEnd, openTreeLog } from './tree-log.ts';

const otherBatch = 'The copy has another batch.';

/** Something of the public log that is damaged or missing. */
export interface TreeDamage {
  key: string;
  detail: string;
  /** The log that lost its newest leaves. */
  lostOf?: typeof treeName;
}

/** A head of the log that is known from elsewhere. `digest`: of its root; null: not known. */
export interface KnownHead {
  sequence: number;
  digest: Digest | null;
  where: string;
}

interface TreeChecked {
  /** The newest head of what is sound; null: there is no leaf. */
  head: Head | null;
  /** Where what is sound ends. */
  position: TreePosition;
  /** Whether that is the end. */
  isWhole: boolean;
}

/**
 * Reads the whole log of a bucket, and compares it with the heads that are known. Stops at the first batch that is
 * damaged or missing. `leaf` gets each leaf. Nothing is changed.
 */
export async function checkTree(
  bucket: Bucket,
  known: readonly KnownHead[],
  { damaged, leaf = () => undefined }: { damaged: (damage: TreeDamage) => void; leaf?: (leaf: Buffer) => void },
): Promise<TreeChecked> {
  const heads = [...known];
  for await (const key of listAll(bucket, cosignedFolder)) {
    if (await areCosignatures(bucket, key)) heads.push({ sequence: cosignedSize(key), digest: null, where: key });
    else damaged({ key, detail: 'It is not a list of cosignatures.' });
  }
  const sizes = new Map(heads.map(({ sequence }) => [sequence, '']));
  let position = start;
  let due: BatchStep['full'] = [];
  let isWhole = true;
  for await (const key of listAll(bucket, batchesFolder)) {
    const expected = batchKey(position);
    const bytes = key === expected ? ((await bucket.get(key)) ?? new Uint8Array()) : null;
    const next = bytes && stepOver(position, bytes);
    if (next === null || typeof next === 'string') {
      damaged({ key: expected, detail: next ?? 'It is missing.' });
      isWhole = false;
      break;
    }
    // They were written before the first batch of the bundle after them.
    for (const tile of due) {
      const detail = await faultOfTile(bucket, tile);
      if (detail !== null) damaged({ key: tile.key, detail });
    }
    due = next.full;
    ({ position } = next);
    next.leaves.forEach(leaf);
    if (sizes.has(treeSizeOf(position))) sizes.set(treeSizeOf(position), digestOfRoot(await rootAt(position)));
  }
  const end = treeSizeOf(position);
  for (const { sequence: size, digest, where } of heads) {
    if (size <= end) {
      if (digest !== null && size > 0 && sizes.get(size) !== digest)
        damaged({ key: position.last ? batchKey(position.last) : treeFolder, detail: `${where} records another tree of ${size} leaves.` }); // prettier-ignore
    } else if (isWhole) {
      const detail = `The public log lost its leaves after ${end}: ${where} tells of ${size}.`;
      damaged({ key: batchKey(position), detail, lostOf: treeName });
      isWhole = false;
    }
  }
  return { head: await headAt(position), position, isWhole };
}

async function headAt(position: TreePosition): Promise<Head | null> {
  const sequence = treeSizeOf(position);
  return sequence === 0 ? null : { log: treeName, sequence, digest: digestOfRoot(await rootAt(position)) };
}

async function faultOfTile(bucket: Bucket, { key, bytes }: BatchStep['full'][number]): Promise<string | null> {
  const stored = await bucket.get(key);
  if (stored === null) return 'It is missing.';
  return Buffer.compare(stored, bytes) === 0 ? null : 'It is not what the batches make.';
}

type Report = (key: string, isRepaired: boolean, detail: string) => void;

/** A batch as it is in a bucket, and what it leads to. */
interface Stored {
  bytes: Uint8Array;
  next: BatchStep;
}

/** The batch at a position; what is wrong with it; null: there is none. */
async function batchAt(bucket: Bucket, position: TreePosition): Promise<Stored | string | null> {
  const bytes = await bucket.get(batchKey(position));
  const next = bytes && stepOver(position, bytes);
  return next === null || typeof next === 'string' ? next : { bytes: bytes!, next };
}

/**
 * Writes the batches that are damaged or missing again, out of a copy, also those after the newest one, and makes their
 * tiles anew. A batch of the copy is taken only if it is whole and stands between its neighbours.
 */
export async function repairTree(bucket: Bucket, from: Bucket | null, report: Report): Promise<void> {
  const put = async (key: string, bytes: Uint8Array): Promise<boolean> => {
    await bucket.delete(key);
    return (await bucket.putIfAbsent(key, bytes)) === 'created';
  };
  for (let position = start; ;) {
    const key = batchKey(position);
    const own = await batchAt(bucket, position);
    const isSound = own !== null && typeof own !== 'string';
    const found = isSound ? own : from && (await batchAt(from, position));
    if (found === null || typeof found === 'string') {
      const [later] = await bucket.list(batchesFolder, { after: key, limit: 1 });
      if (own !== null || later !== undefined) report(key, false, noCopy(position));
      break;
    }
    if (!isSound) {
      const isOther = (await batchAt(bucket, found.next.position)) === doesNotFollow;
      if (isOther) return report(key, false, `The copy has another batch. ${noCopy(position)}`);
      const isOurs = await put(key, found.bytes);
      report(key, isOurs, isOurs ? 'Replaced from the copy.' : 'A server wrote another batch. Stop all servers first.');
      if (!isOurs) return;
    }
    for (const tile of found.next.full)
      if ((await faultOfTile(bucket, tile)) !== null)
        report(tile.key, await put(tile.key, tile.bytes), 'Made again of the batches.');
    ({ position } = found.next);
  }
  for await (const key of listAll(bucket, cosignedFolder)) {
    if (await areCosignatures(bucket, key)) continue;
    await bucket.delete(key);
    report(key, true, 'Deleted: the witnesses are asked again.');
  }
}

function noCopy(position: TreePosition): string {
  const end = `${treeName}:${treeSizeOf(position)}`;
  return `No copy has it. To continue without it and what came after it, stop all servers and use --accept-loss ${end}.`;
}

async function areCosignatures(bucket: Bucket, key: string): Promise<boolean> {
  const bytes = await bucket.get(key);
  return /\/\d{15}$/.test(key) && (bytes === null || parseSignatures(Buffer.from(bytes).toString()) !== null);
}

/**
 * Deletes what stands behind the last batch that is sound, if the log has so many leaves there. Returns its head, and how
 * many leaves it had once, as far as that is known here.
 */
export async function cutTree(
  bucket: Bucket,
  size: number,
): Promise<{ sequence: number; digest: Digest; until: number }> {
  const { position } = await checkTree(bucket, [], { damaged: () => undefined });
  const sequence = treeSizeOf(position);
  const digest = digestOfRoot(await rootAt(position));
  if (sequence !== size) return { sequence, digest, until: 0 };
  let until = 0;
  const batches = await Array.fromAsync(listAll(bucket, batchesFolder));
  for (const key of batches.filter((each) => each >= batchKey(position))) {
    until = Math.max(until, sequence + 1);
    await bucket.delete(key);
  }
  // Another log would make others.
  for await (const key of listAll(bucket, tilesFolder)) {
    const [level, index] = key.slice(tilesFolder.length).split('/').map(Number) as [number, number];
    if (index >= Math.floor(position.bundle / tileWidth ** (level || 0))) await bucket.delete(key);
  }
  for await (const key of listAll(bucket, cosignedFolder)) {
    if (cosignedSize(key) <= sequence) continue;
    until = Math.max(until, cosignedSize(key));
    await bucket.delete(key);
  }
  return { sequence, digest, until };
}

/** The position after the newest batch. Rejects with `corrupt` if something of the last bundle is damaged. */
async function endOf(bucket: Bucket): Promise<TreePosition> {
  for (let position = await findEnd(bucket); ;) {
    const own = await batchAt(bucket, position);
    if (own === null) return position;
    if (typeof own === 'string') throw corrupt(`${batchKey(position)}: ${own}`);
    ({ position } = own.next);
  }
}

/**
 * Copies what is new of the log into another bucket, batch by batch, and makes its tiles there. What is damaged, or of
 * another log than the copy has, is not copied. Returns the head of the copy; null: it has none.
 */
export async function copyTree(from: Bucket, into: Bucket, { copied, damaged }: CopyListener): Promise<Head | null> {
  const told = (about: string) => (error: unknown) => {
    if (!isRegistryError(error, 'corrupt')) throw error;
    damaged(treeFolder, about + (error.cause as Error).message);
    return null;
  };
  const end = await endOf(into).catch(told('In the copy: '));
  if (end === null) return null;
  let position = end;
  // Compares the log with what was signed: a copy never gets another one.
  const isOpened = (await openTreeLog(from).catch(told(''))) !== null;
  const { last } = position;
  const [own, theirs] =
    last === null ? [null, null] : await Promise.all([from.get(batchKey(last)), into.get(batchKey(last))]);
  const isSame = !own || !theirs ? own === theirs : Buffer.compare(own, theirs) === 0;
  if (isOpened && !isSame) damaged(batchKey(last!), own === null ? 'It is missing, and the copy has it.' : otherBatch);
  const after = last === null ? '' : batchKey(last);
  for await (const key of isOpened && isSame ? listAll(from, batchesFolder) : []) {
    if (key <= after) continue;
    const found = (key === batchKey(position) && (await batchAt(from, position))) || 'It is missing.';
    if (typeof found === 'string') {
      damaged(batchKey(position), found);
      break;
    }
    const { bytes, next } = found;
    // A run that is stopped is continued after its last batch.
    for (const tile of next.full) await into.putIfAbsent(tile.key, tile.bytes);
    if ((await into.putIfAbsent(key, bytes)) === 'exists') {
      damaged(key, otherBatch);
      break;
    }
    copied(key, bytes.byteLength);
    ({ position } = next);
  }
  // Cosignatures of a head that the copy lacks would tell of lost leaves.
  for await (const key of listAll(from, cosignedFolder)) {
    const bytes = cosignedSize(key) <= treeSizeOf(position) ? await from.get(key) : null;
    if (bytes !== null && (await into.putIfAbsent(key, bytes)) === 'created') copied(key, bytes.byteLength);
  }
  return headAt(position);
}
