import { fileURLToPath } from 'node:url';
import { RegistryError } from '../model/errors.ts';

/** Which repositories may be reached (design §10). */
export interface Reach {
  /** Whether a local path may be a repository. */
  allowLocalRepositories: boolean;
  /**
   * The hosts that may be contacted: `github.com`, `git.example.com:8443`; without a port, the scheme's own. Plain http is possible only for an entry that
   * says so: `http://10.0.0.5:3000`. Null: every host by https and ssh, but none in a private network.
   */
  hosts: readonly string[] | null;
}

/** A repository's address, taken apart once. `url` is what git gets, and what people are shown: it never holds a credential. */
export type Location =
  | { kind: 'local'; url: string }
  | {
      kind: 'http' | 'https' | 'ssh';
      url: string;
      /** Lower case; an IPv6 address without its brackets. */
      host: string;
      port: number;
      /** Whether the configuration names this host, so that a private address is meant. */
      isListed: boolean;
    };

const defaultPorts = { http: 80, https: 443, ssh: 22 } as const;
// `user@host:path`, as git-clone(1) reads it: no slash before the first colon.
const scpForm = /^(?:(?<user>[^@:/\s]+)@)?(?<host>\[[0-9a-f:.]+\]|[^@:/\s[\]]+):(?<path>.+)$/i;
const hostGrammar = /^(?:[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_.])?|\[[0-9a-f:.]+\])$/;
const userGrammar = /^[a-z0-9_][a-z0-9_.-]*$/i;

/**
 * Reads a repository's URL or path. Refuses with `malformed` what is none, or holds a credential, a query or control characters; with
 * `forbidden` a scheme or host outside the reach. Contacts nobody.
 */
export function parseLocation(text: string, reach: Reach): Location {
  if (/\p{Cc}/u.test(text) || !text.isWellFormed()) {
    throw new RegistryError('malformed', 'A repository URL holds no control characters.');
  }
  if (text.startsWith('/') || /^file:/i.test(text)) return parseLocal(text, reach);
  if (/\s/u.test(text)) throw new RegistryError('malformed', 'A repository URL holds no spaces.');
  const scp = text.includes('://') ? null : scpForm.exec(text)?.groups;
  if (scp) return parseScp(text, { user: scp['user'], host: scp['host'] ?? '', path: scp['path'] ?? '' }, reach);
  const url = URL.parse(text);
  if (url === null) {
    throw new RegistryError(
      'malformed',
      'The repository is neither an https or ssh URL nor an absolute path of a folder.',
    );
  }
  const kind = url.protocol.slice(0, -1);
  if (kind !== 'https' && kind !== 'http' && kind !== 'ssh') {
    throw new RegistryError(
      'forbidden',
      `Repositories are reached by https or ssh, not by ${JSON.stringify(url.protocol)}.`,
    );
  }
  if (url.password !== '' || (kind !== 'ssh' && url.username !== '')) throw credentialInUrl();
  if (url.search !== '' || url.hash !== '') {
    throw new RegistryError('malformed', `A repository URL has no query and no fragment: ${url.origin}${url.pathname}`);
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
    throw new RegistryError('forbidden', 'Local repositories are not allowed here (sync.allowLocalRepositories).');
  }
  if (text.startsWith('/')) return { kind: 'local', url: text };
  const url = URL.parse(text);
  if (url === null || url.host !== '' || /%(?:2f|00)/i.test(url.pathname)) {
    throw new RegistryError('malformed', 'A file URL of a repository is file:///absolute/path.');
  }
  return { kind: 'local', url: fileURLToPath(url) };
}

interface Scp {
  user: string | undefined;
  host: string;
  path: string;
}

function parseScp(text: string, { user, host, path }: Scp, reach: Reach): Location {
  if (path.startsWith(':')) {
    throw new RegistryError('forbidden', `Repositories are reached by https or ssh, not by "${host}::".`);
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
    throw new RegistryError(
      'forbidden',
      `${url} would be reached without encryption: use https, or name "http://${bracketed}:${port}" in sync.hosts.`,
    );
  }
  if (hosts !== null && !isListed) {
    throw new RegistryError(
      'forbidden',
      `The host ${isDefault ? bracketed : `${bracketed}:${port}`} is not among those that the configuration allows (sync.hosts).`,
    );
  }
  return { kind, url, host: bracketed.replace(/^\[|\]$/g, ''), port, isListed };
}

function credentialInUrl(): RegistryError {
  return new RegistryError(
    'malformed',
    'A repository URL holds no user name or password: name a credential of the configuration instead.',
  );
}

function badHost(): RegistryError {
  return new RegistryError('malformed', 'The repository URL names no valid host and user.');
}
