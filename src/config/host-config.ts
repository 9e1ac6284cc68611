import { hostKinds, publicUrls, type HostKind } from '../hosts/host.ts';
import { RegistryError } from '../model/errors.ts';
import { assertNoCredential } from '../model/connection.ts';
import type { SecretName } from './environment.ts';

/** One git host: where its API is and the secret that verifies its webhooks. */
export interface HostConfig {
  kind: HostKind;
  /** Base URL of its repositories, without a trailing slash; null for the public service. */
  url: string | null;
  apiUrl: string | null;
  webhookSecret: SecretName | null;
}

/** A host as it is written. */
export type UserHost = { [key in keyof HostConfig]?: NonNullable<HostConfig[key]> };

/** Fills in a host for every kind, and the defaults of each. */
export function fillHosts(given: { [name in string]?: UserHost } = {}): Record<string, HostConfig> {
  const names = [...new Set([...hostKinds, ...Object.keys(given)])];
  return Object.fromEntries(names.map((name) => [name, fillHost(name, given[name])]));
}

function fillHost(name: string, given: UserHost | undefined): HostConfig {
  const namedKind = hostKinds.find((kind) => kind === name) ?? null;
  const { kind = namedKind, url, apiUrl, webhookSecret } = given ?? {};
  if (kind === null) throw hostFault(name, `needs a kind: ${hostKinds.join(', ')}`);
  if (namedKind !== null && kind !== namedKind)
    throw hostFault(name, `is a host of its own kind. Choose another name for one of the kind ${kind}`);
  // The URLs of an owner's repositories are made of it.
  for (const each of [url, apiUrl]) if (each !== undefined) assertNoCredential(each, `hosts.${name}`);
  const isElsewhere = namedKind === null || publicUrls[namedKind] === null;
  if (given !== undefined && url === undefined && isElsewhere) throw hostFault(name, 'needs the url of the host');
  return {
    kind,
    url: url?.replace(/\/$/, '') ?? null,
    apiUrl: apiUrl?.replace(/\/$/, '') ?? null,
    webhookSecret: webhookSecret ?? null,
  };
}

function hostFault(name: string, what: string): RegistryError {
  return new RegistryError('malformed', `hosts.${name} ${what}.`);
}
