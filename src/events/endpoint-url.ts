import { isIP } from 'node:net';
import { isPublicAddress } from '../source/location.ts';
import type { Registry } from '../registry/registry.ts';

/**
 * Parses an endpoint's URL, or says what is wrong with it. Does not resolve host names: that
 * happens at each delivery.
 */
export function readEndpointUrl({ config }: Pick<Registry, 'config'>, text: string): { url: URL } | { fault: string } {
  const isPrivateAllowed = config.webhooks.allowPrivateAddresses;
  const url = URL.parse(text);
  if (url === null) return { fault: 'must be a URL' };
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isPrivateAllowed))
    return { fault: 'must be an https URL' };
  if (url.username !== '' || url.password !== '') return { fault: 'must not contain a user name or password' };
  if (url.hash !== '') return { fault: 'must not contain a fragment' };
  const host = hostOf(url);
  const isLocal = isIP(host) ? !isPublicAddress(host) : /(?:^|\.)localhost\.?$/.test(host);
  if (isLocal && !isPrivateAllowed) return { fault: 'must not be a private network address' };
  return { url };
}

/** The host to resolve. IPv6 addresses have no brackets. */
export function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, '$1');
}
