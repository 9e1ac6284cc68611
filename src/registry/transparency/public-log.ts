import { decodeBundle, tileWidth, type TileName } from '../../model/transparency/tiles.ts';
import { checkpointText, type Checkpoint, type LogProof } from '../../model/transparency/checkpoint.ts';
import { decodeLeaf, type Leaf } from '../../model/transparency/leaf.ts';
import { formatPem } from '../../model/transparency/attestation.ts';
import { formatVerifierKey, parseSignatures, signText, type SigningKey } from '../../model/transparency/note.ts';
import { proveInclusion, rootOf } from '../../model/transparency/tree.ts';
import { openTreeLog, type TreeLog } from '../../store/tree-log.ts';
import type { Registry } from '../registry.ts';
import { askWitnesses } from './ask-witnesses.ts';
import { logKeys } from './log-key.ts';
import { appendLeaves } from './append-leaves.ts';

/**
 * The public log of a registry: every public fact is a leaf, and whoever saw a checkpoint notices when
 * it is given another history (C2SP tlog-tiles, tlog-checkpoint).
 */
export interface PublicLog {
  /** Names the log. */
  origin: string;
  /** The key that signs its checkpoints, as a verifier key. */
  key: string;
  /** The same in PEM. */
  pem: string;
  /**
   * Brings into the log what is public by now, of these organizations or of all. One run at a time: who asks during
   * one gets the next.
   */
  update(organizations?: readonly string[]): Promise<void>;
  /** The signed head, at most a second old. */
  checkpoint(): Promise<Checkpoint>;
  /** The bytes of a tile or bundle. Null if the log has none of this width. */
  tile(name: TileName): Promise<Uint8Array | null>;
  /** Proves that a version is in the log, by its name and label. Null if it is not. */
  prove(coordinate: string, label: string): Promise<LogProof | null>;
  /** Proves that the present key is announced in the log. Null before it is. */
  proveKey(): Promise<LogProof | null>;
}

/** Milliseconds for which the log that was read counts as the newest. */
const maxAge = 1000;

/** By bucket: a view of a registry has the log of the registry. */
const logs = new WeakMap<Registry['bucket'], Promise<PublicLog | null>>();

/** Opens the public log of a registry. Null for a registry that has none (`logKeys`). */
export function publicLogOf(registry: Registry): Promise<PublicLog | null> {
  const opened = logs.get(registry.bucket) ?? open(registry);
  logs.set(registry.bucket, opened);
  opened.catch(() => logs.delete(registry.bucket));
  return opened;
}

async function open(registry: Registry): Promise<PublicLog | null> {
  const keys = logKeys(registry);
  if (keys === null) return null;
  const key = formatVerifierKey(keys[0]);
  const tree = await openTreeLog(registry.bucket);
  await tree.refresh();
  const index = createLeafIndex(tree);
  let refreshedAt = registry.monotonic();
  const read = new Map<string, number>();
  let running: Promise<void> | null = null;
  /** What is asked for while an update runs: one more, for all who ask. */
  let waiting: { all: boolean; organizations: Set<string>; done: Promise<void> } | null = null;
  const hasWitnesses = registry.config.publicLog.witnesses.length > 0;
  let head: { size: number; lines: string; checkpoint: Promise<Checkpoint> } | null = null;

  /** Reads what other processes appended, at most once a second. */
  async function refresh(): Promise<void> {
    const now = registry.monotonic();
    if (now - refreshedAt < maxAge) return;
    refreshedAt = now;
    await tree.refresh();
  }

  function headOf(size: number, lines: string): Promise<Checkpoint> {
    if (head?.size !== size || head.lines !== lines)
      head = { size, lines, checkpoint: signHead(keys!, tree, size, lines) };
    return head.checkpoint;
  }

  /** With witnesses, the newest head that they were asked for: one that they did not see is of no use to who wants them. */
  async function checkpoint(): Promise<Checkpoint> {
    await refresh();
    const asked = hasWitnesses ? await tree.cosigned() : null;
    if (asked === null || asked.size > tree.size()) return headOf(tree.size(), '');
    return headOf(asked.size, asked.lines);
  }

  async function prove(name: string): Promise<LogProof | null> {
    const signed = await checkpoint();
    const found = await index.find(name);
    if (found === null || found.index >= signed.size) return null;
    const hashes = await proveInclusion(tree.nodes(signed.size), found.index, signed.size);
    return { index: found.index, hashes, checkpoint: signed, extra: found.leaf };
  }

  async function update(organizations: readonly string[] | null): Promise<void> {
    await appendLeaves(registry, tree, { keys: [key, ...keys!.slice(1).map(formatVerifierKey)], read, organizations });
    const size = tree.size();
    if (!hasWitnesses || size === 0 || (await tree.cosigned())?.size === size) return;
    const signed = await signHead(keys!, tree, size, '');
    await tree.putCosignatures(size, await askWitnesses(registry, signed, tree.nodes(size)));
  }

  function run(organizations: readonly string[] | null): Promise<void> {
    const done = update(organizations).finally(() => {
      running = null;
    });
    running = done;
    return done;
  }

  return {
    origin: keys[0].name,
    key,
    pem: formatPem(keys[0]),
    update(organizations) {
      if (running === null && waiting === null) return run(organizations ?? null);
      if (waiting === null) {
        const asked = { all: false, organizations: new Set<string>(), done: Promise.resolve() };
        asked.done = running!
          .catch(() => undefined)
          .then(() => {
            waiting = null;
            return run(asked.all ? null : [...asked.organizations]);
          });
        waiting = asked;
      }
      if (organizations === undefined) waiting.all = true;
      else for (const each of organizations) waiting.organizations.add(each);
      return waiting.done;
    },
    checkpoint,
    tile: (name) => tree.tile(name),
    prove: (coordinate, label) => prove(`${coordinate}@${label}`),
    proveKey: () => prove(key),
  };
}

/**
 * Signs the head at a size, and adds cosignatures. Ed25519 signs the same text the same way, so each size has
 * one signed head.
 */
async function signHead(
  keys: readonly [SigningKey, ...SigningKey[]],
  tree: TreeLog,
  size: number,
  lines: string,
): Promise<Checkpoint> {
  const origin = keys[0].name;
  const root = await rootOf(tree.nodes(size), size);
  const text = checkpointText(origin, { size, root });
  const signatures = [...keys.map((key) => signText(key, text)), ...(parseSignatures(lines) ?? [])];
  return { origin, size, root, note: { text, signatures } };
}

/**
 * Where the leaf of each version is, by its whole name, and that of each key. Read out of the log when it is first asked
 * for, and kept up to date.
 */
function createLeafIndex(tree: TreeLog): { find(name: string): Promise<{ index: number; leaf: Buffer } | null> } {
  const places = new Map<string, number>();
  let read = 0;
  let reading: Promise<void> = Promise.resolve();

  async function readOn(): Promise<void> {
    while (read < tree.size()) {
      const leaves = await leavesAt(tree, read);
      for (const [at, leaf] of leaves.entries()) {
        const name = nameOfLeaf(decodeLeaf(leaf));
        if (name !== null) places.set(name, read + at);
      }
      read += leaves.length;
    }
  }

  return {
    async find(name) {
      reading = reading.catch(() => undefined).then(readOn);
      await reading;
      const index = places.get(name);
      return index === undefined ? null : { index, leaf: (await leavesAt(tree, index))[0]! };
    },
  };
}

function nameOfLeaf(leaf: Leaf | null): string | null {
  if (leaf?.event === 'key') return leaf.key;
  return leaf?.event === 'published' || leaf?.event === 'listed' ? `${leaf.coordinate}@${leaf.label}` : null;
}

/** The leaves from one to the end of its bundle. */
async function leavesAt(tree: TreeLog, index: number): Promise<Buffer[]> {
  const bundle = Math.floor(index / tileWidth);
  const width = Math.min(tileWidth, tree.size() - bundle * tileWidth);
  const bytes = await tree.tile({ level: 'entries', index: bundle, width });
  return decodeBundle(bytes ?? new Uint8Array())!.slice(index % tileWidth);
}
