import { hash } from 'node:crypto';
import { parseCheckpoint, parseHashes, type Checkpoint } from '../model/transparency/checkpoint.ts';
import {
  cosign,
  formatNote,
  formatSignature,
  signersOf,
  type SigningKey,
  type VerifierKey,
} from '../model/transparency/note.ts';
import { emptyRoot, isConsistent } from '../model/transparency/tree.ts';
import type { Bucket } from '../store/bucket.ts';
import { putOwn } from '../store/put-own.ts';

/** A log that a witness vouches for. */
export interface WitnessedLog {
  key: VerifierKey;
  /** Where it is followed: the prefix of its addresses. Null: it sends its checkpoints itself. */
  url: string | null;
}

/** What a witness answers: an HTTP status, and a body. */
export interface WitnessAnswer {
  status: 200 | 400 | 403 | 404 | 409 | 422;
  body: string;
}

/**
 * A witness (C2SP tlog-witness): cosigns the checkpoints of the logs that it knows, as long as each goes on from the
 * one before. So whoever asks for its cosignature sees the history that it sees.
 */
export interface Witness {
  /** Answers `add-checkpoint`: what it cosigns is stored before. */
  add(request: string): Promise<WitnessAnswer>;
  /** The newest cosigned checkpoint of the log with this hash of its origin, 64 hexadecimal digits; null: none. */
  latest(originHash: string): Promise<string | null>;
  /** The newest cosigned checkpoint of a log; null: none. */
  head(origin: string): Promise<Checkpoint | null>;
}

const folder = 'witness/';

/**
 * Opens a witness whose state is in a bucket: each cosigned checkpoint of a log is one key that is written if
 * absent, so that of two processes only one can go on from a checkpoint. Each key cosigns. `now`: for the time of a
 * cosignature.
 */
export function createWitness(
  bucket: Bucket,
  { keys, logs, now }: { keys: readonly SigningKey[]; logs: readonly WitnessedLog[]; now: () => Date },
): Witness {
  /** The number of the newest key of each log, as far as this process knows. */
  const newest = new Map<string, number>();

  async function read(originHash: string): Promise<{ number: number; text: string | null }> {
    const prefix = `${folder}${originHash}/`;
    let number = newest.get(originHash) ?? 0;
    for (;;) {
      const listed = await bucket.list(prefix, number === 0 ? {} : { after: prefix + pad(number) });
      if (listed.length === 0) break;
      number = Number(listed.at(-1)!.slice(prefix.length));
    }
    newest.set(originHash, number);
    const bytes = number === 0 ? null : await bucket.get(prefix + pad(number));
    return { number, text: bytes && Buffer.from(bytes).toString() };
  }

  async function add(request: string): Promise<WitnessAnswer> {
    const asked = parseRequest(request);
    if (asked === null) return { status: 400, body: 'This is no add-checkpoint request.\n' };
    const { old, proof, checkpoint } = asked;
    const known = logs.filter((log) => log.key.name === checkpoint.origin).map((log) => log.key);
    if (known.length === 0) return { status: 404, body: 'This witness does not know the log.\n' };
    if (!signersOf(checkpoint.note, known)?.length)
      return { status: 403, body: 'The key of the log has not signed the checkpoint.\n' };
    if (old > checkpoint.size) return { status: 400, body: 'The old size is larger than the new one.\n' };
    const originHash = hashOf(checkpoint.origin);
    const { number, text } = await read(originHash);
    const last = text === null ? { size: 0, root: emptyRoot } : parseCheckpoint(text)!;
    if (old !== last.size) return { status: 409, body: `${last.size}\n` };
    const isEmptyRoot = checkpoint.size > 0 || Buffer.compare(checkpoint.root, emptyRoot) === 0;
    if (!isEmptyRoot || !isConsistent(last, checkpoint, proof))
      return { status: 422, body: 'The checkpoint does not go on from the one before.\n' };
    const time = Math.floor(now().getTime() / 1000);
    const cosignatures = keys.map((key) => cosign(key, checkpoint.note.text, time));
    const body = cosignatures.map(formatSignature).join('');
    // What was cosigned before is not kept again: anyone may send it.
    if (old === checkpoint.size && number > 0) return { status: 200, body };
    const own = checkpoint.note.signatures.filter(({ name }) => name === checkpoint.origin);
    const signed = formatNote({ text: checkpoint.note.text, signatures: [...own, ...cosignatures] });
    const bytes = Buffer.from(signed);
    const isOurs = (stored: Uint8Array) => Buffer.compare(stored, bytes) === 0;
    const place = `${folder}${originHash}/${pad(number + 1)}`;
    if (await putOwn(bucket, place, bytes, isOurs)) return { status: 200, body };
    // Another process was faster.
    const { size } = parseCheckpoint((await read(originHash)).text!)!;
    return { status: 409, body: `${size}\n` };
  }

  return {
    add,
    latest: async (originHash) =>
      logs.some((log) => hashOf(log.key.name) === originHash) ? (await read(originHash)).text : null,
    async head(origin) {
      const { text } = await read(hashOf(origin));
      return text === null ? null : parseCheckpoint(text);
    },
  };
}

function hashOf(origin: string): string {
  return hash('sha256', origin);
}

function pad(number: number): string {
  return String(number).padStart(12, '0');
}

/** Writes an `add-checkpoint` request. */
export function formatAddCheckpoint(old: number, proof: readonly string[], checkpoint: string): string {
  return `old ${old}\n${proof.map((line) => `${line}\n`).join('')}\n${checkpoint}`;
}

function parseRequest(text: string): { old: number; proof: Buffer[]; checkpoint: Checkpoint } | null {
  const end = text.indexOf('\n\n');
  const [first, ...lines] = text.slice(0, Math.max(end, 0)).split('\n');
  const [, old] = /^old (0|[1-9]\d{0,14})$/.exec(first!) ?? [];
  const proof = parseHashes(lines);
  const checkpoint = parseCheckpoint(text.slice(end + 2));
  return old === undefined || proof === null || checkpoint === null ? null : { old: Number(old), proof, checkpoint };
}
