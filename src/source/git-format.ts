import { visibleLine } from '../model/escape.ts';
import type { SnapshotEntry, CommitPerson, CommitSignature } from './snapshot.ts';
import { isPlainSegment } from './git-names.ts';
import type { CommitNote } from '../model/resource.ts';
import { createHash } from 'node:crypto';

/** An entry of a tree. */
export interface TreeEntry {
  name: string;
  kind: SnapshotEntry['kind'] | 'folder';
  id: string;
}

/**
 * Parses a tree object: `<octal mode> <name>NUL<20 bytes of id>`, repeated. Skips names
 * that no path can contain, and repeated names.
 */
export function parseTree(bytes: Buffer): TreeEntry[] {
  const entries = new Map<string, TreeEntry & { key: Buffer }>();
  for (let position = 0; position < bytes.length;) {
    const space = bytes.indexOf(0x20, position);
    const end = bytes.indexOf(0, space + 1);
    if (space < 0 || end < 0 || end + 21 > bytes.length) throw new TypeError('A tree object is cut off.');
    const mode = Number.parseInt(bytes.toString('latin1', position, space), 8);
    const raw = bytes.subarray(space + 1, end);
    const id = bytes.toString('hex', end + 1, end + 21);
    position = end + 21;
    const name = decodeName(raw);
    const kind = kindOf(mode);
    if (name === null || !isPlainSegment(name) || name.includes('/') || entries.has(name)) continue;
    entries.set(name, { name, kind, id, key: kind === 'folder' ? Buffer.concat([raw, Buffer.from('/')]) : raw });
  }
  return [...entries.values()]
    .sort((a, b) => Buffer.compare(a.key, b.key))
    .map(({ name, kind, id }) => ({ name, kind, id }));
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The name of a file, or its path. Null: it is not UTF-8. */
export function decodeName(raw: Buffer): string | null {
  try {
    return decoder.decode(raw);
  } catch {
    return null;
  }
}

function kindOf(mode: number): TreeEntry['kind'] {
  const type = mode & 0o170000;
  if (type === 0o040000) return 'folder';
  if (type === 0o120000) return 'symlink';
  return type === 0o160000 ? 'submodule' : 'file';
}

/** The parts of a commit object that Stele uses. */
export interface Commit {
  /** Id of its root tree. */
  tree: string;
  /** See Snapshot. */
  committedAt: string | null;
  note: CommitNote | null;
  signature: CommitSignature | null;
}

/** Bytes of a signature, and of a commit whose signature is looked at. */
const maxSignature = 64 * 1024;
const maxSigned = 2 ** 20;

/** Parses a commit object (git-cat-file(1)): header lines, an empty line, the message. Null: it names no tree. */
export function parseCommit(bytes: Buffer): Commit | null {
  const end = bytes.indexOf('\n\n');
  const head = bytes.toString('latin1', 0, end < 0 ? bytes.length : end);
  const tree = /^tree ([0-9a-f]{40})$/m.exec(head)?.[1];
  if (tree === undefined) return null;
  const committedAt = parseSeconds(/^committer .*>\s*(\d+)/m.exec(head)?.[1] ?? '');
  const note = end < 0 ? null : parseNote(bytes, end);
  const signature = parseSignature(bytes, head);
  return { tree, committedAt, note, signature };
}

/** Somebody as a commit or a trailer names them. */
export function personFrom(name: string, email: string): CommitPerson {
  return { name: visibleLine(name, longest.author), email: visibleLine(email, longest.email) };
}

/** The header `gpgsig`, whose lines after the first begin with a space (gitformat-signature(5)). */
function parseSignature(bytes: Buffer, head: string): CommitSignature | null {
  const [all] = /^gpgsig .*\n(?: .*\n)*/m.exec(`${head}\n`) ?? [];
  if (all === undefined || all.length > maxSignature || bytes.byteLength > maxSigned) return null;
  const at = head.indexOf(all.slice(0, -1));
  const payload = Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + all.length)]);
  const text = all.slice('gpgsig '.length).replaceAll('\n ', '\n');
  return { payload, text: text.trimEnd() };
}

/** The longest author, address and subject that are kept, in characters. */
const longest = { author: 80, email: 320, subject: 140 };

/**
 * The author's name and the first line of the message. Null if either is missing. A name that holds
 * an address is left out, since addresses are not published.
 */
function parseNote(bytes: Buffer, end: number): CommitNote | null {
  const [, name = ''] = /^author ([^<\n]*)/m.exec(bytes.toString('utf8', 0, end)) ?? [];
  const message = bytes.toString('utf8', end + 2, end + 2 + 4096).trimStart();
  const subject = visibleLine(message.slice(0, message.search(/\n|$/)), longest.subject);
  const author = visibleLine(name, longest.author);
  return author === '' || author.includes('@') || subject === '' ? null : { author, subject };
}

/** The ids of a commit object's parents. */
export function parseParents(bytes: Buffer): string[] {
  const [head = ''] = bytes.toString('latin1').split('\n\n', 1);
  return [...head.matchAll(/^parent ([0-9a-f]{40})$/gm)].map(([, id]) => id!);
}

/** ISO 8601 in UTC of seconds since 1970. Null when the text is not a number or lies after the year 9999. */
export function parseSeconds(text: string): string | null {
  const date = new Date(/^\d{1,12}$/.test(text) ? 1000 * Number(text) : Number.NaN);
  if (Number.isNaN(date.getTime()) || date.getUTCFullYear() > 9999) return null;
  return date.toISOString();
}

/** The git id of a file's content. */
export function blobId(bytes: Uint8Array): string {
  return objectId('blob', bytes);
}

/** The git id of an object (SHA-1 of its type, its size, NUL and the bytes). */
export function objectId(type: string, bytes: Uint8Array): string {
  return createHash('sha1').update(`${type} ${bytes.length}\0`).update(bytes).digest('hex');
}
