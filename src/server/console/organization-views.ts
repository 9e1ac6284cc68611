import { resourceTypes } from '../../model/address.ts';
import { types } from '../../model/kinds.ts';
import { isAdmin } from './key-forms.ts';
import { facts, timeCell, type Action, type Cell, type Page, type Row, type Section } from './pages.ts';
import { splitTarget } from '../read/read-request.ts';
import { ask, here, may, type Visit } from './visit.ts';

interface Listed<T> {
  items: T[];
  next: string | null;
}

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

interface WebhookRecord {
  id: string;
  url: string;
  description: string;
  events: string[] | null;
  resources: string[] | null;
  state: string;
  reason: string | null;
  failingSince: string | null;
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
        columns: ['Name', 'Latest', 'Changed', 'Source'],
        rows: body.items.map(({ slug, name, visibility, latest, updatedAt, connection }) => ({
          cells: [
            { text: name, href: here({ ...visit, params: { type, slug } }, '/:type/:slug'), more: `${type}/${slug}` },
            latest === null ? { text: 'none', tag: 'warn' } : { text: latest, isCode: true },
            timeCell(updatedAt),
            { text: connection?.repository ?? 'uploads', ...(visibility === 'private' && { more: 'private' }) },
          ],
        })),
        empty: 'Nothing yet.',
        next: body.next === null ? null : `?${type}=${encodeURIComponent(body.next)}`,
      });
    }
    return {
      eyebrow: `@${visit.org}`,
      title: 'Overview',
      actions: may(visit, 'publish')
        ? [{ text: 'New', href: visit.site.links.path(`/console/new?org=${visit.org}`), isMain: true }]
        : [],
      sections,
    };
  },
};

const keys: Page = {
  path: '/keys',
  async show(visit) {
    const { body } = await listed<KeyRecord>(visit, 'listKeys');
    return {
      eyebrow: `@${visit.org}`,
      title: 'Keys',
      lead: 'For programs. A person signs in.',
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
          empty: 'There is no key yet.',
          next: nextOf(body),
        },
      ],
    };
  },
};

function keyState({ context }: Visit, { revokedAt, expiresAt }: KeyRecord): Cell {
  if (revokedAt !== null) return { text: 'revoked', tag: 'bad', more: timeCell(revokedAt).text };
  if (expiresAt === null) return { text: 'valid', tag: 'good' };
  const isOver = Date.parse(expiresAt) <= context.registry.now().getTime();
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

const webhooks: Page = {
  path: '/webhooks',
  async show(visit) {
    const { body } = await listed<WebhookRecord>(visit, 'listWebhooks');
    return {
      eyebrow: `@${visit.org}`,
      title: 'Webhooks',
      lead: 'Endpoints that are told what happens.',
      actions: [{ text: 'Add an endpoint', href: here(visit, '/webhooks/new'), isMain: true }],
      sections: [
        {
          title: 'Endpoints',
          columns: ['URL', 'Events', 'State'],
          rows: body.items.map((webhook) => ({
            cells: [
              {
                text: webhook.url,
                href: here({ ...visit, params: { webhook: webhook.id } }, '/webhooks/:webhook'),
                more: webhook.description,
              },
              { text: webhook.events?.join(', ') ?? 'all' },
              webhookState(webhook),
            ],
          })),
          empty: 'There is no endpoint yet.',
          next: nextOf(body),
        },
      ],
    };
  },
};

function webhookState({ state, reason, failingSince }: WebhookRecord): Cell {
  if (state !== 'enabled') return { text: state, tag: 'bad', ...(reason !== null && { more: reason }) };
  if (failingSince === null) return { text: 'enabled', tag: 'good' };
  return { text: 'failing', tag: 'warn', more: `since ${timeCell(failingSince).text}` };
}

const webhook: Page = {
  path: '/webhooks/:webhook',
  async show(visit) {
    const { body } = await ask<WebhookRecord>(visit, 'getWebhook');
    const deliveries = await listed<{
      id: string;
      type: string;
      subject: string;
      time: string;
      state: string;
      attempts: { status: number | null; error: string | null }[];
    }>(visit, 'listDeliveries');
    const to = (verb: string) => here(visit, `/webhooks/:webhook/${verb}`);
    return {
      eyebrow: 'Webhook endpoint',
      title: body.url,
      lead: body.description,
      tags: [webhookState(body)],
      actions: [
        { text: 'Send a test event', href: to('test') },
        { text: 'Change', href: to('edit') },
        { text: 'New secret', href: to('rotate') },
        { text: 'Delete', href: to('delete'), isDanger: true },
      ],
      sections: [
        {
          title: 'Receives',
          facts: facts([
            ['Events', body.events?.join(', ') ?? 'all'],
            ['Resources', body.resources?.join(', ') ?? 'all'],
          ]),
        },
        {
          title: 'Deliveries',
          columns: ['Event', 'When', 'State', 'Last answer'],
          rows: deliveries.body.items.map(({ id, type, subject, time, state, attempts }) => {
            const last = attempts.at(-1);
            return {
              cells: [
                { text: type, more: subject },
                timeCell(time),
                { text: state, tag: state === 'delivered' ? 'good' : state === 'failed' ? 'bad' : '' },
                { text: last === undefined ? 'none yet' : (last.error ?? String(last.status)) },
              ],
              actions: [
                {
                  text: 'Deliver again',
                  href: here(
                    { ...visit, params: { ...visit.params, event: id } },
                    '/webhooks/:webhook/deliveries/:event/redeliver',
                  ),
                  post: true,
                },
              ],
            };
          }),
          empty: 'Nothing was sent yet.',
          next: nextOf(deliveries.body),
        },
      ],
    };
  },
};

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
              { text: actor ?? 'hidden', ...(origin !== null && { more: origin }) },
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
    for (const type of resourceTypes) {
      const query = { limit: '100', deleted: 'true' };
      const { body } = await ask<Listed<Summary & { deletedAt: string }>>({ ...visit, type }, 'list{many}', { query });
      for (const { slug, name, deletedAt } of body.items) {
        const params = { type, slug };
        const href = here({ ...visit, params }, '/:type/:slug/undelete');
        rows.push({
          cells: [{ text: name, more: `${type}/${slug}` }, timeCell(deletedAt)],
          actions: [{ text: 'Bring it back', href }],
        });
      }
    }
    return {
      eyebrow: `@${visit.org}`,
      title: 'Deleted',
      lead: 'What was deleted in the last 30 days can be brought back.',
      sections: [{ title: 'Deleted resources', columns: ['Name', 'Deleted'], rows, empty: 'Nothing was deleted.' }],
    };
  },
};

/** Pages of the organization as a whole. */
export const organizationPages: readonly Page[] = [overview, keys, webhooks, webhook, audit, deleted];

function listed<T>(visit: Visit, operation: string) {
  const cursor = visit.query.get('cursor');
  return ask<Listed<T>>(visit, operation, { query: { limit: '50', ...(cursor !== null && { cursor }) } });
}

function nextOf({ next }: { next: string | null }): string | null {
  return next && `?cursor=${encodeURIComponent(next)}`;
}

/** The organization's pages that the visitor may open. */
export function sectionsOf(visit: Visit): { text: string; href: string; isHere: boolean }[] {
  const all: [string, string, boolean][] = [
    ['Overview', '', true],
    ['Repositories', '/repositories', may({ ...visit, type: null }, 'publish')],
    ['Keys', '/keys', isAdmin(visit)],
    ['Webhooks', '/webhooks', isAdmin(visit)],
    ['Audit', '/audit', isAdmin(visit)],
    ['Deleted', '/deleted', isAdmin(visit)],
  ];
  const pathname = visit.site.links.path(splitTarget(visit.request.originalUrl).path);
  return all.flatMap(([text, path, isOpen]) => {
    const href = here(visit, path);
    return isOpen
      ? [{ text, href, isHere: pathname === href || (path !== '' && pathname.startsWith(`${href}/`)) }]
      : [];
  });
}
