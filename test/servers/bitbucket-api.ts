import { openStandIn, pageOf, type Owned, type Recorded, type Said, type StandIn } from './stand-in.ts';

export interface BitbucketApi extends StandIn {
  statuses: { sha: string; key: string; state: string; name: string; description: string; url: string }[];
  /** Pull requests of every repository, newest first. */
  pulls: unknown[];
  owned: Owned;
}

/** Stands for the API of Bitbucket Cloud: a status has a key of 40 characters at most, and a link. */
export async function openBitbucketApi(): Promise<BitbucketApi> {
  const statuses: BitbucketApi['statuses'] = [];
  const pulls: unknown[] = [];
  const owned: Owned = { repositories: [], isUser: false };

  function answer(request: Recorded): Said | null {
    const { method, path, query, body } = request;
    if (path === '/2.0/repositories/acme') {
      const size = Number(query['pagelen'] ?? 10);
      if (size > 100) return { status: 400, body: { type: 'error', error: { message: 'Invalid pagelen' } } };
      const { page, next } = pageOf(request, owned.repositories, size);
      return { status: 200, body: { pagelen: size, values: page, ...(next && { next }) } };
    }
    const [, rest = ''] = /^\/2\.0\/repositories\/acme\/contracts\/(.*)$/.exec(path) ?? [];
    if (rest === 'pullrequests') {
      const size = Number(query['pagelen'] ?? 10);
      if (size > 50) return { status: 400, body: { type: 'error', error: { message: 'Invalid pagelen' } } };
      const { page, next } = pageOf(request, pulls, size);
      return { status: 200, body: { size: pulls.length, pagelen: size, values: page, ...(next && { next }) } };
    }
    const [, sha] = /^commit\/([0-9a-f]{40})\/statuses\/build$/.exec(rest) ?? [];
    if (method !== 'POST' || sha === undefined) return null;
    const { key, url } = body as { key?: string; url?: string };
    if (!key || key.length > 40 || !url)
      return { status: 400, body: { type: 'error', error: { message: 'Bad request' } } };
    const status = { sha, ...(body as { key: string; state: string; name: string; description: string; url: string }) };
    const known = statuses.find((each) => each.sha === sha && each.key === key);
    if (known) Object.assign(known, status);
    else statuses.push(status);
    return { status: known ? 200 : 201, body: { type: 'build', ...status } };
  }

  return { ...(await openStandIn(answer)), statuses, pulls, owned };
}
