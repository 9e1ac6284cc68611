import { createPublicKey, hash, verify, type KeyObject } from 'node:crypto';

/** Signatures that `ssh-keygen -Y sign` makes, as git stores them in commits (OpenSSH's PROTOCOL.sshsig). */

/** Who signed and what for. */
export interface SshSignature {
  /** The public key, in the form of RFC 4253 §6.6. */
  publicKey: Buffer;
  namespace: string;
  reserved: Buffer;
  hashAlgorithm: string;
  signature: Buffer;
}

const magic = Buffer.from('SSHSIG');
const curves = {
  nistp256: { crv: 'P-256', hash: 'sha256', bytes: 32 },
  nistp384: { crv: 'P-384', hash: 'sha384', bytes: 48 },
  nistp521: { crv: 'P-521', hash: 'sha512', bytes: 66 },
} as const;

/** Parses an armored signature. Null for any other text. */
export function parseSshSignature(text: string): SshSignature | null {
  const [, body] =
    /^-----BEGIN SSH SIGNATURE-----\n([A-Za-z0-9+/=\n]+)-----END SSH SIGNATURE-----\s*$/.exec(text) ?? [];
  const bytes = Buffer.from(body ?? '', 'base64');
  if (!bytes.subarray(0, magic.length).equals(magic) || bytes.readUInt32BE(magic.length) !== 1) return null;
  const [publicKey, namespace, reserved, hashAlgorithm, signature] = fieldsOf(bytes.subarray(magic.length + 4));
  if (signature === undefined) return null;
  return {
    publicKey: publicKey!,
    namespace: String(namespace),
    reserved: reserved!,
    hashAlgorithm: String(hashAlgorithm),
    signature,
  };
}

/** The public key in a line such as `ssh-ed25519 AAAA… alice`. Null for any other text. */
export function parseSshKey(line: string): Buffer | null {
  const [, type, encoded] = /^(\S+) ([A-Za-z0-9+/]+=*)(?: .*)?$/.exec(line.trim()) ?? [];
  const key = Buffer.from(encoded ?? '', 'base64');
  const [name] = fieldsOf(key);
  return type !== undefined && String(name) === type && keyObject(key) !== null ? key : null;
}

/** The fingerprint of a public key, as `ssh-keygen -l` prints it. */
export function sshFingerprint(publicKey: Uint8Array): string {
  return `SHA256:${hash('sha256', publicKey, 'base64').replace(/=+$/, '')}`;
}

/** Whether its key signed the message for git. */
export function isSshSignatureOf(signed: SshSignature, message: Uint8Array): boolean {
  const { publicKey, namespace, reserved, hashAlgorithm, signature } = signed;
  if (namespace !== 'git' || !['sha256', 'sha512'].includes(hashAlgorithm)) return false;
  const key = keyObject(publicKey);
  const [format, blob] = fieldsOf(signature);
  if (key === null || blob === undefined) return false;
  const text = Buffer.concat([
    magic,
    ...[Buffer.from(namespace), reserved, Buffer.from(hashAlgorithm), hash(hashAlgorithm, message, 'buffer')].map(
      field,
    ),
  ]);
  const type = String(format);
  if (type === 'rsa-sha2-256' || type === 'rsa-sha2-512')
    return key.asymmetricKeyType === 'rsa' && verify(type.replace('rsa-sha2-', 'sha'), text, key, blob);
  const [keyType, ...parts] = fieldsOf(publicKey);
  if (type !== String(keyType)) return false;
  // A security key signs the name of its application, flags and a counter, too, which follow the signature.
  const isHeld = type.startsWith('sk-');
  const rest = signature.subarray(8 + format!.byteLength + blob.byteLength);
  if (isHeld && (rest.byteLength !== 5 || (rest[0]! & 1) === 0)) return false;
  const data = isHeld
    ? Buffer.concat([hash('sha256', parts.at(-1)!, 'buffer'), rest, hash('sha256', text, 'buffer')])
    : text;
  if (key.asymmetricKeyType === 'ed25519') return verify(null, data, key, blob);
  const curve = curveOf(parts[0]);
  const [r, s] = fieldsOf(blob);
  if (curve === null || s === undefined) return false;
  const numbers = Buffer.concat([r!, s].map((number) => unsigned(number, curve.bytes)));
  return verify(curve.hash, data, { key, dsaEncoding: 'ieee-p1363' }, numbers);
}

/** A public key as Node has it. Null for a kind that is not known. */
function keyObject(publicKey: Buffer): KeyObject | null {
  const [type, first, second] = fieldsOf(publicKey);
  const name = String(type);
  try {
    if (name === 'ssh-rsa') return jwk({ kty: 'RSA', e: base64(unsigned(first!, 0)), n: base64(unsigned(second!, 0)) });
    if (/^(?:sk-)?ssh-ed25519(?:@openssh\.com)?$/.test(name))
      return jwk({ kty: 'OKP', crv: 'Ed25519', x: base64(first!) });
    const curve = curveOf(first);
    if (curve === null || second?.[0] !== 4 || !/^(?:sk-)?ecdsa-sha2-/.test(name)) return null;
    const [x, y] = [second.subarray(1, 1 + curve.bytes), second.subarray(1 + curve.bytes)];
    return jwk({ kty: 'EC', crv: curve.crv, x: base64(x), y: base64(y) });
  } catch {
    return null;
  }
}

function curveOf(name: Buffer | undefined): (typeof curves)[keyof typeof curves] | null {
  const text = String(name);
  return Object.hasOwn(curves, text) ? curves[text as keyof typeof curves] : null;
}

function jwk(key: Record<string, string>): KeyObject {
  return createPublicKey({ key, format: 'jwk' });
}

function base64(bytes: Buffer): string {
  return bytes.toString('base64url');
}

/** A number without its sign byte, with as many bytes as asked for at least. */
function unsigned(number: Buffer, bytes: number): Buffer {
  const digits = number.subarray(number[0] === 0 ? 1 : 0);
  return Buffer.concat([Buffer.alloc(Math.max(0, bytes - digits.byteLength)), digits]);
}

/** The strings of a message, each with its length before it, as far as they are whole. */
function fieldsOf(bytes: Buffer): Buffer[] {
  const fields: Buffer[] = [];
  for (let at = 0; at + 4 <= bytes.byteLength;) {
    const end = at + 4 + bytes.readUInt32BE(at);
    if (end > bytes.byteLength) break;
    fields.push(bytes.subarray(at + 4, end));
    at = end;
  }
  return fields;
}

function field(bytes: Uint8Array): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.byteLength);
  return Buffer.concat([length, bytes]);
}
