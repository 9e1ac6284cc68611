import { resourceTypes } from '../model/address.ts';
import { repositoryId, repositoryRef, type Connection, type Repository } from '../model/connection.ts';
import { types } from '../model/kinds.ts';
import { countText } from '../model/problem.ts';
import { findVersion, type Version } from '../model/resource.ts';
import { listReadable } from '../registry/readable.ts';
import { here, mayPublish, type ConsoleRequest } from './console-request.ts';
import { isAdmin } from './keys.ts';
import { readersCell, stateCell, timeCell, type Action, type Cell, type Section } from './pages.ts';

/** The most resources on one page of the list. */
const perPage = 100;

const states: Readonly<Record<string, { text: string; fits(latest: Version | null): boolean }>> = {
  '': { text: 'Any state', fits: () => true },
  failing: { text: 'With problems', fits: (latest) => Boolean(latest?.problems?.error || latest?.problems?.warning) },
  deprecated: { text: 'Deprecated', fits: (latest) => latest?.status.state === 'deprecated' },
  none: { text: 'Without a version', fits: (latest) => latest === null },
};

/** All resources in one list, and what to do where there is none. */
export async function resourceSection(request: ConsoleRequest): Promise<Section> {
  const { context, session, org, query } = request;
  const asked = Object.fromEntries(['q', 'type', 'state'].map((name) => [name, query.get(name) ?? '']));
  const { q = '', type = '', state = '' } = asked;
  const words = q.toLowerCase().split(/\s+/).filter(Boolean);
  const all = await listReadable(context.registry, session.principal, { org });
  const hasState = Object.hasOwn(states, state) ? states[state]!.fits : () => true;
  const listed = all.flatMap((resource) => {
    const latest = resource.latest === null ? null : findVersion(resource, resource.latest);
    const text = [resource.slug, resource.name, resource.owner ?? '', resource.system ?? '', ...(resource.topics ?? [])]
      .join(' ')
      .toLowerCase();
    const fits = words.every((word) => text.includes(word)) && (type === '' || resource.type === type);
    return fits && hasState(latest) ? [{ resource, latest }] : [];
  });
  const from = Math.max(0, Math.trunc(Number(query.get('from')) || 0));
  const more = new URLSearchParams({ ...asked, from: String(from + perPage) });
  const isEmpty = all.length === 0;
  return {
    title: 'Resources',
    ...(!isEmpty && {
      filters: [
        { name: 'q', label: 'Name, owner, system or topic', value: q },
        {
          name: 'type',
          label: 'Type',
          value: type,
          options: [['', 'All types'], ...resourceTypes.map((each) => [each, types[each].many])],
        },
        {
          name: 'state',
          label: 'State',
          value: state,
          options: Object.entries(states).map(([key, { text }]) => [key, text]),
        },
      ] as NonNullable<Section['filters']>,
    }),
    columns: ['Name', 'Type', 'Latest', 'Checks', 'Owner', 'Readers', 'Changed', 'Last sync'],
    rows: await Promise.all(
      listed
        .slice(from, from + perPage)
        .map(async ({ resource, latest }) => ({
          cells: [
            {
              text: resource.name,
              href: here(request, '/:type/:slug', { type: resource.type, slug: resource.slug }),
              more: resource.slug,
            },
            { text: types[resource.type].one },
            latest === null ? { text: 'none', tag: 'warn' } : { text: latest.label, isCode: true },
            checksCell(latest),
            { text: resource.owner ?? '' },
            readersCell(resource.visibility),
            timeCell(resource.versions.findLast(({ status }) => status.state !== 'withdrawn')?.publishedAt),
            await syncCell(request, resource.connection),
          ],
        })),
    ),
    // An empty page shows the first action here, not only in the corner.
    ...(isEmpty && { actions: firstSteps(request) }),
    empty: emptyText(request, isEmpty),
    next: listed.length > from + perPage ? `?${more.toString()}` : null,
  };
}

function emptyText(request: ConsoleRequest, isEmpty: boolean): string {
  if (!isEmpty) return 'No resource is like this. Take away a filter.';
  return mayPublish(request)
    ? 'Nothing is published yet. Paste a document, or follow a repository: every document in it is published.'
    : 'Nothing is published yet that you may read.';
}

function checksCell(latest: Version | null): Cell {
  const { error = 0, warning = 0 } = latest?.problems ?? {};
  if (error > 0) return { text: countText(error, 'error'), tag: 'bad' };
  return warning > 0 ? { text: countText(warning, 'warning'), tag: 'warn' } : { text: latest === null ? '' : 'passed' };
}

async function syncCell({ context, org }: ConsoleRequest, connection: Connection | null): Promise<Cell> {
  if (connection === null) return { text: 'uploads' };
  const { repository, branch } = connection;
  const record = await context.registry.refs.read<Repository>(repositoryRef(org, repositoryId(repository, branch)));
  const { state = 'new', syncedAt = null } = record?.value ?? {};
  const more = repository.replace(/^https?:\/\//, '').replace(/\.git$/, '');
  return state === 'failed' || state === 'detached'
    ? stateCell(state, more)
    : { ...timeCell(syncedAt, 'not yet'), more };
}

function firstSteps(request: ConsoleRequest): Action[] {
  const { links } = request.site;
  return [
    ...(mayPublish(request)
      ? [{ text: 'Publish a document', href: links.path(`/console/new?org=${request.org}`) }]
      : []),
    ...(isAdmin(request) ? [{ text: 'Follow a repository', href: here(request, '/repositories/new') }] : []),
  ];
}
