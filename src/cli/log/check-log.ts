import { mapAtOnce } from '../../scheduling/waiting.ts';
import { ignoring, isRegistryError, malformed, refused, type RegistryError, unreachable } from '../../model/errors.ts';
import {
  formatProof,
  parseCheckpoint,
  parseProof,
  type Checkpoint,
  type LogProof,
  policyFault,
  type WitnessPolicy,
} from '../../model/transparency/checkpoint.ts';
import { decodeLeaf, isVersion, type Leaf, type VersionLeaf } from '../../model/transparency/leaf.ts';
import { formatNote, parseVerifierKey, signersOf, type VerifierKey } from '../../model/transparency/note.ts';
import {
  decodeBundle,
  nodesIn,
  tilePath,
  tileWidth,
  foldHashes,
  isConsistent,
  isIncluded,
  leafHash,
  proveConsistency,
  proveInclusion,
  rootOf,
  type ReadNode,
  type TileName,
} from '../../model/transparency/tree.ts';
import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { userCacheFolder } from '../../config/environment.ts';
import { digestOf, hexOf } from '../../model/digest.ts';
import { isObject, parseJson } from '../../model/json.ts';
import { unwritable } from '../lock/open-lock.ts';

/** Reads a file of a registry; null: there is none. */
export type ReadFile = (path: string) => Promise<Uint8Array | null>;

interface Known {
  contract: string;
  version: string;
  digest: string;
}

/** The public log of a registry, as a consumer checks it. Everything rejects with `refused` where it does not hold. */
export type CheckedPublicLog = NonNullable<Awaited<ReturnType<typeof openCheckedLog>>>;

/**
 * Opens the public log of a registry. The key that it had when this user first saw it must sign it, or one that
 * such a key announced in the log. Null for a registry without a log; `refused` for one that had a log, and for a log that the policy does not name.
 */
export async function openCheckedLog(registry: string, read: ReadFile, policy: WitnessPolicy | null) {
  const seen = readLogState(registry);
  const given = String((await read('/log/key')) ?? '').trim();
  const hasLog = parseVerifierKey(given) !== null;
  // A host may answer everything with some page.
  if (!hasLog && given !== '' && !given.startsWith('<'))
    throw unreachable(`${registry}/log/key is not the key of a public log.`);
  if (!hasLog && seen === null && policy === null) return null;
  if (!hasLog)
    throw refused(
      `${registry} has no public log, ${seen === null ? 'and the policy asks for one' : 'and had one before'}.`,
    );
  let state: Omit<LogState, 'checkpoint'> = seen ?? { key: given, keyAt: (await readKeyProof(read))?.index ?? 0 };
  /** The newest head that holds, as far as this process knows. */
  let newest = seen === null ? null : parseHead(seen.checkpoint, registry);

  const nodes = (size: number): ReadNode =>
    nodesIn(async (level, index, width) => {
      const { path, bytes } = await readTile(read, { level, index, width });
      if (bytes === null) throw refused(`${registry}${path} is missing, which the checkpoint of its public log needs.`);
      return bytes.subarray(0, width * 32);
    }, size);

  /** Checks who signed a head, and that it and the newest one are of one history. */
  async function hold(head: Checkpoint): Promise<void> {
    assertSigned(head, [parseVerifierKey(state.key)!], policy, registry);
    if (newest === null || head.size !== newest.size || Buffer.compare(head.root, newest.root) !== 0) {
      const [older, newer] = newest === null || head.size >= newest.size ? [newest, head] : [head, newest];
      const proving = older === null ? [] : proveConsistency(nodes(newer.size), older.size, newer.size);
      const proof = await Promise.resolve(proving).catch((error: unknown) => {
        // The log no longer has what it had: its head was set back.
        if (older !== head || !isRegistryError(error, 'refused')) throw error;
        const told = `shows a log of ${older.size} leaves, had one of ${newer.size}, and has lost what proves that they are one history. Ask who runs it`;
        throw withHeads(`${registry} ${told}, and keep both of these.`, older, newer);
      });
      if (older !== null && !isConsistent(older, newer, proof)) {
        const told = 'shows another history than before. Trust nothing from it, and keep both of these';
        throw withHeads(`${registry} ${told}: together they prove it.`, older, newer);
      }
    }
    if (newest !== null && head.size <= newest.size) return;
    newest = head;
    writeLogState(registry, { ...state, checkpoint: formatNote(head.note) });
  }

  /** Goes on with another key, if the one from before signed that the log announces it. */
  async function succeed(): Promise<void> {
    const proof = await readKeyProof(read);
    const keys = [state.key, given].map((key) => parseVerifierKey(key)!);
    const isAnnounced =
      proof?.key === given &&
      proof.index > (state.keyAt ?? 0) &&
      isIncluded({ ...proof.checkpoint, index: proof.index }, leafHash(proof.extra!), proof.hashes) &&
      signersOf(proof.checkpoint.note, keys)?.length === 2;
    if (!isAnnounced)
      throw refused(
        `The public log of ${registry} has another key: ${given}. It was ${state.key}, which has not announced it. Ask who runs the registry.`,
      );
    await hold(proof.checkpoint);
    state = { key: given, keyAt: proof.index, earlier: [state.key, ...(state.earlier ?? [])] };
    writeLogState(registry, { ...state, checkpoint: formatNote(newest!.note) });
  }

  if (given !== state.key) await succeed();

  async function newestHead(): Promise<Checkpoint> {
    const bytes = await read('/log/checkpoint');
    if (bytes === null) throw refused(`${registry} has no checkpoint of its public log.`);
    const head = parseHead(String(bytes), registry);
    await hold(head);
    return head;
  }

  /** Read once for all contracts. */
  let walked: Promise<{ head: Checkpoint; leaves: Buffer[] }> | null = null;
  async function walk(): Promise<{ head: Checkpoint; leaves: Buffer[] }> {
    const head = await newestHead();
    return { head, leaves: await readLeaves(registry, read, head) };
  }

  return {
    /** Its head now, after a check that it goes on from what this user has seen. */
    head: newestHead,
    /** All leaves of the log at a head, which make up its root. */
    leaves: (head: Checkpoint): Promise<Buffer[]> => readLeaves(registry, read, head),
    /** Finds a version among all leaves of the log, which make up a signed root. Returns its proof as text; null: it is in none. */
    async find(version: Known): Promise<string | null> {
      walked ??= walk();
      const { head, leaves } = await walked;
      const index = leaves.findLastIndex((leaf) => isOf(version, decodeLeaf(leaf)));
      if (index < 0) return null;
      const hashes = await proveInclusion(nodesOf(leaves), index, head.size);
      const proof = formatProof({ index, hashes, checkpoint: head, extra: leaves[index]! });
      verifyProof({ registry, keys: [parseVerifierKey(state.key)!], policy }, version, proof);
      return proof;
    },
    /** Checks that a version is in the log with this digest. `file`: the proof, which needs no network. */
    async check(version: Known, file: string): Promise<LogProof> {
      const proof = verifyProof({ registry, keys: [parseVerifierKey(state.key)!], policy }, version, file);
      await hold(proof.checkpoint);
      return proof;
    },
  };
}

/** Checks a proof by itself, without a network. Throws `refused`, as `CheckedPublicLog.check` does. */
export function verifyProof(
  { registry, keys, policy }: { registry: string; keys: readonly VerifierKey[]; policy: WitnessPolicy | null },
  { contract, version, digest }: Known,
  file: string,
): LogProof {
  const name = `${contract}@${version}`;
  const proof = parseProof(file);
  const leaf = proof?.extra ? decodeLeaf(proof.extra) : null;
  if (proof === null || leaf === null)
    throw refused(`${registry} did not send a proof that ${name} is in its public log.`);
  const { index, hashes, checkpoint } = proof;
  if (!isOf({ contract, version }, leaf) || !isIncluded({ ...checkpoint, index }, leafHash(proof.extra!), hashes))
    throw refused(`The proof of ${name} that ${registry} sent does not hold.`);
  assertSigned(checkpoint, keys, policy, registry);
  if (!isVersion(leaf) || leaf.digest !== digest)
    throw refused(
      `The public log of ${registry} says that ${name} is ${isVersion(leaf) ? leaf.digest : 'another'}, and here it is ${digest}. Ask who runs the registry.`,
    );
  return proof;
}

function isOf({ contract, version }: Omit<Known, 'digest'>, leaf: Leaf | null): leaf is VersionLeaf {
  return leaf !== null && isVersion(leaf) && leaf.coordinate === contract && leaf.label === version;
}

/** A tile or bundle. A partial one may be gone once the full one is there. */
async function readTile(read: ReadFile, name: TileName): Promise<{ path: string; bytes: Uint8Array | null }> {
  const path = `/log/${tilePath(name)}`;
  return { path, bytes: (await read(path)) ?? (await read(`/log/${tilePath({ ...name, width: tileWidth })}`)) };
}

/** Reads all leaves of a log. Rejects with `refused` unless they make up the root of the head. */
async function readLeaves(registry: string, read: ReadFile, head: Checkpoint): Promise<Buffer[]> {
  // One after the other: whoever signs a head may say any size.
  function* starts(): Generator<number> {
    for (let start = 0; start < head.size; start += tileWidth) yield start;
  }
  const readBundle = async (start: number): Promise<Buffer[]> => {
    const width = Math.min(tileWidth, head.size - start);
    const { path, bytes } = await readTile(read, { level: 'entries', index: start / tileWidth, width });
    const some = bytes && decodeBundle(bytes)?.slice(0, width);
    if (some?.length !== width) throw refused(`${registry}${path} is missing or damaged.`);
    return some;
  };
  const leaves = (await mapAtOnce(starts(), 8, readBundle)).flat();
  if (Buffer.compare(await rootOf(nodesOf(leaves), head.size), head.root) === 0) return leaves;
  throw refused(`The leaves that ${registry} serves are not those that its checkpoint was signed for.`);
}

function nodesOf(leaves: readonly Buffer[]): ReadNode {
  const rows: Buffer[][] = [leaves.map(leafHash)];
  while (rows.at(-1)!.length >= tileWidth) {
    const row = rows.at(-1)!;
    const full = Math.floor(row.length / tileWidth);
    rows.push(Array.from({ length: full }, (_, at) => foldHashes(row.slice(at * tileWidth, (at + 1) * tileWidth))));
  }
  return nodesIn(
    async (level, index) => Buffer.concat(rows[level]!.slice(index * tileWidth, (index + 1) * tileWidth)),
    leaves.length,
  );
}

/** The proof that a registry's log announces its key, with the key. Null if it has none. Nothing of it was checked. */
async function readKeyProof(read: ReadFile): Promise<(LogProof & { key: string }) | null> {
  const proof = parseProof(String((await read('/log/key.proof')) ?? ''));
  const leaf = proof?.extra ? decodeLeaf(proof.extra) : null;
  return leaf?.event === 'key' ? { ...proof!, key: leaf.key } : null;
}

function assertSigned(
  head: Checkpoint,
  keys: readonly VerifierKey[],
  policy: WitnessPolicy | null,
  registry: string,
): void {
  const isSigned = signersOf(head.note, keys)?.some(({ name }) => name === head.origin) === true;
  const fault = isSigned ? policy && policyFault(policy, head) : 'its key has not signed it';
  if (fault !== null) throw refused(`The checkpoint of the public log of ${registry} is not to be trusted: ${fault}.`);
}

function parseHead(text: string, registry: string): Checkpoint {
  const head = parseCheckpoint(text);
  if (head === null) throw refused(`${registry}/log/checkpoint is not a valid checkpoint.`);
  return head;
}

function withHeads(message: string, older: Checkpoint, newer: Checkpoint): RegistryError {
  return refused(`${message}\n\n${formatNote(older.note)}\n${formatNote(newer.note)}`);
}

interface LogState {
  /** The verifier key that signs it: that of the first sight, or the one that it announced. */
  key: string;
  /** The index of the leaf that announced the key; 0 if it is not known. Absent in older files. */
  keyAt?: number;
  /** Keys that signed it before. Absent: none. */
  earlier?: string[];
  /** The newest checkpoint, as text. */
  checkpoint: string;
}

function logStateFile(registry: string): string {
  return join(userCacheFolder(), 'stele', 'logs', `${hexOf(digestOf(registry)).slice(0, 32)}.json`);
}

/** What was seen of a registry's log; null: nothing. Throws `malformed` for a file that is damaged. */
export function readLogState(registry: string): LogState | null {
  const file = logStateFile(registry);
  try {
    statSync(file);
  } catch (error) {
    // A home that cannot be entered, as of another user in a container, has kept nothing.
    return ignoring('ENOENT', 'ENOTDIR', 'EACCES', 'ELOOP')(error);
  }
  const state = parseJson(readFileSync(file, 'utf8'));
  if (isObject(state) && typeof state['key'] === 'string' && typeof state['checkpoint'] === 'string')
    return state as unknown as LogState;
  throw malformed(
    `${file} is damaged. It says what was seen of the public log of ${registry}. Restore it, or remove it to start again.`,
  );
}

function writeLogState(registry: string, state: LogState): void {
  const file = logStateFile(registry);
  const temporary = `${file}.${process.pid}`;
  try {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(temporary, `${JSON.stringify(state)}\n`);
    renameSync(temporary, file);
  } catch (cause) {
    throw unwritable(file, cause);
  }
}

/** The keys that may have signed what was kept, the present one first. */
export function keysOfLog({ key, earlier = [] }: LogState): VerifierKey[] {
  return [key, ...earlier].flatMap((text) => parseVerifierKey(text) ?? []);
}
