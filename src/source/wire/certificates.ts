import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { getCACertificates } from 'node:tls';

/**
 * Writes the certificates that this process trusts, and those of the system, to a file for git. Returns its path.
 * Git takes one file only, so a private authority alone would make it distrust all others.
 */
export async function writeCertificates(folder: string): Promise<string> {
  const all = new Set([...getCACertificates('default'), ...getCACertificates('system')]);
  const path = join(folder, 'certificates.pem');
  const draft = `${path}.${process.pid}`;
  await writeFile(draft, [...all].join('\n'), { mode: 0o600 });
  await rename(draft, path);
  return path;
}
