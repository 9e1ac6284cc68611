import { openStandIn, pageOf, type Owned, type Recorded, type Said, type StandIn } from './stand-in.ts';

export interface GitLabApi extends StandIn {
  statuses: { sha: string; name: string; status: string; description: string; target_url?: string }[];
  /** Merge requests of every project, newest first. */
  pulls: unknown[];
  owned: Owned;
}

/** Stands for the API of GitLab. Answers have the shapes of docs.gitlab.com/api; what is running cannot be told to run. */
export async function openGitLabApi(): Promise<GitLabApi> {
  const statuses: GitLabApi['statuses'] = [];
  const pulls: unknown[] = [];
  const owned: Owned = { repositories: [], isUser: false };

  function answer(request: Recorded): Said | null {
    const { method, path, query, body } = request;
    const [, kind, owner] = /^\/api\/v4\/(groups|users)\/([^/]+)\/projects$/.exec(path) ?? [];
    if (kind !== undefined) {
      if ((kind === 'groups') === owned.isUser || decodeURIComponent(owner!) !== 'acme') return null;
      if (!/^(?:true|false)$/.test(query['include_subgroups'] ?? ''))
        return { status: 400, body: { error: 'invalid' } };
      const { page, next } = pageOf(request, owned.repositories, Number(query['per_page'] ?? 20));
      const number = Number(query['page'] ?? 1);
      return { status: 200, headers: { 'x-next-page': next === null ? '' : String(number + 1) }, body: page };
    }
    const [, id, rest = ''] = /^\/api\/v4\/projects\/([^/]+)\/(.*)$/.exec(path) ?? [];
    if (decodeURIComponent(id ?? '') !== 'acme/contracts')
      return { status: 404, body: { message: '404 Project Not Found' } };
    if (rest === 'merge_requests') {
      const { page, headers, next } = pageOf(request, pulls, Number(query['per_page'] ?? 20));
      const number = Number(query['page'] ?? 1);
      return {
        status: 200,
        headers: { ...headers, 'x-next-page': next === null ? '' : String(number + 1) },
        body: page,
      };
    }
    if (method !== 'POST' || !rest.startsWith('statuses/')) return null;
    const sha = rest.split('/')[1]!;
    const { state, name = 'default', ...more } = body as { state: string; name?: string; description: string };
    const known = statuses.find((each) => each.sha === sha && each.name === name && each.status === 'running');
    if (known && state === 'running') {
      const message = 'Cannot transition status via :run from :running (Reason(s): Status cannot transition via "run")';
      return { status: 400, body: { message } };
    }
    const status = { ...known, sha, name, status: state, ...more };
    if (known) Object.assign(known, status);
    else statuses.push(status);
    return { status: 201, body: { id: statuses.length, ...status, ref: 'main', allow_failure: false } };
  }

  return { ...(await openStandIn(answer)), statuses, pulls, owned };
}
