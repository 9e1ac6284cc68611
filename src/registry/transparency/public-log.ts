import { formatHashes, type Checkpoint, checkpointText, type LogProof } from '../../model/transparency/checkpoint.ts';
import {
  formatNote,
  formatSignature,
  parseSignatures,
  parseVerifierKey,
  signersOf,
  formatVerifierKey,
  signText,
  type NoteSignature,
  type SigningKey,
  type VerifierKey,
} from '../../model/transparency/note.ts';
import {
  proveConsistency,
  type ReadNode,
  type TileName,
  proveInclusion,
  rootOf,
} from '../../model/transparency/tree.ts';
import type { Registry } from '../registry.ts';
import { isRegistryError } from '../../model/errors.ts';
import { bundleOf, provenanceStatement, signStatement, type Envelope } from '../../model/transparency/attestation.ts';
import { corrupt } from '../../store/records.ts';
import { openTreeLog, type TreeLog } from '../../store/tree/tree-log.ts';
import { appendLeaves, createLogView } from './append-leaves.ts';
import { hasKey, hasPublicLog, logKeys } from './log-key.ts';
import { encodeJson } from '../../model/json.ts';
import { readConfig, readManifest, type GrantedVersion } from '../read.ts';
import { openRounds } from '../../scheduling/waiting.ts';

/** Milliseconds for an answer, and characters of one. */
const patience = 5000;
const maxAnswer = 64 * 1024;

/**
 * Asks the configured witnesses that have not cosigned a checkpoint to do so (C2SP tlog-witness), all at once. Returns their
 * signature lines; a witness that does not answer, or that refuses, is logged and left out. `nodes`: of the tree of the checkpoint.
 */
async function askWitnesses(
  registry: Pick<Registry, 'config' | 'log'>,
  checkpoint: Checkpoint,
  nodes: ReadNode,
): Promise<string> {
  const missing = registry.config.publicLog.witnesses.filter(
    ({ key }) => signersOf(checkpoint.note, [parseVerifierKey(key)!])!.length === 0,
  );
  const lines = await Promise.all(
    missing.map(async ({ url, key }) => {
      try {
        return await askWitness(url, key, checkpoint, nodes);
      } catch (error) {
        registry.log('warn', 'a witness did not cosign', { witness: url, size: checkpoint.size, error: String(error) });
        return '';
      }
    }),
  );
  return lines.join('');
}

async function askWitness(url: string, vkey: string, checkpoint: Checkpoint, nodes: ReadNode): Promise<string> {
  const key = parseVerifierKey(vkey)!;
  let old = checkpoint.size;
  for (let attempt = 0; attempt < 3; attempt++) {
    const proof = formatHashes(await proveConsistency(nodes, old, checkpoint.size));
    const body = `old ${old}\n${proof.map((line) => `${line}\n`).join('')}\n${formatNote(checkpoint.note)}`;
    const response = await fetch(`${url}/add-checkpoint`, {
      method: 'POST',
      body,
      redirect: 'error',
      signal: AbortSignal.timeout(patience),
    });
    const text = (await response.text()).slice(0, maxAnswer);
    if (response.status === 200) {
      const signatures = parseSignatures(text) ?? [];
      const own = signatures.filter(
        (signature) => signersOf({ text: checkpoint.note.text, signatures: [signature] }, [key])?.length === 1,
      );
      if (own.length === 0) throw new Error(`${url} sent no cosignature of ${key.name}.`);
      return own.map(formatSignature).join('');
    }
    const [, size] = /^(\d{1,15})\n$/.exec(text) ?? [];
    // Where it stands decides what must be proved.
    if (response.status !== 409 || size === undefined || Number(size) > checkpoint.size)
      throw new Error(`${url} answered ${response.status}: ${text.slice(0, 200).trim()}`);
    old = Number(size);
  }
  throw new Error(`${url} receives checkpoints of this log from others at the same time.`);
}

/**
 * The public log of a registry: every public fact is a leaf, and whoever saw a checkpoint notices when
 * it is given another history (C2SP tlog-tiles, tlog-checkpoint).
 */
export type PublicLog = NonNullable<Awaited<ReturnType<typeof open>>>;

/** Milliseconds for which the log that was read counts as the newest. */
const maxAge = 1000;
/** Milliseconds between two requests to witnesses that have not cosigned the newest head. */
const askedEvery = 60_000;

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

async function open(registry: Registry, damages: Map<string, string>) {
  if (!hasPublicLog(registry)) return null;
  const tree = await openTreeLog(registry.bucket);
  const keys = logKeys(registry, tree.isNew());
  const vkeys = keys.map(formatVerifierKey) as [string, ...string[]];
  const [key] = vkeys;
  const view = createLogView(tree);
  let refreshedAt = registry.monotonic();
  const read = new Map<string, number>();
  let running: Promise<void> = Promise.resolve();
  /** What is asked for before the next update begins: one, for all who ask. */
  let waiting: { all: boolean; compares: boolean; organizations: Set<string>; done: Promise<void> } | null = null;
  /** Once in a process: nodes that get a new key one after the other would announce theirs by turns. */
  let announces = true;
  const witnesses = registry.config.publicLog.witnesses.map(({ key: text }) => parseVerifierKey(text)!);
  let askedAt = Number.NEGATIVE_INFINITY;
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
      head = { size, lines, checkpoint: signHead(keys, tree, size, { lines, witnesses }) };
    return head.checkpoint;
  }

  /** The key that signs its checkpoints. Throws `corrupt` if the log announces one that this process does not have. */
  function signer(): SigningKey {
    const announced = tree.key();
    if (announced !== null && !hasKey(vkeys, announced))
      throw corrupt(`The public log has the key ${announced}, and this server has ${key}. Restore \`.log-key\`, or \`publicLog.key\`.`); // prettier-ignore
    return keys[0];
  }

  /** With witnesses, the newest head that they were asked for: one that they did not see is of no use to who wants them. */
  async function checkpoint(): Promise<Checkpoint> {
    await refresh();
    signer();
    const size = await tree.noteHead();
    const asked = witnesses.length > 0 ? await tree.cosigned() : null;
    if (asked === null) return headOf(size, '');
    if (asked.size > size) throw corrupt(`The public log lost its leaves after ${size}: ${asked.size} were cosigned.`);
    return headOf(asked.size, asked.lines);
  }

  async function prove(name: string): Promise<LogProof | null> {
    const signed = await checkpoint();
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
    if (witnesses.length > 0) await cosign(size);
  }

  /** Has a head cosigned, and once a minute by those witnesses that did not answer before. */
  async function cosign(size: number): Promise<void> {
    const before = await tree.cosigned();
    const isAgain = before?.size === size;
    const now = registry.monotonic();
    if (isAgain && now - askedAt < askedEvery) return;
    askedAt = now;
    const signed = await signHead(keys, tree, size, { lines: isAgain ? before.lines : '', witnesses });
    const lines = signed.note.signatures.slice(keys.length).map(formatSignature).join('');
    const more = await askWitnesses(registry, signed, tree.nodes(size));
    if (!isAgain || more !== '') await tree.putCosignatures(size, lines + more);
  }

  return {
    origin: keys[0].name,
    signer,
    /**
     * Brings into the log what is public by now, of these organizations or of all. One run at a time: who asks during
     * one gets the next. `compares`: all that is public, and not only what changed since.
     */
    update(organizations?: readonly string[], { compares = false }: { compares?: boolean } = {}): Promise<void> {
      if (waiting === null) {
        const asked = { all: false, compares: false, organizations: new Set<string>(), done: running };
        const run = () => {
          waiting = null;
          return watch(damages, 'log', () => update(asked.all ? null : [...asked.organizations], asked.compares));
        };
        asked.done = running = running.then(run, run);
        waiting = asked;
      }
      waiting.compares ||= compares;
      if (organizations === undefined) waiting.all = true;
      else for (const each of organizations) waiting.organizations.add(each);
      return waiting.done;
    },
    /** The signed head, at most a second old. */
    checkpoint: () => watch(damages, 'log', checkpoint),
    /** The bytes of a tile or bundle. Null if the log has none of this width. */
    tile: (name: TileName) => watch(damages, `${name.level}/${name.index}`, () => tree.tile(name)),
    /** Proves that a version is in the log, by its name and label. Null if it is not. */
    prove: (coordinate: string, label: string) => watch(damages, 'proof', () => prove(`${coordinate}@${label}`)),
    /** Proves that the present key is announced in the log. Null before it is. */
    proveKey: () => watch(damages, 'proof', () => prove(key)),
  };
}

/**
 * Signs the head at a size, and adds cosignatures, `lines`. Ed25519 signs the same text the same way, so each size has
 * one signed head. A cosignature that was damaged is left out: nobody would trust the rest.
 */
async function signHead(
  keys: readonly [SigningKey, ...SigningKey[]],
  tree: TreeLog,
  size: number,
  { lines, witnesses }: { lines: string; witnesses: readonly VerifierKey[] },
): Promise<Checkpoint> {
  const origin = keys[0].name;
  const root = await rootOf(tree.nodes(size), size);
  const text = checkpointText(origin, { size, root });
  const isSound = (each: NoteSignature) => signersOf({ text, signatures: [each] }, witnesses) !== null;
  const signatures = [...keys.map((key) => signText(key, text)), ...(parseSignatures(lines) ?? []).filter(isSound)];
  return { origin, size, root, note: { text, signatures } };
}

/**
 * The signed statement of how a version was made: as an envelope, and the bytes of its bundle. The key that signs the public
 * log signs it, so that it is always the same. Null for a registry without that key.
 */
export async function attest(
  registry: Registry,
  granted: GrantedVersion,
): Promise<{ envelope: Envelope; bundle: Uint8Array } | null> {
  const key = (await publicLogOf(registry))?.signer();
  if (key === undefined) return null;
  const { resource, version } = granted;
  const [config, manifest] = await Promise.all([readConfig(registry, granted), readManifest(registry, granted)]);
  const statement = provenanceStatement({
    registry: registry.config.url!,
    repository: `${resource.org}/${resource.type}/${resource.slug}`,
    digest: version.manifest,
    manifest,
    config,
    publishedAt: version.publishedAt,
  });
  const envelope = signStatement(key, statement);
  return { envelope, bundle: encodeJson(bundleOf(key, envelope)) };
}

/** Milliseconds after a change of a record, so that what is published together is appended together. */
const soon = 500;
/** Milliseconds between two comparisons of all that is public with what the log says. */
const comparedEvery = 86_400_000;

/**
 * Brings what becomes public into the public log, until it is closed: soon after this process changed it, and
 * every `interval` milliseconds for what others changed. At the start and once a day, all that is public is compared with
 * what the log says. What fails is tried again. Null for a registry without a log. Throws `malformed` for a `publicLog.key`
 * that cannot be used.
 */
export async function keepLog(registry: Registry, interval = 15_000): Promise<{ close(): Promise<void> } | null> {
  if (!hasPublicLog(registry)) return null;
  if (registry.config.publicLog.key !== null) logKeys(registry, false);
  /** The organizations that this process changed since the last look. */
  let changed = new Set<string>();

  async function update(organizations?: readonly string[], compares = false): Promise<void> {
    const log = await publicLogOf(registry);
    await log!.update(organizations, { compares });
  }

  const failed = (error: unknown): void => {
    const cause = error instanceof Error && error.cause ? { cause: String(error.cause) } : {};
    registry.log('error', 'the public log was not written', { error: String(error), ...cause });
  };

  let [next, comparing] = [0, 0];
  async function look(): Promise<void> {
    const [now, asked] = [registry.monotonic(), changed];
    changed = new Set();
    // Looking at all of them takes a walk over all names.
    const isAll = now >= next;
    if (isAll) next = now + interval;
    rounds.wake(next - now);
    await update(isAll ? undefined : [...asked]).catch((error: unknown) => {
      changed = changed.union(asked);
      throw error;
    });
    if (now < comparing) return;
    await update(undefined, true);
    comparing = now + comparedEvery;
  }

  const rounds = openRounds({ first: interval, pause: interval }, look, failed);
  const begun = look().catch(failed);
  const unwatch = registry.refs.watch((name) => {
    if (!name.startsWith('resources/')) return;
    changed.add(name.split('/')[1]!);
    rounds.wake(soon);
  });
  return {
    async close() {
      unwatch();
      await Promise.all([begun, rounds.close()]);
      await update([...changed]).catch(failed);
    },
  };
}
