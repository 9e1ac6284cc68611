import { lookup as lookupAddress } from 'node:dns/promises';
import { BlockList, isIP, isIPv6 } from 'node:net';
import { RegistryError } from '../model/errors.ts';
import type { Location } from './location.ts';

/** Finds the addresses of a host, as `getaddrinfo` does. Rejects where it has none. */
export type Lookup = (host: string) => Promise<string[]>;

/** The system's resolver. */
export async function lookup(host: string): Promise<string[]> {
  return (await lookupAddress(host, { all: true })).map(({ address }) => address);
}

// IANA special-purpose address registries (RFC 6890): whatever is not globally reachable.
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

/** Whether an IP address is one of the public internet: not of a private network, this machine, or a tunnel to either. */
export function isPublicAddress(address: string): boolean {
  if (!isIPv6(address)) return !special.check(address, 'ipv4');
  return global6.check(address, 'ipv6') && !special6.check(address, 'ipv6');
}

/**
 * The addresses that a host may be contacted at, found once so that nothing can change between the check and the connection.
 * Refuses with `forbidden` a host that has an address outside the public internet and that the configuration does not name; with
 * `unreachable` a host that does not exist.
 */
export async function resolveHost(location: Exclude<Location, { kind: 'local' }>, find: Lookup): Promise<string[]> {
  const { host, url, isListed } = location;
  const addresses = isIP(host) ? [host] : await find(host).catch((cause: unknown) => unresolved(host, url, cause));
  if (!isListed && !addresses.every(isPublicAddress)) {
    throw new RegistryError(
      'forbidden',
      `${host} is an address of a private network: to allow it, name the host in sync.hosts.`,
    );
  }
  return addresses;
}

function unresolved(host: string, url: string, cause: unknown): never {
  const isAbsent = (cause as NodeJS.ErrnoException).code === 'ENOTFOUND';
  throw new RegistryError(
    'unreachable',
    isAbsent
      ? `There is no host named ${host} (repository ${url}): check the URL's spelling.`
      : `The name server does not answer for ${host} (repository ${url}).`,
    { cause },
  );
}
