import { fileURLToPath } from 'node:url';
import { RegistryError } from '../model/errors.ts';
import { assertNoCredential } from '../model/connection.ts';

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

/**
 * A parsed repository address. `url` is passed to git and shown to people, and never contains a
 * credential.
 */
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
    throw new RegistryError('malformed', 'A repository URL must not contain control characters.');
  }
  if (text.startsWith('/') || /^file:/i.test(text)) return parseLocal(text, reach);
  if (/\s/u.test(text)) throw new RegistryError('malformed', 'A repository URL must not contain spaces.');
  assertNoCredential(text);
  const scp = text.includes('://') ? null : scpForm.exec(text)?.groups;
  if (scp) return parseScp(text, { user: scp['user'], host: scp['host'] ?? '', path: scp['path'] ?? '' }, reach);
  const url = URL.parse(text);
  if (url === null) {
    throw new RegistryError(
      'malformed',
      'The repository must be an https or ssh URL, or the absolute path of a folder.',
    );
  }
  const kind = url.protocol.slice(0, -1);
  if (kind !== 'https' && kind !== 'http' && kind !== 'ssh') {
    throw new RegistryError(
      'forbidden',
      `Use an https or ssh URL for the repository, not ${JSON.stringify(url.protocol)}.`,
    );
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
    throw new RegistryError(
      'forbidden',
      'Local repositories are not allowed. Set sync.allowLocalRepositories to allow them.',
    );
  }
  if (text.startsWith('/')) return { kind: 'local', url: text };
  const url = URL.parse(text);
  if (url === null || url.host !== '' || /%(?:2f|00)/i.test(url.pathname)) {
    throw new RegistryError('malformed', 'Write the file URL of a repository as file:///absolute/path.');
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
    throw new RegistryError('forbidden', `Use an https or ssh URL for the repository, not "${host}::".`);
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
      `${url} is not encrypted. Use https, or add "http://${bracketed}:${port}" to sync.hosts.`,
    );
  }
  if (hosts !== null && !isListed) {
    throw new RegistryError(
      'forbidden',
      `The host ${isDefault ? bracketed : `${bracketed}:${port}`} is not allowed. To allow it, add it to sync.hosts.`,
    );
  }
  return { kind, url, host: bracketed.replace(/^\[|\]$/g, ''), port, isListed };
}

function badHost(): RegistryError {
  return new RegistryError('malformed', 'The repository URL has an invalid host or user name.');
}
