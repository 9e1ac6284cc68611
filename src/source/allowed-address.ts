import { lookup as lookupAddress } from 'node:dns/promises';
import { BlockList, isIP, isIPv6, type LookupFunction } from 'node:net';
import { RegistryError } from '../model/errors.ts';
import type { Location } from './location.ts';

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
    throw new RegistryError(
      'forbidden',
      `${host} has a private network address. To allow it, add the host to sync.hosts.`,
    );
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
  const isAbsent = (cause as NodeJS.ErrnoException).code === 'ENOTFOUND';
  throw new RegistryError(
    'unreachable',
    isAbsent
      ? `There is no host named ${host} (repository ${url}). Check the spelling of the URL.`
      : `The name server did not answer for ${host} (repository ${url}).`,
    { cause },
  );
}
