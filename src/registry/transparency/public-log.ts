import { isRegistryError } from '../../model/errors.ts';
import { type TileName, proveInclusion, rootOf } from '../../model/transparency/tree.ts';
import { checkpointText, type Checkpoint, type LogProof } from '../../model/transparency/checkpoint.ts';
import { formatPem } from '../../model/transparency/attestation.ts';
import { formatVerifierKey, parseSignatures, signText, type SigningKey } from '../../model/transparency/note.ts';
import { corrupt } from '../../store/records.ts';
import { openTreeLog, type TreeLog } from '../../store/tree/tree-log.ts';
import type { Registry } from '../registry.ts';
import { askWitnesses } from './ask-witnesses.ts';
import { appendLeaves } from './append-leaves.ts';
import { hasPublicLog, logKeys } from './log-key.ts';
import { createLogView } from './log-view.ts';

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
  /** The key. Throws `corrupt` if it is not the one that the log announces. */
  signer(): SigningKey;
  /**
   * Brings into the log what is public by now, of these organizations or of all. One run at a time: who asks during
   * one gets the next. `compares`: all that is public, and not only what changed since.
   */
  update(organizations?: readonly string[], options?: { compares?: boolean }): Promise<void>;
  /** The signed head, at most a second old. */
  checkpoint(): Promise<Checkpoint>;
  /** The bytes of a tile or bundle. Null if the log has none of this width. */
  tile(name: TileName): Promise<Uint8Array | null>;
  /** Proves that a version is in the log, by its name and label. Null if it is not. `at`: a checkpoint; default: the newest. */
  prove(coordinate: string, label: string, at?: Checkpoint): Promise<LogProof | null>;
  /** Proves that the present key is announced in the log. Null before it is. */
  proveKey(): Promise<LogProof | null>;
}

/** Milliseconds for which the log that was read counts as the newest. */
const maxAge = 1000;

/** A log that was opened, or that could not be. */
interface Opened {
  log: Promise<PublicLog | null>;
  /** When opening failed (monotonic); null: it did not. */
  failedAt: number | null;
  /** What is damaged, by where that was noticed. */
  damages: Map<string, string>;
}

/** By bucket: a view of a registry has the log of the registry. */
const logs = new WeakMap<Registry['bucket'], Opened>();

/** Opens the public log of a registry. Null for a registry that has none. One that could not be opened is tried again a second later. */
export function publicLogOf(registry: Registry): Promise<PublicLog | null> {
  const before = logs.get(registry.bucket);
  if (before && (before.failedAt === null || registry.monotonic() - before.failedAt < maxAge)) return before.log;
  const damages = new Map<string, string>();
  const opened: Opened = { log: watch(damages, 'log', () => open(registry, damages)), failedAt: null, damages };
  logs.set(registry.bucket, opened);
  opened.log.catch(() => {
    opened.failedAt = registry.monotonic();
  });
  return opened.log;
}

/** What is known to be damaged of the public log of a registry, for the operator. */
export function publicLogDamages({ bucket }: Pick<Registry, 'bucket'>): string[] {
  return [...(logs.get(bucket)?.damages.values() ?? [])];
}

/** Notes whether the work finds the log damaged. */
async function watch<T>(damages: Map<string, string>, where: string, work: () => Promise<T>): Promise<T> {
  try {
    const done = await work();
    damages.delete(where);
    return done;
  } catch (error) {
    if (isRegistryError(error, 'corrupt')) damages.set(where, (error.cause as Error).message);
    throw error;
  }
}

async function open(registry: Registry, damages: Map<string, string>): Promise<PublicLog | null> {
  if (!hasPublicLog(registry)) return null;
  const tree = await openTreeLog(registry.bucket);
  const keys = logKeys(registry, tree.isNew());
  const vkeys = keys.map(formatVerifierKey) as [string, ...string[]];
  const [key] = vkeys;
  const view = createLogView(tree);
  let refreshedAt = registry.monotonic();
  const read = new Map<string, number>();
  let running: Promise<void> | null = null;
  /** What is asked for while an update runs: one more, for all who ask. */
  let waiting: { all: boolean; compares: boolean; organizations: Set<string>; done: Promise<void> } | null = null;
  /** Once in a process: nodes that get a new key one after the other would announce theirs by turns. */
  let announces = true;
  const hasWitnesses = registry.config.publicLog.witnesses.length > 0;
  let head: { size: number; lines: string; checkpoint: Promise<Checkpoint> } | null = null;

  /** Reads what other processes appended, at most once a second. */
  async function refresh(): Promise<void> {
    const now = registry.monotonic();
    if (now - refreshedAt < maxAge) return;
    refreshedAt = now;
    await tree.refresh().catch((error: unknown) => {
      refreshedAt = Number.NEGATIVE_INFINITY;
      throw error;
    });
  }

  function headOf(size: number, lines: string): Promise<Checkpoint> {
    if (head?.size !== size || head.lines !== lines)
      head = { size, lines, checkpoint: signHead(keys, tree, size, lines) };
    return head.checkpoint;
  }

  /** The key that signs. Rejects with `corrupt` if the log announces one that this process does not have. */
  function signer(): SigningKey {
    const announced = tree.key();
    if (announced !== null && !vkeys.includes(announced))
      throw corrupt(`The public log has the key ${announced}, and this server has ${key}. Restore \`.log-key\`, or \`publicLog.key\`.`); // prettier-ignore
    return keys[0];
  }

  /** With witnesses, the newest head that they were asked for: one that they did not see is of no use to who wants them. */
  async function checkpoint(): Promise<Checkpoint> {
    await refresh();
    signer();
    const size = await tree.noteHead();
    const asked = hasWitnesses ? await tree.cosigned() : null;
    if (asked === null) return headOf(size, '');
    if (asked.size > size) throw corrupt(`The public log lost its leaves after ${size}: ${asked.size} were cosigned.`);
    return headOf(asked.size, asked.lines);
  }

  async function prove(name: string, at?: Checkpoint): Promise<LogProof | null> {
    const signed = at ?? (await checkpoint());
    const found = await view.find(name);
    if (found === null || found.index >= signed.size) return null;
    const hashes = await proveInclusion(tree.nodes(signed.size), found.index, signed.size);
    return { index: found.index, hashes, checkpoint: signed, extra: found.leaf };
  }

  async function update(organizations: readonly string[] | null, compares: boolean): Promise<void> {
    await appendLeaves(registry, tree, { keys: vkeys, announces, view, read, organizations, compares });
    announces = false;
    signer();
    const size = await tree.noteHead();
    if (!hasWitnesses || (await tree.cosigned())?.size === size) return;
    const signed = await signHead(keys, tree, size, '');
    await tree.putCosignatures(size, await askWitnesses(registry, signed, tree.nodes(size)));
  }

  function run(organizations: readonly string[] | null, compares = false): Promise<void> {
    const done = watch(damages, 'log', () => update(organizations, compares)).finally(() => {
      running = null;
    });
    running = done;
    return done;
  }

  return {
    origin: keys[0].name,
    key,
    pem: formatPem(keys[0]),
    signer,
    update(organizations, { compares = false } = {}) {
      if (running === null && waiting === null) return run(organizations ?? null, compares);
      if (waiting === null) {
        const asked = { all: false, compares: false, organizations: new Set<string>(), done: Promise.resolve() };
        asked.done = running!
          .catch(() => undefined)
          .then(() => {
            waiting = null;
            return run(asked.all ? null : [...asked.organizations], asked.compares);
          });
        waiting = asked;
      }
      waiting.compares ||= compares;
      if (organizations === undefined) waiting.all = true;
      else for (const each of organizations) waiting.organizations.add(each);
      return waiting.done;
    },
    checkpoint: () => watch(damages, 'log', checkpoint),
    tile: (name) => watch(damages, `${name.level}/${name.index}`, () => tree.tile(name)),
    prove: (coordinate, label, at) => watch(damages, 'proof', () => prove(`${coordinate}@${label}`, at)),
    proveKey: () => watch(damages, 'proof', () => prove(key)),
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
