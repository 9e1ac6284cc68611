import { RegistryError } from '../model/errors.ts';

/** A credential for the API of a host. */
export type ApiCredential =
  { kind: 'token'; username: string; token: string } | { kind: 'app'; appId: string; privateKey: string };

/** The configuration of a host's adapter, with defaults. */
export interface HostSettings {
  /** Its name in the configuration. */
  name: string;
  /** Base URL of its repositories, without a trailing slash. */
  url: string;
  /** Base URL of its API, without a trailing slash. */
  apiUrl: string;
  /**
   * The credential with this name. Null without a name, and for one that is useless to an API (an
   * ssh key). Throws `malformed` when its configuration is incomplete, and `forbidden` when it is
   * bound to another host.
   */
  credential(name: string | null): ApiCredential | null;
  /** Milliseconds per second of waiting: 1,000, and less in tests. */
  second: number;
}

/** The value of `Authorization` for Basic (RFC 7617). */
export function basic(username: string, password: string): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
}

/** User names that git sends with an access token, and that name no user. */
const tokenNames = ['x-access-token', 'x-token-auth'];

/** A token as `Bearer`, or as `Basic` if the configuration names its user. */
export function bearerOrBasic({ username, token }: ApiCredential & { kind: 'token' }): string {
  return tokenNames.includes(username) ? `Bearer ${token}` : basic(username, token);
}

/** The error for a failed request. Contains nothing of the response. */
export function refusalOf(host: string, repository: string, status: number, retryAfter?: number): RegistryError {
  const why = explain(host, repository, status);
  return new RegistryError('unreachable', `${why} (${status}).`, retryAfter === undefined ? {} : { retryAfter });
}

function explain(host: string, repository: string, status: number): string {
  if (status === 401 || status === 403) return `${host} rejected the credential for ${repository}`;
  if (status === 404 || status === 410) return `${host} has no repository ${repository} that the credential can see`;
  if (status === 429) return `${host} limits the rate of requests with the credential for ${repository}`;
  if (status >= 500) return `${host} answered with a server error for ${repository}`;
  return `${host} rejected the request for ${repository}`;
}
