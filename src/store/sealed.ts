import { digestOf, isDigest, type Digest } from '../model/digest.ts';
import { isObject, parseJson } from '../model/json.ts';

/** JSON whose last member, `digest`, is the digest of all bytes before it. */

const seal = (digest: Digest): string => `,"digest":"${digest}"}`;
const sealLength = seal(digestOf('')).length;

/** Adds its digest to the text of a JSON object. */
export function encodeSealed(text: string): { bytes: Uint8Array; digest: Digest } {
  const open = Buffer.from(text.slice(0, -1));
  const digest = digestOf(open);
  return { bytes: Buffer.concat([open, Buffer.from(seal(digest))]), digest };
}

/** The object in the bytes. Null unless they are what `encodeSealed` wrote. */
export function decodeSealed<T extends object>(bytes: Uint8Array): (Partial<T> & { digest: Digest }) | null {
  const value = parseJson(bytes);
  const digest = isObject(value) ? String(value['digest']) : '';
  if (!isDigest(digest) || digest !== digestOf(bytes.subarray(0, -sealLength))) return null;
  return value as Partial<T> & { digest: Digest };
}
