import type { Coordinate } from '../model/address.ts';
import { countText } from '../model/problem.ts';
import { coordinateOf, nameOf } from '../model/resource.ts';
import { types } from '../model/kinds.ts';
import { mayReadOrganization } from '../registry/readable.ts';
import { isRegistryError } from '../model/errors.ts';
import { defaultsOf } from '../registry/gate/policy.ts';
import {
  facts,
  stateCell,
  timeCell,
  type Action,
  type Cell,
  type Page,
  type Row,
  type Section,
  type View,
} from './pages.ts';
import { reportSection, runTable, runView } from './run-view.ts';
import { approvalLinks } from './approvals.ts';
import { perform, here, may, subjectOf, type ConsoleRequest, type Answered, type Listed } from './console-request.ts';

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
    const isPublisher = may(request, 'publish');
    const isAdmin = may(request, 'admin');
    const target = { org: request.org, type: request.type!, slug: resource.slug };
    const link = (text: string, to: string, more: Partial<Action> = {}) => ({
      text,
      href: here(request, `${path}${to}`),
      ...more,
    });
    return {
      eyebrow: nameOf(coordinateOf(target)),
      title: resource.name,
      lead: resource.description,
      tags: [{ text: resource.visibility, tag: resource.visibility === 'public' ? 'good' : '' }],
      actions: [
        ...(isPublisher ? [link('Publish a version', '/publish', { isMain: true })] : []),
        { text: 'Open the page', href: request.site.links.to(target, { view: 'page' }) },
      ],
      sections: [
        {
          title: 'Versions',
          id: 'versions',
          lead: isPublisher ? versionsLead : 'A version never changes. Open one to read it.',
          columns: ['Version', 'Published', 'State'],
          rows: versions.body.items.map((version) => versionRow(request, version, { isPublisher, isAdmin })),
          empty: `Nothing is published yet. Publish ${types[request.type!].noun}, or connect a repository.`,
        },
        await usersSection(request, target),
        await connectionSection(request, link, { isPublisher, isAdmin }),
        {
          title: 'Settings',
          facts: facts([
            ['Latest', resource.latest === null ? 'none' : { text: resource.latest, isCode: true }],
            ['Address', { text: resource.url, href: resource.url, isCode: true }],
            ['Ruleset', await rulesetCell(request, resource.ruleset)],
          ]),
          actions: [
            ...(isPublisher
              ? [
                  link('Name and description', '/details'),
                  link('Owner and links', '/ownership'),
                  link('Latest', '/latest'),
                ]
              : []),
            ...(isPublisher && request.type === 'rulesets' ? [link('What would it reject?', '/replay')] : []),
            ...(isAdmin ? [link('Visibility', '/visibility'), link('Checks', '/checks')] : []),
          ],
        },
        ...(isAdmin
          ? [
              {
                title: 'Delete',
                lead: 'After that, none of its versions is served. You can bring it back for 30 days.',
                actions: [link('Delete it', '/delete', { isDanger: true })],
              },
            ]
          : []),
      ],
    };
  },
};

const versionsLead =
  'Deprecate warns whoever reads a version. Yank keeps it for whoever names it, and ranges and latest pass it over. Withdraw deletes its bytes for everybody.';

/** The first of those who use the resource. */
async function usersSection(request: ConsoleRequest, target: Coordinate): Promise<Section> {
  const { body } = await perform(request, 'list{one}Dependants', { query: { limit: '10' } });
  return {
    title: 'Used by',
    lead: 'They have one of its versions. Before you change what they rely on, see who is behind.',
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
    eyebrow: nameOf(coordinateOf(target)),
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

function versionRow(
  request: ConsoleRequest,
  { version, publishedAt, latest, status, url }: VersionRecord,
  { isPublisher, isAdmin }: { isPublisher: boolean; isAdmin: boolean },
): Row {
  const { state } = status;
  const to = (text: string, verb: string, more: Partial<Action> = {}): Action => ({
    text,
    href: here(request, `${path}/versions/:version/${verb}`, { version }),
    ...more,
  });
  return {
    cells: [
      { text: version, isCode: true, ...(state !== 'withdrawn' && { href: url }), ...(latest && { more: 'latest' }) },
      timeCell(publishedAt),
      stateCell(state, 'reason' in status ? status.reason : null),
    ],
    actions: [
      ...(isPublisher && state === 'active' ? [to('Deprecate', 'deprecate'), to('Yank', 'yank')] : []),
      ...(isPublisher && (state === 'deprecated' || state === 'yanked') ? [to('Make active', 'restore')] : []),
      ...(isAdmin && state !== 'withdrawn' ? [to('Withdraw', 'withdraw', { isDanger: true })] : []),
    ],
  };
}

async function connectionSection(
  request: ConsoleRequest,
  link: (text: string, to: string, more?: Partial<Action>) => Action,
  { isPublisher, isAdmin }: { isPublisher: boolean; isAdmin: boolean },
): Promise<Section> {
  const title = 'Repository';
  const connection = await perform(request, 'get{one}Connection').catch((error: unknown) => {
    if (isRegistryError(error, 'not_found')) return null;
    throw error;
  });
  if (connection === null) {
    return {
      title,
      lead: 'Not connected: versions are uploaded.',
      actions: isAdmin ? [link('Connect a file', '/connection')] : [],
    };
  }
  const { repository, branch, path: file, state, detail, commit, since } = connection.body;
  const approval = state === 'waiting' ? (await approvalLinks(request)).get(subjectOf(request)) : undefined;
  return {
    title,
    facts: facts([
      ['Repository', repository ?? null],
      ['Branch', branch ?? "the repository's default branch"],
      ['File', { text: file ?? '', isCode: true }],
      ['State', approval === undefined ? stateCell(state ?? '', detail) : { ...stateCell('waiting'), href: approval }],
      ['Since', since ? timeCell(since) : null],
      ['Commit', commit ? { text: commit.slice(0, 12), isCode: true } : null],
    ]),
    actions: [
      ...(isPublisher ? [link('Sync now', '/sync', { post: true })] : []),
      link('Runs', '/runs'),
      ...(isAdmin ? [link('Change', '/connection'), link('Disconnect', '/disconnect', { isDanger: true })] : []),
    ],
  };
}

/** The runs that read a resource. */
export const runsPage: Page = {
  path: `${path}/runs`,
  async show(request): Promise<View> {
    const { body } = await perform(request, 'list{one}Syncs', { query: { limit: '50' } });
    const hrefOf = (run: string) => here(request, `${path}/runs/:run`, { run });
    return {
      title: 'Runs',
      lead: 'Each run read the repository once. Open one to see what it published or rejected.',
      eyebrow: nameOf({ org: request.org, type: request.type!, slug: request.params['slug']! }),
      sections: [{ title: 'Newest first', ...runTable(body.items, hrefOf) }],
    };
  },
};

/** One run, with what it did to the resource. */
export const runPage: Page = {
  path: `${path}/runs/:run`,
  async show(request) {
    const { body } = await perform(request, 'get{one}Sync');
    return runView(
      request,
      body,
      here(request, `${path}/runs/:run/events`),
      here(request, path),
      here(request, `${path}/sync`),
    );
  },
};
