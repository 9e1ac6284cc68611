import { pathOn } from './name.ts';
import { decodePercent } from '../model/text/decode.ts';

/** The hosts of the same organizations besides dev.azure.com: by name, and for ssh. */
const oldWebHost = /^([a-z0-9-]+)\.visualstudio\.com$/i;
const oldSshHost = 'vs-ssh.visualstudio.com';

/**
 * The name of a repository in its URL (https, ssh) on Azure DevOps at `base`:
 * `organization/project/repository`, on a server `collection/project/repository`. Each part is
 * lower case and percent-encoded, because projects may have spaces in their names. Null for a URL
 * of another host.
 */
export function azureNameOn(base: string, url: string): string | null {
  const path = pathOn(base, url);
  if (path !== null) return nameIn(path.path);
  const isPublic = new URL(base).hostname === 'dev.azure.com';
  const parsed = isPublic ? URL.parse(url) : null;
  const organization = parsed?.protocol === 'https:' ? oldWebHost.exec(parsed.hostname)?.[1] : undefined;
  if (organization !== undefined) return nameIn(`${organization}${parsed!.pathname}`);
  const ssh = isPublic ? pathOn(`https://${oldSshHost}`, url) : null;
  return ssh === null || ssh.isWeb ? null : nameIn(ssh.path);
}

function nameIn(path: string): string | null {
  const parts = path
    .replace(/\/$/, '')
    .split('/')
    // The collection of old URLs, which every organization has.
    .filter((part, index) => index === 0 || !/^defaultcollection$/i.test(part));
  const isShort = parts.length === 3 && parts[1] === '_git';
  if (isShort) return join([parts[0]!, parts[2]!, parts[2]!]);
  if (parts.length === 4 && parts[2] === '_git') return join([parts[0]!, parts[1]!, parts[3]!]);
  if (parts.length === 4 && /^v3$/i.test(parts[0]!)) return join(parts.slice(1));
  return null;
}

function join(parts: readonly string[]): string | null {
  const names = parts.map(asPart);
  return names.every((part) => part !== null) ? names.join('/') : null;
}

/** A part of a name from a URL, in its one form; null if it is invalid. */
function asPart(text: string): string | null {
  const plain = decodePercent(text)?.normalize('NFC').toLowerCase();
  if (plain === undefined || plain.length === 0 || plain.length > 100 || !plain.isWellFormed()) return null;
  if (/[\p{Cc}/\\]/u.test(plain) || /^\.{1,2}$/.test(plain)) return null;
  return encodeURIComponent(plain).toLowerCase();
}
