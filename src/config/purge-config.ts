import type { SecretName } from './environment.ts';

/** How to purge a CDN. Set by the operator, so any address is allowed. */
export interface PurgeConfig {
  url: string;
  /** Header that carries the token: `Authorization` as a bearer token, any other as it is. */
  header: string;
  token: SecretName | null;
  /** Member of the JSON body that holds the cache keys. */
  member: string;
  /** Additional members of the body. */
  body: Record<string, unknown>;
}

/** What the operator writes; only the URL has no default. */
export type UserPurge = Partial<PurgeConfig> & { url: string };

export function fillPurge(given: UserPurge | null | undefined): PurgeConfig | null {
  if (!given) return null;
  const { url, header = 'Authorization', token = null, member = 'keys', body = {} } = given;
  return { url, header, token, member, body };
}
