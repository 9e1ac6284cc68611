import { organizationIn } from '../config/organization-config.ts';
import type { CommitSigner } from '../model/artifact.ts';
import { isSshSignatureOf, parseSshKey, parseSshSignature, sshFingerprint } from '../model/ssh-signature.ts';
import type { CommitSignature } from '../source/snapshot.ts';
import type { Registry } from './registry.ts';

/**
 * Who signed a commit, of those whom the configuration names as signers of the organization. Null without a signature, and
 * for one that is not by any of them or does not hold.
 */
export async function signerOf(
  { config }: Pick<Registry, 'config'>,
  org: string,
  signature: CommitSignature | null | undefined,
): Promise<CommitSigner | null> {
  const signers = organizationIn(config, org)?.signers ?? [];
  if (!signature || signers.length === 0) return null;
  const signed = parseSshSignature(signature.text);
  if (signed !== null) {
    const signer = signers.find(({ key }) => parseSshKey(key)?.equals(signed.publicKey));
    if (signer === undefined || !isSshSignatureOf(signed, signature.payload)) return null;
    return { name: signer.name, key: sshFingerprint(signed.publicKey) };
  }
  for (const { name, key } of signers) {
    if (!key.includes('BEGIN PGP')) continue;
    const fingerprint = await openPgpSigner(key, signature);
    if (fingerprint !== null) return { name, key: fingerprint };
  }
  return null;
}

/** The fingerprint of the key, if it signed the commit. Null if not, and for a text that is no signature. */
async function openPgpSigner(armoredKey: string, { text, payload }: CommitSignature): Promise<string | null> {
  const openpgp = await import('openpgp');
  try {
    const [key, signature, message] = await Promise.all([
      openpgp.readKey({ armoredKey }),
      openpgp.readSignature({ armoredSignature: text }),
      openpgp.createMessage({ binary: payload }),
    ]);
    // A key that has expired since was good when it signed.
    const date = signature.packets[0]?.created;
    const { signatures } = await openpgp.verify({ message, signature, verificationKeys: key, ...(date && { date }) });
    await signatures[0]?.verified;
    return signatures.length === 0 ? null : key.getFingerprint();
  } catch {
    return null;
  }
}
