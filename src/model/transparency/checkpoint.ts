import { formatNote, parseNote, type Note } from './note.ts';
import type { TreeHead } from './tree.ts';

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
