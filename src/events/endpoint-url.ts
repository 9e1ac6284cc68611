import { isIP } from 'node:net';
import { isPublicAddress } from '../source/allowed-address.ts';
import type { Registry } from '../registry/registry.ts';

/**
 * The URL of an endpoint, or in words what is wrong with it. Names are not looked up here: where they lead is checked at each delivery, when it
 * counts.
 */
export function readEndpointUrl({ config }: Pick<Registry, 'config'>, text: string): { url: URL } | { fault: string } {
  const isPrivateAllowed = config.webhooks.allowPrivateAddresses;
  const url = URL.parse(text);
  if (url === null) return { fault: 'must be a URL' };
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isPrivateAllowed))
    return { fault: 'must be an https URL' };
  if (url.username !== '' || url.password !== '') return { fault: 'must hold no user name and no password' };
  if (url.hash !== '') return { fault: 'must have no fragment' };
  const host = hostOf(url);
  const isLocal = isIP(host) ? !isPublicAddress(host) : /(?:^|\.)localhost\.?$/.test(host);
  if (isLocal && !isPrivateAllowed) return { fault: 'must not be an address of a private network' };
  return { url };
}

/** The host to be looked up: an address without the brackets that URLs put around those of IPv6. */
export function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, '$1');
}
