import { sign } from 'node:crypto';
import { keyId, signingKey, type NoteSignature, type SigningKey } from '../../../src/model/transparency/note.ts';

/** The key of a witness, with this seed of 32 bytes. */
export function cosigningKey(name: string, seed: Uint8Array): SigningKey {
  return { ...signingKey(name, seed), algorithm: 'cosignature' };
}

/** Cosigns the text of a checkpoint as a witness does (C2SP tlog-cosignature). `time`: seconds since 1970. */
export function cosign(key: SigningKey, text: string, time: number): NoteSignature {
  const signature = sign(null, Buffer.from(`cosignature/v1\ntime ${time}\n${text}`), key.secret);
  const timestamp = Buffer.alloc(8);
  timestamp.writeBigUInt64BE(BigInt(time));
  return { name: key.name, id: keyId(key), signature: Buffer.concat([timestamp, signature]) };
}
