import { createPrivateKey, createPublicKey, hash, sign, verify, type KeyObject } from 'node:crypto';

/** Signed notes (C2SP signed-note) and cosignatures of checkpoints (C2SP tlog-cosignature). */

/** What a key signs, by the byte that its id is made with. */
const algorithms = { note: 0x01, cosignature: 0x04 } as const;
type Algorithm = keyof typeof algorithms;

/** A key that verifies signatures: a *vkey*. */
export interface VerifierKey {
  /** Who signs: the origin of a log, or the name of a witness. */
  name: string;
  algorithm: Algorithm;
  /** The raw public key. */
  key: Uint8Array;
}

/** A key that signs. */
export interface SigningKey extends VerifierKey {
  secret: KeyObject;
}

/** A text with its signature lines. */
export interface Note {
  /** Ends with a newline. */
  text: string;
  signatures: NoteSignature[];
}

export interface NoteSignature {
  name: string;
  /** The id of the key as 8 hexadecimal digits. */
  id: string;
  signature: Buffer;
}

/** Bytes of notes that are read, and signatures in one. */
const maxNote = 256 * 1024;
const maxSignatures = 64;

const namePattern = /^[^\s+\p{Z}]+$/u;
const spkiPrefix = Buffer.from('302a300506032b6570032100', 'hex');
const pkcs8Prefix = Buffer.from('302e020100300506032b657004220420', 'hex');
const keyLength = 32;

/** The Ed25519 key with this seed of 32 bytes. `name` must be a key name: without spaces and `+`. */
export function signingKey(name: string, seed: Uint8Array): SigningKey {
  const secret = createPrivateKey({ key: Buffer.concat([pkcs8Prefix, seed]), format: 'der', type: 'pkcs8' });
  const spki = createPublicKey(secret).export({ format: 'der', type: 'spki' });
  return { name, algorithm: 'note', key: spki.subarray(spkiPrefix.length), secret };
}

/** The id of a key: 8 hexadecimal digits. */
export function keyId({ name, algorithm, key }: VerifierKey): string {
  return hash('sha256', Buffer.concat([Buffer.from(`${name}\n`), Buffer.of(algorithms[algorithm]), key])).slice(0, 8);
}

/** A key as text: `name+id+base64`. */
export function formatVerifierKey(key: VerifierKey): string {
  const bytes = Buffer.concat([Buffer.of(algorithms[key.algorithm]), key.key]);
  return `${key.name}+${keyId(key)}+${bytes.toString('base64')}`;
}

/** Parses a key. Null for any other text, and for algorithms that are not known. */
export function parseVerifierKey(text: string): VerifierKey | null {
  const [, name, id, encoded] = /^([^+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/]+=*)$/.exec(text) ?? [];
  if (name === undefined || !namePattern.test(name)) return null;
  const bytes = Buffer.from(encoded!, 'base64');
  const algorithm = (Object.keys(algorithms) as Algorithm[]).find((each) => algorithms[each] === bytes[0]);
  if (algorithm === undefined || bytes.length !== keyLength + 1) return null;
  const key = { name, algorithm, key: bytes.subarray(1) };
  return keyId(key) === id ? key : null;
}

/** Writes a note: the text, an empty line, and a line for each signature. */
export function formatNote({ text, signatures }: Note): string {
  return `${text}\n${signatures.map(formatSignature).join('')}`;
}

/** A signature as the line of a note, with its newline. */
export function formatSignature({ name, id, signature }: NoteSignature): string {
  return `— ${name} ${Buffer.concat([Buffer.from(id, 'hex'), signature]).toString('base64')}\n`;
}

/** Parses a note. Null for any other text. */
export function parseNote(note: string): Note | null {
  const end = note.lastIndexOf('\n\n');
  // oxlint-disable-next-line no-control-regex -- notes must not have these characters
  if (end < 0 || note.length > maxNote || !note.endsWith('\n') || /[\u0000-\u0009\u000b-\u001f]/.test(note))
    return null;
  const signatures = parseSignatures(note.slice(end + 2));
  return signatures && signatures.length > 0 ? { text: note.slice(0, end + 1), signatures } : null;
}

/** Parses signature lines. Null if a line is none. */
export function parseSignatures(lines: string): NoteSignature[] | null {
  const signatures: NoteSignature[] = [];
  for (const line of lines.split('\n').slice(0, -1)) {
    const [, name, encoded] = /^— (\S+) ([A-Za-z0-9+/]+=*)$/u.exec(line) ?? [];
    const bytes = Buffer.from(encoded ?? '', 'base64');
    if (name === undefined || bytes.length < 5 || signatures.length === maxSignatures) return null;
    signatures.push({ name, id: bytes.subarray(0, 4).toString('hex'), signature: bytes.subarray(4) });
  }
  return signatures;
}

/** Signs a text as its author. */
export function signText(key: SigningKey, text: string): NoteSignature {
  return { name: key.name, id: keyId(key), signature: sign(null, Buffer.from(text), key.secret) };
}

/**
 * The keys by which a note is signed. Null if a signature claims to be by one of them and is not:
 * such a note is not to be trusted at all. Signatures by others are ignored.
 */
export function signersOf<K extends VerifierKey>({ text, signatures }: Note, keys: readonly K[]): K[] | null {
  const signers: K[] = [];
  for (const { name, id, signature } of signatures) {
    const key = keys.find((each) => each.name === name && keyId(each) === id);
    if (key === undefined) continue;
    if (!isSignatureOf(key, text, signature)) return null;
    signers.push(key);
  }
  return signers;
}

function isSignatureOf(key: VerifierKey, text: string, signature: Buffer): boolean {
  if (key.algorithm === 'note') return verify(null, Buffer.from(text), ed25519(key.key), signature);
  if (signature.length < 8) return false;
  const message = `cosignature/v1\ntime ${signature.readBigUInt64BE()}\n${text}`;
  return verify(null, Buffer.from(message), ed25519(key.key), signature.subarray(8));
}

function ed25519(key: Uint8Array): KeyObject {
  return createPublicKey({ key: Buffer.concat([spkiPrefix, key]), format: 'der', type: 'spki' });
}
