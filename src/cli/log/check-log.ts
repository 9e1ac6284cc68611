import { RegistryError } from '../../model/errors.ts';
import { parseCheckpoint, parseProof, type Checkpoint, type LogProof } from '../../model/transparency/checkpoint.ts';
import { decodeLeaf } from '../../model/transparency/leaf.ts';
import { formatNote, parseVerifierKey, signersOf, type VerifierKey } from '../../model/transparency/note.ts';
import { policyFault, type Policy } from '../../model/transparency/policy.ts';
import { nodesIn, tilePath } from '../../model/transparency/tiles.ts';
import { isConsistent, isIncluded, leafHash, proveConsistency, type ReadNode } from '../../model/transparency/tree.ts';
import { readLogState, writeLogState, type LogState } from './log-state.ts';

/** Reads a file of a registry; null: there is none. */
export type ReadFile = (path: string) => Promise<Uint8Array | null>;

/** A version as a consumer knows it. */
interface Known {
  contract: string;
  version: string;
  digest: string;
}

/** The public log of a registry, as a consumer checks it. Everything rejects with `refused` where it does not hold. */
export interface CheckedLog {
  /** Its head now, after a check that it goes on from what this user has seen. */
  head(): Promise<Checkpoint>;
  /** Checks that a version is in the log with this digest. `proof`: the file, which needs no network. */
  check(version: Known, proof: string): Promise<LogProof>;
  /** Reads nodes of the tree of the first `size` leaves. Only what leads to a signed root may be trusted. */
  nodes(size: number): ReadNode;
}

/**
 * Opens the public log of a registry. The key that it had when this user first saw it must sign it, or one that
 * such a key announced in the log. Null for a registry without a log; `refused` for one that had a log, and for a log that the policy does not name.
 */
export async function openCheckedLog(
  registry: string,
  read: ReadFile,
  policy: Policy | null,
): Promise<CheckedLog | null> {
  const seen = readLogState(registry);
  const given = String((await read('/log/key')) ?? '').trim();
  // A host may answer everything with some page.
  const hasLog = parseVerifierKey(given) !== null;
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
      const path = `/log/${tilePath({ level, index, width })}`;
      // A partial tile may be gone once the full one is there.
      const bytes = (await read(path)) ?? (await read(`/log/${tilePath({ level, index, width: 256 })}`));
      if (bytes === null) throw refused(`${registry}${path} is missing, which the checkpoint of its public log needs.`);
      return bytes.subarray(0, width * 32);
    }, size);

  /** Checks who signed a head, and that it and the newest one are of one history. */
  async function hold(head: Checkpoint): Promise<void> {
    assertSigned(head, [parseVerifierKey(state.key)!], policy, registry);
    if (newest === null || head.size !== newest.size || !sameRoot(head, newest)) {
      const [older, newer] = newest === null || head.size >= newest.size ? [newest, head] : [head, newest];
      const proof = older === null ? [] : await proveConsistency(nodes(newer.size), older.size, newer.size);
      if (older !== null && !isConsistent(older, newer, proof)) throw twoHistories(registry, older, newer);
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

  return {
    nodes,
    async head() {
      const bytes = await read('/log/checkpoint');
      if (bytes === null) throw refused(`${registry} has no checkpoint of its public log.`);
      const head = parseHead(String(bytes), registry);
      await hold(head);
      return head;
    },
    async check(version, file) {
      const proof = verifyProof({ registry, keys: [parseVerifierKey(state.key)!], policy }, version, file);
      await hold(proof.checkpoint);
      return proof;
    },
  };
}

/** Checks a proof by itself, without a network. Throws `refused`, as `CheckedLog.check` does. */
export function verifyProof(
  { registry, keys, policy }: { registry: string; keys: readonly VerifierKey[]; policy: Policy | null },
  { contract, version, digest }: Known,
  file: string,
): LogProof {
  const name = `${contract}@${version}`;
  const proof = parseProof(file);
  const leaf = proof?.extra ? decodeLeaf(proof.extra) : null;
  if (proof === null || leaf === null)
    throw refused(`${registry} did not send a proof that ${name} is in its public log.`);
  const isOfVersion =
    (leaf.event === 'published' || leaf.event === 'listed') && leaf.coordinate === contract && leaf.label === version;
  const { index, hashes, checkpoint } = proof;
  if (!isOfVersion || !isIncluded({ ...checkpoint, index }, leafHash(proof.extra!), hashes))
    throw refused(`The proof of ${name} that ${registry} sent does not hold.`);
  assertSigned(checkpoint, keys, policy, registry);
  if (leaf.digest !== digest)
    throw refused(
      `The public log of ${registry} says that ${name} is ${leaf.digest}, and here it is ${digest}. Ask who runs the registry.`,
    );
  return proof;
}

/** The proof that a registry's log announces its key, with the key. Null if it has none. Nothing of it was checked. */
async function readKeyProof(read: ReadFile): Promise<(LogProof & { key: string }) | null> {
  const proof = parseProof(String((await read('/log/key.proof')) ?? ''));
  const leaf = proof?.extra ? decodeLeaf(proof.extra) : null;
  return leaf?.event === 'key' ? { ...proof!, key: leaf.key } : null;
}

/** Rejects with `refused` unless a head is signed by a key of its log, and cosigned as the policy asks. */
function assertSigned(head: Checkpoint, keys: readonly VerifierKey[], policy: Policy | null, registry: string): void {
  const isSigned = signersOf(head.note, keys)?.some(({ name }) => name === head.origin) === true;
  const fault = isSigned ? policy && policyFault(policy, head) : 'its key has not signed it';
  if (fault !== null) throw refused(`The checkpoint of the public log of ${registry} is not to be trusted: ${fault}.`);
}

function sameRoot(a: Checkpoint, b: Checkpoint): boolean {
  return Buffer.compare(a.root, b.root) === 0;
}

function parseHead(text: string, registry: string): Checkpoint {
  const head = parseCheckpoint(text);
  if (head === null) throw refused(`${registry}/log/checkpoint is not a valid checkpoint.`);
  return head;
}

/** The error for a registry that shows another history than before. Both heads are the evidence. */
function twoHistories(registry: string, older: Checkpoint, newer: Checkpoint): RegistryError {
  return refused(
    `${registry} shows another history than before. Trust nothing from it, and keep both of these: together they prove it.\n\n${formatNote(older.note)}\n${formatNote(newer.note)}`,
  );
}

function refused(message: string): RegistryError {
  return new RegistryError('refused', message);
}
