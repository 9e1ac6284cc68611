import { openStandIn, type Owned, type Recorded, type Said, type StandIn } from './stand-in.ts';

export interface BitbucketServerApi extends StandIn {
  statuses: { sha: string; key: string; state: string; name: string; description: string; url: string }[];
  /** Pull requests of every repository, newest first. */
  pulls: unknown[];
  owned: Owned;
}

const states = ['SUCCESSFUL', 'FAILED', 'INPROGRESS', 'CANCELLED', 'UNKNOWN'];

/** A page of the values from `start`, of at most 25 however many are asked for. */
function pageFrom(values: readonly unknown[], query: Recorded['query']): object {
  const start = Number(query['start'] ?? 0);
  const limit = Math.min(Number(query['limit'] ?? 25), 25);
  const page = values.slice(start, start + limit);
  const isLastPage = start + limit >= values.length;
  return {
    size: page.length,
    limit,
    isLastPage,
    values: page,
    start,
    nextPageStart: isLastPage ? null : start + limit,
  };
}

/**
 * Stands for the API of Bitbucket Data Center: a build has a key of 255 characters at most, and a link of 450
 * (https://developer.atlassian.com/server/bitbucket/rest/).
 */
export async function openBitbucketServerApi(): Promise<BitbucketServerApi> {
  const statuses: BitbucketServerApi['statuses'] = [];
  const pulls: unknown[] = [];
  const owned: Owned = { repositories: [], isUser: false };

  function answer({ method, path, query, body }: Recorded): Said | null {
    if (path === '/rest/api/1.0/projects/acme/repos') return { status: 200, body: pageFrom(owned.repositories, query) };
    const [, rest = ''] = /^\/rest\/api\/1\.0\/projects\/acme\/repos\/contracts\/(.*)$/.exec(path) ?? [];
    if (rest === 'pull-requests' && query['state'] === 'OPEN' && query['order'] === 'NEWEST')
      return { status: 200, body: pageFrom(pulls, query) };
    const [, sha] = /^commits\/([0-9a-f]{40})\/builds$/.exec(rest) ?? [];
    if (method !== 'POST' || sha === undefined) return null;
    const given = body as Omit<BitbucketServerApi['statuses'][number], 'sha'>;
    const isShort = [given.key, given.name, given.description].every((text) => text !== '' && text.length <= 255);
    if (!isShort || !given.url || given.url.length > 450 || !states.includes(given.state))
      return { status: 400, body: { errors: [{ message: 'Please supply a value.' }] } };
    const known = statuses.find((each) => each.sha === sha && each.key === given.key);
    if (known) Object.assign(known, given);
    else statuses.push({ sha, ...given });
    return { status: 204 };
  }

  return { ...(await openStandIn(answer)), statuses, pulls, owned };
}
