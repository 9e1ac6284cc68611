import { fileURLToPath } from 'node:url';
import { codeOf, type RegistryError, malformed, forbidden, unreachable } from '../model/errors.ts';
import { assertNoCredential } from '../model/connection.ts';
import { lookup as lookupAddress } from 'node:dns/promises';
import { BlockList, isIP, isIPv6, type LookupFunction } from 'node:net';

/** Which repositories may be contacted (design §10). */
export interface Reach {
  /** Whether local paths are allowed. */
  allowLocalRepositories: boolean;
  /**
   * The allowed hosts: `github.com`, `git.example.com:8443`. Without a port, the scheme's default
   * port. Plain http needs an entry with the scheme: `http://10.0.0.5:3000`. Null: every host by
   * https and ssh, except in private networks.
   */
  hosts: readonly string[] | null;
}

/** A parsed repository address. `url` is passed to git and shown to people, and never contains a credential. */
export type Location =
  | { kind: 'local'; url: string }
  | {
      kind: 'http' | 'https' | 'ssh';
      url: string;
      /** Lower case. An IPv6 address has no brackets. */
      host: string;
      port: number;
      /** Whether the configuration names this host, which allows a private address. */
      isListed: boolean;
    };

const defaultPorts = { http: 80, https: 443, ssh: 22 } as const;
// `user@host:path` as in git-clone(1): no slash before the first colon.
const scpForm = /^(?:(?<user>[^@:/\s]+)@)?(?<host>\[[0-9a-f:.]+\]|[^@:/\s[\]]+):(?<path>.+)$/i;
const hostGrammar = /^(?:[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_.])?|\[[0-9a-f:.]+\])$/;
const userGrammar = /^[a-z0-9_][a-z0-9_.-]*$/i;

/**
 * Parses the URL or path of a repository. Throws `malformed` when it is invalid or contains a
 * credential, a query or control characters, and `forbidden` when its scheme or host is not
 * allowed. Contacts nobody.
 */
export function parseLocation(text: string, reach: Reach): Location {
  if (/\p{Cc}/u.test(text) || !text.isWellFormed()) {
    throw malformed('A repository URL must not contain control characters.');
  }
  if (text.startsWith('/') || /^file:/i.test(text)) return parseLocal(text, reach);
  if (/\s/u.test(text)) throw malformed('A repository URL must not contain spaces.');
  assertNoCredential(text);
  const scp = text.includes('://') ? null : scpForm.exec(text)?.groups;
  if (scp) return parseScp(text, scp, reach);
  const url = URL.parse(text);
  if (url === null) {
    throw malformed('The repository must be an https or ssh URL, or the absolute path of a folder.');
  }
  const kind = url.protocol.slice(0, -1);
  if (kind !== 'https' && kind !== 'http' && kind !== 'ssh') {
    throw forbidden(`Use an https or ssh URL for the repository, not ${JSON.stringify(url.protocol)}.`);
  }
  const host = url.hostname.toLowerCase();
  if (!hostGrammar.test(host) || (url.username !== '' && !userGrammar.test(url.username))) throw badHost();
  const port = url.port === '' ? defaultPorts[kind] : Number(url.port);
  const user = url.username === '' ? '' : `${url.username}@`;
  const authority = `${user}${host}${url.port === '' ? '' : `:${url.port}`}`;
  return reachable(kind, `${kind}://${authority}${url.pathname}`, host, port, reach);
}

function parseLocal(text: string, { allowLocalRepositories }: Reach): Location {
  if (!allowLocalRepositories) {
    throw forbidden('Local repositories are not allowed. Set sync.allowLocalRepositories to allow them.');
  }
  if (text.startsWith('/')) return { kind: 'local', url: text };
  const url = URL.parse(text);
  if (url === null || url.host !== '' || /%(?:2f|00)/i.test(url.pathname)) {
    throw malformed('Write the file URL of a repository as file:///absolute/path.');
  }
  return { kind: 'local', url: fileURLToPath(url) };
}

function parseScp(
  text: string,
  { user, host = '', path = '' }: Partial<Record<string, string>>,
  reach: Reach,
): Location {
  if (path.startsWith(':')) {
    throw forbidden(`Use an https or ssh URL for the repository, not "${host}::".`);
  }
  const name = host.toLowerCase();
  if (!hostGrammar.test(name) || path.startsWith('-') || (user !== undefined && !userGrammar.test(user))) {
    throw badHost();
  }
  return reachable('ssh', text, name, defaultPorts.ssh, reach);
}

function reachable(
  kind: 'http' | 'https' | 'ssh',
  url: string,
  bracketed: string,
  port: number,
  { hosts }: Reach,
): Location {
  const isDefault = port === defaultPorts[kind];
  const names = [`${bracketed}:${port}`, ...(isDefault ? [bracketed] : [])];
  const scheme = kind === 'http' ? 'http://' : '';
  const isListed = hosts?.some((entry) => names.some((name) => entry.toLowerCase() === scheme + name)) ?? false;
  if (kind === 'http' && !isListed) {
    throw forbidden(`${url} is not encrypted. Use https, or add "http://${bracketed}:${port}" to sync.hosts.`);
  }
  if (hosts !== null && !isListed) {
    throw forbidden(
      `The host ${isDefault ? bracketed : `${bracketed}:${port}`} is not allowed. To allow it, add it to sync.hosts.`,
    );
  }
  return { kind, url, host: bracketed.replace(/^\[|\]$/g, ''), port, isListed };
}

function badHost(): RegistryError {
  return malformed('The repository URL has an invalid host or user name.');
}

/** Resolves a host name to addresses, like `getaddrinfo`. Rejects when it has none. */
export type Lookup = (host: string) => Promise<string[]>;

/** The system's resolver. */
export async function lookup(host: string): Promise<string[]> {
  return (await lookupAddress(host, { all: true })).map(({ address }) => address);
}

// IANA special-purpose address registries (RFC 6890): all that is not globally reachable.
const special = new BlockList();
for (const [network, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
] as const) {
  special.addSubnet(network, bits, 'ipv4');
}
const global6 = new BlockList();
global6.addSubnet('2000::', 3, 'ipv6');
const special6 = new BlockList();
for (const [network, bits] of [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const) {
  special6.addSubnet(network, bits, 'ipv6');
}

/**
 * Whether an IP address belongs to the public internet, rather than to a private network, this
 * machine, or a tunnel to either.
 */
export function isPublicAddress(address: string): boolean {
  if (!isIPv6(address)) return !special.check(address, 'ipv4');
  return global6.check(address, 'ipv6') && !special6.check(address, 'ipv6');
}

/**
 * Resolves a host once, so that the addresses cannot change between the check and the connection.
 * Rejects with `forbidden` when the host has a non-public address and the configuration does not
 * name it, and with `unreachable` when it does not exist. `isProxied`: a proxy resolves the host again, and may
 * know names that this machine does not; then there are no addresses.
 */
export async function resolveHost(
  location: Exclude<Location, { kind: 'local' }>,
  find: Lookup,
  { isProxied = false } = {},
): Promise<string[]> {
  const { host, url, isListed } = location;
  const absent = (cause: unknown): string[] => (isProxied ? [] : unresolved(host, url, cause));
  const addresses = isIP(host) ? [host] : await find(host).catch(absent);
  if (!isListed && !addresses.every(isPublicAddress)) {
    throw forbidden(`${host} has a private network address. To allow it, add the host to sync.hosts.`);
  }
  return addresses;
}

/** A lookup that returns only these addresses, so that only checked addresses are connected to. */
export function lookupAmong(addresses: readonly string[]): LookupFunction {
  const all = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_host, options, answer) => {
    if (options.all) answer(null, all);
    else answer(null, all[0]!.address, all[0]!.family);
  };
}

function unresolved(host: string, url: string, cause: unknown): never {
  const isAbsent = codeOf(cause) === 'ENOTFOUND';
  throw unreachable(
    isAbsent
      ? `There is no host named ${host} (repository ${url}). Check the spelling of the URL.`
      : `The name server did not answer for ${host} (repository ${url}).`,
    { cause },
  );
}
