import { resourceTypes } from '../model/address.ts';
import { countState, shownState } from '../model/states.ts';
import { listHeld } from '../registry/approval/decide.ts';
import { describeRepositories } from '../sync/owners/describe-followed.ts';
import { waitingSection } from './approvals.ts';
import { resourceSection } from './resource-list.ts';
import { graceDays } from '../registry/lives.ts';
import { isAdmin, namesOf, whoCell } from './keys.ts';
import { momentCell, timeCell, type Cell, type Page, type Row, type Section } from './pages.ts';
import { rejectedSections, repositoryRow } from './repository-views.ts';
import { membersPage } from './people.ts';
import { splitTarget } from '../server/read/read-request.ts';
import {
  performList,
  nextOf,
  perform,
  here,
  may,
  mayPublish,
  nobodys,
  type ConsoleRequest,
} from './console-request.ts';
import { healthPage } from './health-page.ts';
import { settingsPage } from './settings-views.ts';
import { webhookPage } from './webhook-views.ts';

const overview: Page = {
  path: '',
  async show(request) {
    return {
      title: 'Overview',
      lead: 'All APIs, schemas and rulesets that you may read. Open one to publish a version of it or to change who reads it.',
      actions: mayPublish(request)
        ? [{ text: 'New', href: request.site.links.path(`/console/new?org=${request.org}`), isMain: true }]
        : [],
      sections: [
        ...(await waitingSection(request)),
        ...(await attentionSection(request)),
        await resourceSection(request),
      ],
    };
  },
};

/** The repositories whose last sync failed or rejected something, for whoever may read the whole organization. */
async function attentionSection(request: ConsoleRequest): Promise<Section[]> {
  if (!may({ ...request, type: null }, 'publish')) return [];
  const { body } = await perform(request, 'listRepositories', { query: { limit: '100' } });
  const wrong = body.items.filter(({ state, documents }) => state === 'failed' || documents.rejected > 0);
  if (wrong.length === 0) return [];
  return [
    {
      title: 'Needs attention',
      lead: 'A rejected document is not published: readers still get the version before. Open the repository to see why.',
      columns: ['Repository', 'Documents', 'State', 'Last sync'],
      rows: wrong.map((each) => repositoryRow(request, each)),
    },
    ...rejectedSections(request, wrong),
  ];
}

const auditFilters = [
  { name: 'resource', label: 'Resource', hint: 'apis/payments' },
  { name: 'actor', label: 'Who', hint: 'key:k3v9x1q7m2ab' },
  { name: 'since', label: 'Since (UTC)', hint: '2026-05-01T00:00:00Z' },
  { name: 'until', label: 'Until (UTC)', hint: '2026-06-01T00:00:00Z' },
];

const audit: Page = {
  path: '/audit',
  async show(request) {
    const asked = Object.fromEntries(
      auditFilters.flatMap(({ name }) => {
        const value = request.query.get(name)?.trim();
        return value ? [[name, value]] : [];
      }),
    );
    const { body } = await performList(request, 'listAudit', asked);
    const names = await namesOf(
      request,
      body.items.map(({ actor }) => actor),
    );
    return {
      title: 'Audit',
      lead: 'Who changed what, newest first. Nothing here can be changed or deleted.',
      sections: [
        {
          title: 'Changes',
          filters: auditFilters.map((each) => ({ ...each, value: asked[each.name] ?? '' })),
          columns: ['When', 'Who', 'What', 'Of'],
          rows: body.items.map(({ at, actor, origin, action, subject }) => ({
            cells: [
              momentCell(at),
              whoCell(actor, names, origin),
              { text: action },
              { text: subject.id, more: subject.kind },
            ],
          })),
          empty:
            Object.keys(asked).length > 0 ? 'No change is like this. Take away a filter.' : 'Nothing has changed yet.',
          next: nextOf(body, asked),
        },
      ],
    };
  },
};

const deleted: Page = {
  path: '/deleted',
  async show(request) {
    const rows: Row[] = [];
    const query = { limit: '100', deleted: 'true' };
    for (const type of resourceTypes) {
      const { body } = await perform({ ...request, type }, 'list{many}', { query });
      for (const { slug, name, deletedAt } of body.items) {
        const params = { type, slug };
        const href = here(request, '/:type/:slug/undelete', params);
        rows.push({
          cells: [{ text: name, more: `${type}/${slug}` }, ...deletedCells(deletedAt)],
          actions: [{ text: 'Bring it back', href }],
        });
      }
    }
    const { body: sites } = await perform(request, 'listSites', { query });
    for (const { slug, title, deletedAt } of sites.items)
      rows.push({
        cells: [{ text: title, more: `sites/${slug}` }, ...deletedCells(deletedAt)],
        actions: [{ text: 'Bring it back', href: here(request, '/sites/:site/undelete', { site: slug }) }],
      });
    return {
      title: 'Deleted',
      lead: 'What was deleted in the last 30 days can be brought back.',
      sections: [
        {
          title: 'Deleted resources and sites',
          columns: ['Name', 'Deleted', 'Comes back until'],
          rows,
          empty: 'Nothing was deleted.',
        },
      ],
    };
  },
};

function deletedCells(deletedAt = ''): Cell[] {
  return [timeCell(deletedAt), timeCell(new Date(Date.parse(deletedAt) + graceDays * 86_400_000).toISOString())];
}

/** Pages of the organization as a whole. */
export const organizationPages: readonly Page[] = [
  overview,
  membersPage,
  webhookPage,
  audit,
  deleted,
  healthPage,
  settingsPage,
];

/** What of an organization waits for somebody: what needs approval, and what was rejected. */
export async function countAttention(request: Omit<ConsoleRequest, 'counts'>): Promise<ConsoleRequest['counts']> {
  const { context, session, org } = request;
  if (org === nobodys || !mayPublish(request)) return {};
  const held = await listHeld(context.registry, session.principal, org);
  const repositories = may({ ...request, type: null }, 'publish')
    ? await describeRepositories(context.registry, org)
    : [];
  return {
    '/approvals': { state: 'waiting', count: held.filter(({ state }) => state === 'waiting').length },
    '/repositories': {
      state: 'rejected',
      count: repositories.reduce((sum, { documents }) => sum + documents.rejected, 0),
    },
  };
}

/** The organization's pages that the person may open, for the side menu. `count`: what waits there for somebody. */
export function sectionsOf(request: ConsoleRequest) {
  const ofPerson: [string, string, boolean][] = [['Your keys', '/keys', true]];
  const ofOrganization: [string, string, boolean][] = [
    ['Overview', '', true],
    ['Health', '/health', true],
    ['Approvals', '/approvals', mayPublish(request)],
    ['Sites', '/sites', true],
    ['Repositories', '/repositories', may({ ...request, type: null }, 'publish')],
    ['Members', '/members', isAdmin(request)],
    ['Keys', '/keys', may({ ...request, type: null }, 'keys')],
    ['Webhooks', '/webhooks', isAdmin(request)],
    ['Audit', '/audit', isAdmin(request)],
    ['Deleted', '/deleted', isAdmin(request)],
    ['Settings', '/settings', isAdmin(request)],
  ];
  const all = request.org === nobodys ? ofPerson : ofOrganization;
  const pathname = request.site.links.path(splitTarget(request.http.originalUrl).path);
  return all.flatMap(([text, path, isOpen]) => {
    const href = here(request, path);
    const isBelow = path === '' ? request.type !== null : pathname.startsWith(`${href}/`);
    const { count = 0, state = '' } = request.counts[path] ?? {};
    const counted = { number: count, text: countState(count, state), tone: shownState(state).tone };
    return isOpen ? [{ text, href, isHere: pathname === href || isBelow, count: count === 0 ? null : counted }] : [];
  });
}
