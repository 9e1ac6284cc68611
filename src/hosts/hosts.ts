import { createPrivateKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Config } from '../config.ts';
import { credentialUses, readCredential } from '../config/credential-config.ts';
import { type RegistryError, forbidden, malformed } from '../model/errors.ts';
import { createAzure } from './azure.ts';
import { createBitbucket } from './bitbucket.ts';
import { createBitbucketServer } from './bitbucket-server.ts';
import { createGitea } from './gitea.ts';
import { createGitHub } from './github.ts';
import { createGitLab } from './gitlab.ts';
import { productOf, type Host, type HostKind } from './host.ts';
import type { ApiCredential, HostSettings } from './ask.ts';

const create: Record<HostKind, (settings: HostSettings) => Host> = {
  github: createGitHub,
  gitlab: createGitLab,
  gitea: createGitea,
  bitbucket: createBitbucket,
  'bitbucket-server': createBitbucketServer,
  azure: createAzure,
};

/**
 * Creates the git hosts of the configuration and the public ones. Called by `open.ts`. `second`:
 * milliseconds per second of waiting.
 */
export function createHosts(config: Config, { second = 1000 }: { second?: number } = {}): readonly Host[] {
  return Object.entries(config.hosts).flatMap(([name, given]) => {
    const { publicUrl, api } = productOf(given.kind);
    const url = given.url ?? publicUrl;
    if (url === null) return [];
    const apiUrl = given.apiUrl ?? (given.url === null ? api.url! : url + api.path);
    const credential = (wanted: string | null) =>
      wanted === null ? null : findCredential(config, given.kind, url, wanted);
    return [create[given.kind]({ name, url, apiUrl, second, credential, stopping: new AbortController() })];
  });
}

function findCredential(config: Config, kind: HostKind, url: string, name: string): ApiCredential | null {
  const credential = Object.hasOwn(config.credentials, name) ? config.credentials[name]! : null;
  if (credential !== null && 'githubApp' in credential) {
    const { appId, privateKeyFile } = credential.githubApp;
    if (kind !== 'github') throw notFor(name, url);
    return { kind: 'app', appId: String(appId), privateKey: readPrivateKey(name, privateKeyFile) };
  }
  const resolved = readCredential(config, name);
  if (resolved.kind === 'ssh') return null;
  const hosts = hostsOf(config, name);
  if (hosts.length > 0 && !hosts.includes(new URL(url).host)) throw notFor(name, url);
  return resolved;
}

/**
 * The hosts that a token may be sent to: the one that it is bound to, or else the hosts of
 * configured repositories that name it. When there are none, only connections name it, and it may
 * be sent to the host of each.
 */
function hostsOf(config: Config, name: string): string[] {
  const { host } = config.credentials[name] as { host?: string };
  if (host !== undefined) return [host.toLowerCase()];
  return credentialUses(config).flatMap(({ url, credential }) => (credential === name ? (webHostOf(url) ?? []) : []));
}

/** `host[:port]` of an https URL; of another URL, only the host. */
function webHostOf(url: string): string | null {
  if (!url.includes('://')) return /^(?:[^@:/\s]+@)?([^@:/\s]+):/.exec(url)?.[1]?.toLowerCase() ?? null;
  const { protocol, host, hostname } = new URL(url);
  return (protocol === 'ssh:' ? hostname : host).toLowerCase();
}

function notFor(name: string, url: string): RegistryError {
  return forbidden(`The credential ${JSON.stringify(name)} must not be sent to ${new URL(url).host}.`);
}

/** Reads the key of a GitHub app. Throws `malformed`. */
export function readPrivateKey(name: string, file: string): string {
  try {
    const text = readFileSync(file, 'utf8');
    createPrivateKey(text);
    return text;
  } catch {
    throw malformed(`The private key of the credential ${JSON.stringify(name)} cannot be read.`);
  }
}
