import { resourceTypes } from '../model/address.ts';
import { types } from '../model/kinds.ts';
import { graceDays } from '../registry/change-resource.ts';
import { isAdmin } from './key-forms.ts';
import { readersCell, timeCell, type Action, type Cell, type Page, type Row, type Section } from './pages.ts';
import { membersPage } from './member-views.ts';
import { splitTarget } from '../server/read/read-request.ts';
import { listed, nextOf, type Listed } from './listed.ts';
import { ask, here, may, mayPublish, type Visit } from './visit.ts';
import { namesOf, whoCell } from './who.ts';
import { settingsPages } from './settings-views.ts';
import { webhookPages } from './webhook-views.ts';

interface Summary {
  slug: string;
  name: string;
  visibility: string;
  latest: string | null;
  updatedAt: string;
  connection: { repository: string } | null;
}

interface KeyRecord {
  id: string;
  name: string;
  scopes: string[];
  resources: string[] | null;
  createdAt: string;
  expiresAt: string | null;
  revokedAt: string | null;
  lastUsedAt: string | null;
}

/** What the organization has. */
const overview: Page = {
  path: '',
  async show(visit) {
    const sections: Section[] = [];
    for (const type of resourceTypes) {
      const of = { ...visit, type };
      const cursor = visit.query.get(type);
      const { body } = await ask<Listed<Summary>>(of, 'list{many}', {
        query: { limit: '50', ...(cursor !== null && { cursor }) },
      });
      if (body.items.length === 0 && type !== 'apis') continue;
      sections.push({
        title: types[type].many,
        columns: ['Name', 'Latest', 'Readers', 'Changed', 'Source'],
        rows: body.items.map(({ slug, name, visibility, latest, updatedAt, connection }) => ({
          cells: [
            { text: name, href: here({ ...visit, params: { type, slug } }, '/:type/:slug'), more: `${type}/${slug}` },
            latest === null ? { text: 'none', tag: 'warn' } : { text: latest, isCode: true },
            readersCell(visibility),
            timeCell(updatedAt),
            { text: connection === null ? 'uploads' : placeOf(connection.repository) },
          ],
        })),
        // The first thing to do is here, and not only in the corner.
        ...(body.items.length === 0 && { actions: firstSteps(visit) }),
        empty: mayPublish(visit)
          ? 'Nothing is published yet. Paste a document, or follow a repository: every document in it is published.'
          : 'Nothing is published yet that you may read.',
        next: body.next === null ? null : `?${type}=${encodeURIComponent(body.next)}`,
      });
    }
    return {
      eyebrow: `@${visit.org}`,
      title: 'Overview',
      actions: mayPublish(visit)
        ? [{ text: 'New', href: visit.site.links.path(`/console/new?org=${visit.org}`), isMain: true }]
        : [],
      sections,
    };
  },
};

/** A repository without what all of them have: `github.com/acme/apis`. */
function placeOf(repository: string): string {
  return repository.replace(/^https?:\/\//, '').replace(/\.git$/, '');
}

function firstSteps(visit: Visit): Action[] {
  const { links } = visit.site;
  return [
    ...(mayPublish(visit) ? [{ text: 'Publish a document', href: links.path(`/console/new?org=${visit.org}`) }] : []),
    ...(isAdmin(visit) ? [{ text: 'Follow a repository', href: here(visit, '/repositories/new') }] : []),
  ];
}

const keys: Page = {
  path: '/keys',
  async show(visit) {
    const { body } = await listed<KeyRecord>(visit, 'listKeys');
    return {
      eyebrow: `@${visit.org}`,
      title: 'Keys',
      lead: 'For programs. People sign in.',
      actions: [{ text: 'Create a key', href: here(visit, '/keys/new'), isMain: true }],
      sections: [
        {
          title: 'All keys',
          columns: ['Name', 'It may', 'Last used', 'State'],
          rows: body.items.map((key) => ({
            cells: [
              { text: key.name, more: key.id },
              { text: key.scopes.join(', '), more: key.resources?.join(', ') ?? 'the whole organization' },
              timeCell(key.lastUsedAt),
              keyState(visit, key),
            ],
            actions: key.revokedAt === null ? keyActions(visit, key) : [],
          })),
          empty: 'No keys yet.',
          next: nextOf(body),
        },
      ],
    };
  },
};

function keyState({ context }: Visit, { revokedAt, expiresAt }: KeyRecord): Cell {
  if (revokedAt !== null) return { text: 'revoked', tag: 'bad', more: timeCell(revokedAt).text };
  if (expiresAt === null) return { text: 'valid', tag: 'good' };
  const isOver = Date.parse(expiresAt) <= context.registry.expiryTime().getTime();
  return {
    text: isOver ? 'expired' : 'valid',
    tag: isOver ? 'bad' : 'good',
    more: `until ${timeCell(expiresAt).text}`,
  };
}

function keyActions(visit: Visit, { id }: KeyRecord): Action[] {
  const to = (verb: string) => here({ ...visit, params: { key: id } }, `/keys/:key/${verb}`);
  return [
    { text: 'Change', href: to('edit') },
    { text: 'Replace', href: to('rotate') },
    { text: 'Revoke', href: to('revoke'), isDanger: true },
  ];
}

const audit: Page = {
  path: '/audit',
  async show(visit) {
    const { body } = await listed<{
      at: string;
      actor: string | null;
      origin: string | null;
      action: string;
      subject: { kind: string; id: string };
    }>(visit, 'listAudit');
    const names = await namesOf(
      visit,
      body.items.map(({ actor }) => actor),
    );
    return {
      eyebrow: `@${visit.org}`,
      title: 'Audit',
      lead: 'Who changed what, newest first.',
      sections: [
        {
          title: 'Changes',
          columns: ['When', 'Who', 'What', 'Of'],
          rows: body.items.map(({ at, actor, origin, action, subject }) => ({
            cells: [
              timeCell(at),
              whoCell(actor, names, origin),
              { text: action },
              { text: subject.id, more: subject.kind },
            ],
          })),
          empty: 'Nothing has changed yet.',
          next: nextOf(body),
        },
      ],
    };
  },
};

const deleted: Page = {
  path: '/deleted',
  async show(visit) {
    const rows: Row[] = [];
    const query = { limit: '100', deleted: 'true' };
    for (const type of resourceTypes) {
      const { body } = await ask<Listed<Summary & { deletedAt: string }>>({ ...visit, type }, 'list{many}', { query });
      for (const { slug, name, deletedAt } of body.items) {
        const params = { type, slug };
        const href = here({ ...visit, params }, '/:type/:slug/undelete');
        rows.push({
          cells: [{ text: name, more: `${type}/${slug}` }, timeCell(deletedAt), untilCell(deletedAt)],
          actions: [{ text: 'Bring it back', href }],
        });
      }
    }
    const { body: sites } = await ask<Listed<{ slug: string; title: string; deletedAt: string }>>(visit, 'listSites', {
      query,
    });
    for (const { slug, title, deletedAt } of sites.items)
      rows.push({
        cells: [{ text: title, more: `sites/${slug}` }, timeCell(deletedAt), untilCell(deletedAt)],
        actions: [{ text: 'Bring it back', href: here({ ...visit, params: { site: slug } }, '/sites/:site/undelete') }],
      });
    return {
      eyebrow: `@${visit.org}`,
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

/** The last moment at which what was deleted comes back. */
function untilCell(deletedAt: string): Cell {
  return timeCell(new Date(Date.parse(deletedAt) + graceDays * 86_400_000).toISOString());
}

/** Pages of the organization as a whole. */
export const organizationPages: readonly Page[] = [
  overview,
  membersPage,
  keys,
  ...webhookPages,
  audit,
  deleted,
  ...settingsPages,
];

/** The organization's pages that the visitor may open. */
export function sectionsOf(visit: Visit): { text: string; href: string; isHere: boolean }[] {
  const all: [string, string, boolean][] = [
    ['Overview', '', true],
    ['Sites', '/sites', true],
    ['Repositories', '/repositories', may({ ...visit, type: null }, 'publish')],
    ['Members', '/members', isAdmin(visit)],
    ['Keys', '/keys', isAdmin(visit)],
    ['Webhooks', '/webhooks', isAdmin(visit)],
    ['Audit', '/audit', isAdmin(visit)],
    ['Deleted', '/deleted', isAdmin(visit)],
    ['Settings', '/settings', isAdmin(visit)],
  ];
  const pathname = visit.site.links.path(splitTarget(visit.request.originalUrl).path);
  return all.flatMap(([text, path, isOpen]) => {
    const href = here(visit, path);
    // Resources are part of the overview.
    const isBelow = path === '' ? visit.type !== null : pathname.startsWith(`${href}/`);
    return isOpen ? [{ text, href, isHere: pathname === href || isBelow }] : [];
  });
}
