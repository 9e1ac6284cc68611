import { formatNote, parseNote, type Note, parseVerifierKey, signersOf, type VerifierKey } from './note.ts';
import type { TreeHead } from './tree.ts';
import { malformed } from '../errors.ts';

/** The head of a log at a size (C2SP tlog-checkpoint), and proofs that hold without a network (C2SP tlog-proof). */

/** What a checkpoint says, and the note that says it. */
export interface Checkpoint extends TreeHead {
  /** Names the log: its address without a scheme. */
  origin: string;
  note: Note;
}

/** The text of a checkpoint, to be signed. */
export function checkpointText(origin: string, { size, root }: TreeHead): string {
  return `${origin}\n${size}\n${Buffer.from(root).toString('base64')}\n`;
}

/** Parses a checkpoint; who signed it is for `signersOf`. Null for any other text. */
export function parseCheckpoint(text: string): Checkpoint | null {
  const note = parseNote(text);
  const [, origin, size, root] =
    /^(.+)\n(0|[1-9]\d{0,14})\n([A-Za-z0-9+/]{43}=)\n(?:.+\n)*$/.exec(note?.text ?? '') ?? [];
  if (note === null || origin === undefined) return null;
  return { origin, size: Number(size), root: Buffer.from(root!, 'base64'), note };
}

/** That a leaf is in a log. */
export interface LogProof {
  index: number;
  hashes: readonly Uint8Array[];
  checkpoint: Checkpoint;
  /** What the leaf says, for who does not know it. It is not to be trusted before its hash was proved. */
  extra: Uint8Array | null;
}

const version = 'c2sp.org/tlog-proof@v1';

/** Writes a proof as one file. */
export function formatProof({ index, hashes, checkpoint, extra }: LogProof): string {
  const lines = [
    version,
    ...(extra === null ? [] : [`extra ${Buffer.from(extra).toString('base64')}`]),
    `index ${index}`,
    ...formatHashes(hashes),
  ];
  return `${lines.join('\n')}\n\n${formatNote(checkpoint.note)}`;
}

/** Parses a proof. Null for any other text. */
export function parseProof(text: string): LogProof | null {
  const end = text.indexOf('\n\n');
  const [first, ...lines] = text.slice(0, Math.max(end, 0)).split('\n');
  const checkpoint = end < 0 ? null : parseCheckpoint(text.slice(end + 2));
  if (first !== version || checkpoint === null) return null;
  const extra = lines[0]?.startsWith('extra ') ? Buffer.from(lines.shift()!.slice('extra '.length), 'base64') : null;
  const [, index] = /^index (0|[1-9]\d{0,14})$/.exec(lines.shift() ?? '') ?? [];
  const hashes = parseHashes(lines);
  return index === undefined || hashes === null ? null : { index: Number(index), hashes, checkpoint, extra };
}

/** Hashes in base64, each on a line. */
export function formatHashes(hashes: readonly Uint8Array[]): string[] {
  return hashes.map((each) => Buffer.from(each).toString('base64'));
}

/** Parses lines that are hashes, at most 63. Null if one is not. */
export function parseHashes(lines: readonly string[]): Buffer[] | null {
  const isHash = (line: string) => /^[A-Za-z0-9+/]{43}=$/.test(line);
  return lines.length <= 63 && lines.every(isHash) ? lines.map((line) => Buffer.from(line, 'base64')) : null;
}

/** Which logs are trusted, and which witnesses must have seen a checkpoint (C2SP tlog-policy). */
export interface WitnessPolicy {
  /** Empty: any log. `url`: the prefix of its addresses; null: not stated. */
  logs: { key: VerifierKey; url: string | null }[];
  witnesses: PolicyWitness[];
  /** Whether witnesses with these names are enough. */
  isQuorum(names: ReadonlySet<string>): boolean;
  /** The line that says so. */
  quorum: string;
}

export interface PolicyWitness {
  name: string;
  key: VerifierKey;
  /** Where checkpoints are sent; null: not stated. */
  url: string | null;
}

const maxLines = 1000;

/** Parses a policy. Throws `malformed` with the line. `file`: what messages call it. */
export function parsePolicy(text: string, file: string): WitnessPolicy {
  const lines = text.split('\n');
  const fail = (at: number, what: string): never => {
    throw malformed(`${file}:${at + 1}: ${what}`);
  };
  if (lines.length > maxLines) fail(maxLines, `A policy has at most ${maxLines} lines.`);
  const [logs, witnesses]: [WitnessPolicy['logs'], PolicyWitness[]] = [[], []];
  /** By name: whether these witnesses are enough for it. */
  const members = new Map<string, (names: ReadonlySet<string>) => boolean>();
  const grouped = new Set<string>();
  let quorum: Pick<WitnessPolicy, 'isQuorum' | 'quorum'> | null = null;

  const keyAt = (at: number, word: string | undefined, algorithm: VerifierKey['algorithm']): VerifierKey => {
    const key = word === undefined ? null : parseVerifierKey(word);
    if (key?.algorithm !== algorithm)
      return fail(at, `${word ?? 'Nothing'} is not the Ed25519 key of a ${algorithm === 'note' ? 'log' : 'witness'}.`);
    const isTwice = [...logs, ...witnesses].some((each) => Buffer.compare(each.key.key, key.key) === 0);
    return isTwice ? fail(at, `The key ${word} is in the policy twice.`) : key;
  };
  const nameAt = (at: number, name: string | undefined): string =>
    name === undefined || name === 'none' || members.has(name)
      ? fail(at, `${name ?? 'Nothing'} is not a new name.`)
      : name;

  for (const [at, line] of lines.entries()) {
    const [kind, ...words] = line.trim().split(/[ \t]+/);
    if (!kind || kind.startsWith('#')) continue;
    if (kind === 'log') logs.push({ key: keyAt(at, words[0], 'note'), url: words[1]?.replace(/\/+$/, '') ?? null });
    else if (kind === 'witness') {
      const name = nameAt(at, words[0]);
      witnesses.push({ name, key: keyAt(at, words[1], 'cosignature'), url: words[2] ?? null });
      members.set(name, (names) => names.has(name));
    } else if (kind === 'group') {
      const [first, threshold, ...all] = words;
      const name = nameAt(at, first);
      for (const each of all) {
        if (!members.has(each)) fail(at, `${each} is not a witness or group of a line above.`);
        if (grouped.has(each)) fail(at, `${each} is in two groups.`);
        grouped.add(each);
      }
      const count =
        threshold === 'all'
          ? all.length
          : threshold === 'any'
            ? 1
            : /^\d+$/.test(threshold ?? '')
              ? Number(threshold)
              : 0;
      if (count < 1 || count > all.length) fail(at, `A group says any, all, or how many of its ${all.length} members.`);
      const enough = all.map((each) => members.get(each)!);
      members.set(name, (names) => enough.filter((isEnough) => isEnough(names)).length >= count);
    } else if (kind === 'quorum') {
      if (quorum !== null) fail(at, 'A policy has one quorum line.');
      const isQuorum = words[0] === 'none' ? () => true : members.get(words[0] ?? '');
      quorum = {
        isQuorum: isQuorum ?? fail(at, `${words[0] ?? 'Nothing'} is not a witness or group of a line above.`),
        quorum: line.trim(),
      };
    } else fail(at, `${kind} is not log, witness, group or quorum.`);
  }
  return {
    logs,
    witnesses,
    ...(quorum ?? fail(lines.length - 1, 'A policy has a quorum line: quorum none, if none is asked for.')),
  };
}

/** Why a checkpoint does not satisfy a policy; null: it does. */
export function policyFault({ logs, witnesses, isQuorum, quorum }: WitnessPolicy, { note }: Checkpoint): string | null {
  const signers = signersOf(
    note,
    [...logs, ...witnesses].map(({ key }) => key),
  );
  if (signers === null) return 'a signature in it is wrong';
  if (logs.length > 0 && !logs.some(({ key }) => signers.includes(key))) return 'no log of the policy has signed it';
  const seenBy = witnesses.filter(({ key }) => signers.includes(key)).map(({ name }) => name);
  if (isQuorum(new Set(seenBy))) return null;
  return `of the witnesses of the policy, ${seenBy.length === 0 ? 'none has' : `only ${seenBy.join(', ')} have`} cosigned it (${quorum})`;
}
