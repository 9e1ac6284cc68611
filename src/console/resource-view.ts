import type { Coordinate } from '../model/address.ts';
import { countText } from '../model/problem.ts';
import { nameOf } from '../model/resource.ts';
import { types } from '../model/kinds.ts';
import { mayReadOrganization } from '../registry/readable.ts';
import { insteadOf } from '../model/errors.ts';
import { defaultsOf } from '../registry/gate/policy.ts';
import {
  facts,
  stateCell,
  timeCell,
  type Cell,
  type Page,
  type Row,
  type Section,
  type View,
  type LinkRow,
  linksFrom,
} from './pages.ts';
import { reportSection, runPageBelow, runSection } from './run-view.ts';
import { approvalLinks } from './approvals.ts';
import { perform, may, subjectOf, type ConsoleRequest, type Answered, type Listed } from './console-request.ts';

type ResourceRecord = Answered<'get{one}'>;

type VersionRecord = Listed<'list{one}Versions'>;

const path = '/:type/:slug';

/** The page of a resource: its state, its versions, and what the person may do. */
export const resourcePage: Page = {
  path,
  async show(request) {
    const { body: resource } = await perform(request, 'get{one}');
    if (resource.rejected !== undefined) return rejectedView(request, resource, resource.rejected);
    const versions = await perform(request, 'list{one}Versions', { query: { limit: '50' } });
    const target = { org: request.org, type: request.type!, slug: resource.slug };
    return {
      eyebrow: nameOf(target),
      title: resource.name,
      lead: resource.description,
      tags: [{ text: resource.visibility, tag: resource.visibility === 'public' ? 'good' : '' }],
      actions: [
        ...linksFrom(request, path, ['Publish a version', '/publish', 'publish', { isMain: true }]),
        { text: 'Open the page', href: request.site.links.to(target, { view: 'page' }) },
      ],
      sections: [
        {
          title: 'Versions',
          id: 'versions',
          lead: may(request, 'publish') ? versionsLead : 'A version never changes. Open one to read it.',
          columns: ['Version', 'Published', 'State'],
          rows: versions.body.items.map((version) => versionRow(request, version)),
          empty: `Nothing is published yet. Publish ${types[request.type!].noun}, or connect a repository.`,
        },
        await usersSection(request, target),
        await sourceSection(request),
        {
          title: 'Settings',
          facts: facts([
            ['Latest', resource.latest === null ? 'none' : { text: resource.latest, isCode: true }],
            ['Address', { text: resource.url, href: resource.url, isCode: true }],
            ['Ruleset', await rulesetCell(request, resource.ruleset)],
          ]),
          actions: linksFrom(
            request,
            path,
            ['Name and description', '/details', 'publish'],
            ['Owner and links', '/ownership', 'publish'],
            ['Latest', '/latest', 'publish'],
            ['What would it reject?', '/replay', request.type === 'rulesets' && 'publish'],
            ['Visibility', '/visibility', 'admin'],
            ['Checks', '/checks', 'admin'],
          ),
        },
        ...(may(request, 'admin')
          ? [
              {
                title: 'Delete',
                lead: 'After that, none of its versions is served. You can bring it back for 30 days.',
                actions: linksFrom(request, path, ['Delete it', '/delete', 'admin', { isDanger: true }]),
              },
            ]
          : []),
      ],
    };
  },
};

const versionsLead =
  'Deprecate warns readers of a version. Yank keeps it for readers who pin it; ranges and latest skip it. Withdraw deletes its bytes for everybody.';

async function usersSection(request: ConsoleRequest, target: Coordinate): Promise<Section> {
  const { body } = await perform(request, 'list{one}Dependants', { query: { limit: '10' } });
  return {
    title: 'Used by',
    lead: 'Who has which version. Before you change what they rely on, see who is behind.',
    columns: ['Who', 'Has version', 'State'],
    rows: body.items.map(({ coordinate, version, consumer, uses, behind }) => ({
      cells: [
        { text: coordinate ?? consumer!.name, more: version ?? `consumer of @${consumer!.organization}` },
        { text: uses.version, more: uses.range || 'latest', isCode: true },
        behind === 0
          ? { text: 'newest', tag: 'good' }
          : { text: `${countText(behind, 'version')} behind`, tag: 'warn' },
      ],
    })),
    empty: 'Nothing that you may see uses it.',
    actions:
      body.items.length === 0
        ? []
        : [{ text: 'Show all', href: request.site.links.to(target, { view: 'dependants' }) }],
  };
}

/** The page of a document that was rejected at first sight: there is no resource yet. */
function rejectedView(
  request: ConsoleRequest,
  { slug }: ResourceRecord,
  { repository, path: file, detail, since, report }: NonNullable<ResourceRecord['rejected']>,
): View {
  const target = { org: request.org, type: request.type!, slug };
  return {
    eyebrow: nameOf(target),
    title: slug,
    tags: [stateCell('rejected')],
    lead: detail ?? 'No version was published yet.',
    actions: [{ text: 'Open the page', href: request.site.links.to(target, { view: 'page' }) }],
    sections: [
      {
        title: 'Document',
        lead: 'Correct the file and push it: the next sync publishes it.',
        facts: facts([
          ['Repository', repository],
          ['File', { text: file, isCode: true }],
          ['Since', since === null ? null : timeCell(since)],
        ]),
      },
      ...(report === null ? [] : [reportSection(file, report)]),
    ],
  };
}

/** The ruleset that checks the resource now. The default is named for those who may read the whole organization. */
async function rulesetCell(
  { site, org, type, session, context }: ConsoleRequest,
  ruleset: string | null,
): Promise<Cell> {
  const inherited = type === 'apis' && ruleset === null;
  const name = inherited ? ((await defaultsOf(context.registry, org)).ruleset ?? null) : ruleset;
  if (name === null) return { text: 'none' };
  if (inherited && !mayReadOrganization(session.principal, org)) return { text: "the organization's default" };
  const more = inherited ? { more: "the organization's default" } : {};
  return { text: name, href: site.links.path(`/${name}`), isCode: true, ...more };
}

function versionRow(request: ConsoleRequest, { version, publishedAt, latest, status, url }: VersionRecord): Row {
  const { state } = status;
  const of = { ...request, params: { ...request.params, version } };
  return {
    cells: [
      { text: version, isCode: true, ...(state !== 'withdrawn' && { href: url }), ...(latest && { more: 'latest' }) },
      timeCell(publishedAt),
      stateCell(state, 'reason' in status ? status.reason : null),
    ],
    actions: linksFrom(
      of,
      `${path}/versions/:version`,
      ['Deprecate', '/deprecate', state === 'active' && 'publish'],
      ['Yank', '/yank', state === 'active' && 'publish'],
      ['Make active', '/restore', (state === 'deprecated' || state === 'yanked') && 'publish'],
      ['Withdraw', '/withdraw', state !== 'withdrawn' && 'admin', { isDanger: true }],
    ),
  };
}

async function sourceSection(request: ConsoleRequest): Promise<Section> {
  const connection = await perform(request, 'get{one}Connection').catch(insteadOf('not_found', null));
  const own = { absent: 'Not connected: versions are uploaded.', connect: 'Connect a file' };
  if (connection === null) return connectionSection(request, path, null, own);
  const { path: file, state } = connection.body;
  const approval = state === 'waiting' ? (await approvalLinks(request)).get(subjectOf(request)) : undefined;
  return connectionSection(request, path, connection.body, {
    ...own,
    what: ['File', { text: file, isCode: true }],
    ...(approval !== undefined && { state: { ...stateCell('waiting'), href: approval } }),
    more: [['Runs', '/runs', true]],
  });
}

type Connected = Pick<Answered<'getSiteConnection'>, 'repository' | 'branch' | 'detail' | 'since' | 'commit'> & {
  state: string;
};

/** The connection of a resource or a site, whose page is at this path. `connection`: null, if there is none. */
export function connectionSection(
  request: ConsoleRequest,
  at: string,
  connection: Connected | null,
  own: {
    absent: string;
    connect: string;
    lead?: string;
    what?: [string, Cell | string];
    state?: Cell;
    more?: readonly LinkRow[];
    /** Whether it is changed elsewhere. */
    isFixed?: boolean;
  },
): Section {
  const title = 'Repository';
  if (connection === null)
    return { title, lead: own.absent, actions: linksFrom(request, at, [own.connect, '/connection', 'admin']) };
  const { repository, branch, state, detail, commit, since } = connection;
  return {
    title,
    ...(own.lead !== undefined && { lead: own.lead }),
    facts: facts([
      ['Repository', repository],
      ['Branch', branch ?? "the repository's default branch"],
      ...(own.what ? [own.what] : []),
      ['State', own.state ?? stateCell(state, detail)],
      ['Since', since ? timeCell(since) : null],
      ['Commit', commit ? { text: commit.slice(0, 12), isCode: true } : null],
    ]),
    actions: linksFrom(
      request,
      at,
      ['Sync now', '/sync', 'publish', { post: true }],
      ...(own.more ?? []),
      ['Change', '/connection', !own.isFixed && 'admin'],
      ['Disconnect', '/disconnect', !own.isFixed && 'admin', { isDanger: true }],
    ),
  };
}

/** The runs that read a resource. */
export const runsPage: Page = {
  path: `${path}/runs`,
  async show(request): Promise<View> {
    const { body } = await perform(request, 'list{one}Syncs', { query: { limit: '50' } });
    return {
      title: 'Runs',
      lead: 'Each run read the repository once. Open one to see what it published or rejected.',
      eyebrow: nameOf({ org: request.org, type: request.type!, slug: request.params['slug']! }),
      sections: [runSection(request, 'Newest first', path, body.items)],
    };
  },
};

/** One run, with what it did to the resource. */
export const runPage = runPageBelow(path, 'get{one}Sync');
