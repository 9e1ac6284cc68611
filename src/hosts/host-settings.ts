import { RegistryError } from '../model/errors.ts';

/** A credential as the API of a host takes it. */
export type ApiCredential =
  { kind: 'token'; username: string; token: string } | { kind: 'app'; appId: string; privateKey: string };

/** What a host's adapter is made from: the configuration's word on it, defaults filled in. */
export interface HostSettings {
  /** Where its repositories are, without a slash at the end. */
  url: string;
  /** Where its API is, without a slash at the end. */
  apiUrl: string;
  /**
   * The credential of that name; null where it is of no use to an API (an ssh key), or where no name is given. Refuses with `malformed` one that the
   * configuration does not have whole, with `forbidden` one that is bound to another host.
   */
  credential(name: string | null): ApiCredential | null;
  /** Milliseconds that a second of waiting takes: 1,000 but in tests. */
  second: number;
}

/** What git gets where credentials are as they are in the configuration: nothing of its own. Refuses one that may not be used here. */
export async function ownGitCredential(settings: HostSettings, name: string | null): Promise<null> {
  settings.credential(name);
  return null;
}

/** Why a host did not do what it was asked, without a word of its answer. */
export function refusalOf(host: string, repository: string, status: number, retryAfter?: number): RegistryError {
  const why = explain(host, repository, status);
  return new RegistryError('unreachable', `${why} (${status}).`, retryAfter === undefined ? {} : { retryAfter });
}

function explain(host: string, repository: string, status: number): string {
  if (status === 401 || status === 403) return `${host} refuses the credential for ${repository}`;
  if (status === 404 || status === 410) return `${host} has no ${repository} that the credential may see`;
  if (status === 429) return `${host} is over its rate limit for the credential`;
  if (status >= 500) return `${host} does not answer for ${repository}`;
  return `${host} does not take what it is sent about ${repository}`;
}
