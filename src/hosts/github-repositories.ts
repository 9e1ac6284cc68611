import type { FoundRepositories, HostOwner } from './host.ts';
import { asRepository, foundOn, listOwned, repositoriesIn } from './owner-pages.ts';
import { valueAt } from './payload.ts';
import { isRefusal, type Speakers } from './github-client.ts';

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
