import type { FoundRepositories, FoundRepository, HostOwner, HostRepository } from './host.ts';
import { asRepository, foundOn, listOwned, repositoriesIn } from './owner-pages.ts';
import { valueAt } from './payload.ts';
import { isRefusal, ownerOf, type Speakers } from './github-client.ts';

const pageLength = 100;

/**
 * The repositories of an organization or user on GitHub: for an app those that its installation can
 * read, for a token those of the organization; of a user, only the public ones.
 */
export async function listGitHubRepositories(
  speakers: Speakers,
  url: string,
  owner: HostOwner,
  signal: AbortSignal,
): Promise<FoundRepositories> {
  const asked = asRepository(owner);
  const speaker = await speakers.find(asked, signal);
  const { rest } = speaker?.client ?? (await speakers.nobody());
  const request = { signal };
  let isUser = false;

  async function pageOf(page: number): Promise<unknown> {
    const paging = { per_page: pageLength, page, request };
    if (speaker !== null && speaker.appId !== null)
      return valueAt((await rest.apps.listReposAccessibleToInstallation(paging)).data, 'repositories');
    const byUser = async () => (await rest.repos.listForUser({ ...paging, username: owner.path, type: 'owner' })).data;
    if (isUser) return byUser();
    try {
      return (await rest.repos.listForOrg({ ...paging, org: owner.path, type: 'all', sort: 'created' })).data;
    } catch (error) {
      if (!isRefusal(error) || (error as { status: number }).status !== 404) throw error;
      isUser = true;
      return byUser();
    }
  }

  return listOwned(async (page) => {
    const items = repositoriesIn('GitHub', await speakers.ask(asked, () => pageOf(page)));
    return { items: items.map((item) => foundOn(url, item)), isLast: items.length < pageLength };
  });
}

/** One repository on GitHub, by its id or else by its name. Null where there is none that the credential can see. */
export async function findGitHubRepository(
  speakers: Speakers,
  url: string,
  repository: HostRepository,
  id: string | null,
  signal: AbortSignal,
): Promise<FoundRepository | null> {
  const { owner, repo } = ownerOf(repository.name);
  // The installation of an app is looked for by the owner's name: that of the repository may be a former one.
  const speaker = await speakers.find({ ...repository, name: `${owner}/*` }, signal);
  const client = speaker?.client ?? (await speakers.nobody());
  const item = await speakers.ask(repository, async () => {
    try {
      const path = id === null ? 'GET /repos/{owner}/{repo}' : 'GET /repositories/{id}';
      return (await client.request(path, { id, owner, repo, request: { signal } })).data as unknown;
    } catch (error) {
      if ([404, 410].includes((error as { status?: number }).status!)) return null;
      throw error;
    }
  });
  return item === null ? null : foundOn(url, item);
}
