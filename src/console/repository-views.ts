import { facts, timeCell, type Page, type Tone } from './pages.ts';
import { isAdmin } from './key-forms.ts';
import { runTable, runView, type RunRecord } from './run-view.ts';
import { ask, here, may, type Visit } from './visit.ts';

interface FollowedRecord {
  id: string;
  repository: string;
  branch: string | null;
  path: string | null;
  visibility: string | null;
  versions: string | null;
  state: string;
  detail: string | null;
  commit: string | null;
  syncedAt: string | null;
  documents: { published: number; rejected: number };
}

const tones: Readonly<Record<string, Tone>> = { synced: 'good', behind: '' };

const list: Page = {
  path: '/repositories',
  async show(visit) {
    const cursor = visit.query.get('cursor');
    const { body } = await ask<{ items: FollowedRecord[]; next: string | null }>(visit, 'listRepositories', {
      query: { limit: '50', ...(cursor !== null && { cursor }) },
    });
    return {
      eyebrow: `@${visit.org}`,
      title: 'Repositories',
      lead: 'Their documents are published after each push.',
      actions: isAdmin(visit)
        ? [{ text: 'Follow a repository', href: here(visit, '/repositories/new'), isMain: true }]
        : [],
      sections: [
        {
          title: 'Followed',
          columns: ['Repository', 'State', 'Documents', 'Last sync'],
          rows: body.items.map((each) => ({
            cells: [
              { text: each.repository, href: at(visit, each.id), ...(each.branch !== null && { more: each.branch }) },
              stateOf(each),
              documentsOf(each),
              timeCell(each.syncedAt),
            ],
          })),
          empty: 'No repositories yet.',
          next: body.next && `?cursor=${encodeURIComponent(body.next)}`,
        },
      ],
    };
  },
};

const one: Page = {
  path: '/repositories/:repository',
  async show(visit) {
    const { body } = await ask<FollowedRecord>(visit, 'getRepository');
    const runs = await ask<{ items: RunRecord[] }>(visit, 'listRepositorySyncs', { query: { limit: '20' } });
    const hrefOf = (run: string) =>
      here({ ...visit, params: { ...visit.params, run } }, '/repositories/:repository/runs/:run');
    return {
      eyebrow: 'Repository',
      title: body.repository,
      actions: may(visit, 'publish')
        ? [{ text: 'Sync now', href: here(visit, '/repositories/:repository/sync'), isMain: true, post: true }]
        : [],
      sections: [
        {
          title: 'State',
          actions: isAdmin(visit)
            ? [{ text: 'Unfollow', href: here(visit, '/repositories/:repository/unfollow'), isDanger: true }]
            : [],
          facts: facts([
            ['State', stateOf(body)],
            ['Branch', body.branch ?? "the repository's default branch"],
            ['Folder', body.visibility === null ? null : (body.path ?? 'the whole repository')],
            ['Publishes', body.visibility === null ? 'what is connected to it' : publishes(body)],
            ['Documents', documentsOf(body)],
            ['Commit', body.commit === null ? null : { text: body.commit.slice(0, 12), isCode: true }],
            ['Last sync', timeCell(body.syncedAt)],
          ]),
        },
        { title: 'Runs', ...runTable(runs.body.items, hrefOf) },
      ],
    };
  },
};

/** One run of a repository. */
export const repositoryRunPage: Page = {
  path: '/repositories/:repository/runs/:run',
  async show(visit) {
    const { body } = await ask<RunRecord>(visit, 'getRepositorySync');
    return runView(
      visit,
      body,
      here(visit, `${repositoryRunPage.path}/events`),
      at(visit, visit.params['repository']!),
      here(visit, '/repositories/:repository/sync'),
    );
  },
};

export const repositoryPages: readonly Page[] = [list, one, repositoryRunPage];

function at(visit: Visit, repository: string): string {
  return here({ ...visit, params: { repository } }, '/repositories/:repository');
}

function stateOf({ state, detail }: FollowedRecord) {
  return { text: state, tag: tones[state] ?? ('bad' as const), ...(detail !== null && { more: detail }) };
}

function publishes({ visibility, versions }: FollowedRecord): string {
  return `${visibility} resources, from ${versions === 'tags' ? 'release tags' : 'the branch'}`;
}

function documentsOf({ documents: { published, rejected } }: FollowedRecord) {
  return { text: `${published} published`, ...(rejected > 0 && { more: `${rejected} rejected` }) };
}
