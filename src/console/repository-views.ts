import { parseCoordinate } from '../model/address.ts';
import { countText } from '../model/problem.ts';
import { countState, shownState } from '../model/states.ts';
import {
  facts,
  stateCell,
  timeCell,
  type Cell,
  type Page,
  type Row,
  type Section,
  type FormCodes,
  type ListCode,
  linksFrom,
} from './pages.ts';
import { runPageBelow, runSection } from './run-view.ts';
import { perform, here, type ConsoleRequest, type Listed } from './console-request.ts';

export type FollowedRecord = Listed<'listRepositories'>;

export const repositoryList: ListCode<'listRepositories'> = {
  rows: (items, request) => items.map((each) => repositoryRow(request, each)),
};

const repositoryPath = '/repositories/:repository';

const one: Page = {
  path: repositoryPath,
  async show(request) {
    const { body } = await perform(request, 'getRepository');
    const runs = await perform(request, 'listRepositorySyncs', { query: { limit: '20' } });
    return {
      eyebrow: 'Repository',
      title: body.repository,
      actions: linksFrom(request, repositoryPath, ['Sync now', '/sync', 'publish', { isMain: true, post: true }]),
      sections: [
        {
          title: 'State',
          actions: linksFrom(request, repositoryPath, ['Unfollow', '/unfollow', 'admin', { isDanger: true }]),
          facts: facts([
            ['State', stateCell(body.state, body.detail)],
            ['Branch', body.branch ?? "the repository's default branch"],
            ['Folder', body.visibility === null ? null : (body.path ?? 'the whole repository')],
            ['Publishes', body.visibility === null ? 'what is connected to it' : publishes(body)],
            ['Documents', documentsOf(request, body)],
            ['Commit', body.commit === null ? null : { text: body.commit.slice(0, 12), isCode: true }],
            ['Last sync', timeCell(body.syncedAt)],
          ]),
        },
        {
          ...runSection(request, 'Runs', repositoryPath, runs.body.items),
          lead: 'Each run read the repository once. Open one to see what it published or rejected.',
        },
      ],
    };
  },
};

export const repositoryPages: readonly Page[] = [one, runPageBelow(repositoryPath, 'getRepositorySync')];

/** A repository in a list. */
export function repositoryRow(request: ConsoleRequest, record: FollowedRecord): Row {
  const { repository, id, branch, syncedAt, state, detail, documents } = record;
  return {
    cells: [
      {
        text: repository,
        href: here(request, repositoryPath, { repository: id }),
        ...(branch !== null && { more: branch }),
      },
      documentsOf(request, record),
      // It is read; what became of its documents is said before.
      state === 'synced' && documents.waiting + documents.rejected > 0 ? { text: '' } : stateCell(state, detail),
      timeCell(syncedAt),
    ],
  };
}

function publishes({ visibility, versions }: FollowedRecord): string {
  return `${visibility} resources, from ${versions === 'tags' ? 'release tags' : 'the branch'}`;
}

/** The worst that became of its documents, and how many there are of the rest. */
function documentsOf(request: ConsoleRequest, { documents }: FollowedRecord): Cell {
  const { published, waiting, rejected } = documents;
  if (rejected + waiting === 0) return { text: countState(published, 'published') };
  const worst = rejected > 0 ? 'rejected' : 'waiting';
  const rest = worst === 'rejected' && waiting > 0 ? [countState(waiting, 'waiting')] : [];
  return {
    text: countState(documents[worst], worst),
    tag: shownState(worst).tone,
    more: [...rest, countState(published, 'published')].join(', '),
    ...(worst === 'waiting' && { href: here(request, '/approvals') }),
  };
}

/** The rejected documents, each with a link to its page. */
export function rejectedSections(request: ConsoleRequest, repositories: readonly FollowedRecord[]): Section[] {
  const all = repositories.flatMap(({ rejected }) => rejected);
  if (all.length === 0) return [];
  const count = repositories.reduce((sum, { documents }) => sum + documents.rejected, 0);
  return [
    {
      title: countText(count, 'rejected document'),
      columns: ['Resource', 'State', 'File'],
      rows: all.map(({ resource, outcome, path, detail }) => {
        const { type, slug } = parseCoordinate(resource)!.coordinate;
        const href = here(request, '/:type/:slug', { type, slug });
        return {
          cells: [{ text: resource, isCode: true, href }, stateCell(outcome, detail), { text: path, isCode: true }],
        };
      }),
    },
  ];
}

/** The code of forms about followed repositories. */
export const repositoryCodes: FormCodes = {
  '/repositories/new': {
    after: async ({ body }, request) => {
      const repository = String(body['id']);
      const run = await perform({ ...request, params: { repository } }, 'syncRepository');
      return `/repositories/${repository}/runs/${String(run.body['id'])}`;
    },
  },
};
