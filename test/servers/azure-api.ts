import { openStandIn, type Owned, type Recorded, type Said, type StandIn } from './stand-in.ts';

export interface AzureApi extends StandIn {
  statuses: { about: string; name: string; state: string; description: string; targetUrl?: string }[];
  /** Pull requests of every repository, newest first. */
  pulls: unknown[];
  owned: Owned;
}

const states = ['notSet', 'pending', 'succeeded', 'failed', 'error', 'notApplicable'];

/**
 * Stands for the API of Azure DevOps, version 7.0: every request names the version, and a status has a context with a name
 * (https://learn.microsoft.com/rest/api/azure/devops/git/).
 */
export async function openAzureApi(): Promise<AzureApi> {
  const statuses: AzureApi['statuses'] = [];
  const pulls: unknown[] = [];
  const owned: Owned = { repositories: [], isUser: false };

  function answer({ method, path, query, body }: Recorded): Said | null {
    if (query['api-version'] !== '7.0') return { status: 400, body: { message: 'No api-version was supplied.' } };
    // All at once: this list has no pages.
    if (path === '/acme/_apis/git/repositories')
      return { status: 200, body: { value: owned.repositories, count: owned.repositories.length } };
    const [, rest = ''] = /^\/acme\/apis\/_apis\/git\/repositories\/contracts\/(.*)$/.exec(path) ?? [];
    if (rest === 'pullrequests' && query['searchCriteria.status'] === 'active') {
      const [skip, top] = [Number(query['$skip'] ?? 0), Number(query['$top'] ?? 101)];
      const value = pulls.slice(skip, skip + top);
      return { status: 200, body: { value, count: value.length } };
    }
    const [, about] = /^(commits\/[0-9a-f]{40}|pullRequests\/\d+)\/statuses$/.exec(rest) ?? [];
    if (method !== 'POST' || about === undefined) return null;
    const { context, state, description, targetUrl } = body as {
      context?: { name?: string; genre?: string };
      state?: string;
      description?: string;
      targetUrl?: string;
    };
    if (!context?.name || !context.genre || !states.includes(state ?? '') || description === undefined)
      return { status: 400, body: { message: 'Value cannot be null.' } };
    statuses.push({ about, name: context.name, state: state!, description, ...(targetUrl && { targetUrl }) });
    return { status: about.startsWith('commits') ? 201 : 200, body: { id: statuses.length, ...body } };
  }

  return { ...(await openStandIn(answer)), statuses, pulls, owned };
}
