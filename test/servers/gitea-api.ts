import { openStandIn, pageOf, type Owned, type Recorded, type Said, type StandIn } from './stand-in.ts';

export interface GiteaApi extends StandIn {
  statuses: { sha: string; context: string; state: string; description: string; target_url?: string }[];
  /** Pull requests of every repository, newest first. */
  pulls: unknown[];
  owned: Owned;
}

/** Stands for the API of Gitea and Forgejo, with 30 on a page however many are asked for. Answers have the shapes of their Swagger document. */
export async function openGiteaApi(): Promise<GiteaApi> {
  const statuses: GiteaApi['statuses'] = [];
  const pulls: unknown[] = [];
  const owned: Owned = { repositories: [], isUser: false };

  function answer(request: Recorded): Said | null {
    const { method, path, body } = request;
    const [, kind] = /^\/api\/v1\/(orgs|users)\/acme\/repos$/.exec(path) ?? [];
    if (kind !== undefined) {
      if ((kind === 'orgs') === owned.isUser) return null;
      const { page, headers } = pageOf(request, owned.repositories, 30);
      return { status: 200, headers, body: page };
    }
    const [, rest = ''] = /^\/api\/v1\/repos\/acme\/contracts\/(.*)$/.exec(path) ?? [];
    if (rest === 'pulls') {
      const { page, headers } = pageOf(request, pulls, 30);
      return { status: 200, headers: { ...headers, 'x-total-count': String(pulls.length) }, body: page };
    }
    if (method !== 'POST' || !rest.startsWith('statuses/')) return null;
    const status = { sha: rest.split('/')[1]!, ...(body as { context: string; state: string; description: string }) };
    statuses.push(status);
    const { state, ...more } = status;
    return { status: 201, body: { id: statuses.length, status: state, ...more } };
  }

  return { ...(await openStandIn(answer)), statuses, pulls, owned };
}
