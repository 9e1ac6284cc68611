import { openStandIn, type Owned, type StandIn } from './stand-in.ts';

export interface GogsApi extends StandIn {
  /** Gogs lists none. */
  pulls: unknown[];
  owned: Owned;
}

/**
 * Stands for the API of Gogs: lists of repositories need a token and have no pages
 * (https://github.com/gogs/docs-api/tree/master/Repositories).
 */
export async function openGogsApi(): Promise<GogsApi> {
  const owned: Owned = { repositories: [], isUser: false };
  const standIn = await openStandIn(({ path, headers }) => {
    const [, kind] = /^\/api\/v1\/(orgs|users)\/acme\/repos$/.exec(path) ?? [];
    if (kind === undefined) return null;
    if (!headers.authorization?.startsWith('token ')) return { status: 401, body: {} };
    return (kind === 'orgs') === owned.isUser ? null : { status: 200, body: owned.repositories };
  });
  return { ...standIn, pulls: [], owned };
}
