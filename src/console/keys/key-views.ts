import { here, type ConsoleRequest } from '../console-request.ts';
import { nextOf, performList } from '../list-page.ts';
import { timeCell, type Action, type Cell, type Page } from '../pages.ts';
import { namesOf } from '../people/who.ts';

/** A key as `/v1` describes it. */
export interface KeyRecord {
  id: string;
  name: string;
  owner: string | null;
  scopes: string[];
  resources: string[] | null;
  person?: string;
  use?: 'requests' | 'feeds';
  organizations?: string[] | null;
  createdAt: string;
  expiresAt: string | null;
  revokedAt: string | null;
  lastUsedAt: string | null;
}

/** The keys of the organization, and those of people that allow something in it. */
export const keysPage: Page = {
  path: '/keys',
  async show(request) {
    const { body } = await performList<KeyRecord>(request, 'listKeys');
    const owners = body.items.map(({ person }) => (person === undefined ? null : `user:${person}`));
    const names = await namesOf(request, owners);
    return {
      eyebrow: `@${request.org}`,
      title: 'Keys',
      lead: 'For programs such as CI jobs. Create one to let a program publish or read; revoke one and it stops within a second. People sign in instead.',
      actions: [{ text: 'Create a key', href: here(request, '/keys/new'), isMain: true }],
      sections: [
        {
          title: 'All keys',
          columns: ['Name', 'It may', 'Last used', 'State'],
          rows: body.items.map((key) => ({
            cells: [
              { text: key.name, more: key.owner === null ? key.id : `${key.id}, ${key.owner}` },
              {
                text: key.scopes.join(', '),
                more:
                  key.person === undefined
                    ? (key.resources?.join(', ') ?? 'the whole organization')
                    : `at most what ${names.get(`user:${key.person}`) ?? key.person} may`,
              },
              timeCell(key.lastUsedAt),
              keyState(request, key),
            ],
            actions: key.revokedAt === null ? keyActions(request, key) : [],
          })),
          empty: 'No keys yet.',
          next: nextOf(body),
        },
      ],
    };
  },
};

/** Whether a key still works, and until when. */
export function keyState({ context }: ConsoleRequest, { revokedAt, expiresAt }: KeyRecord): Cell {
  if (revokedAt !== null) return { text: 'revoked', tag: 'bad', more: timeCell(revokedAt).text };
  if (expiresAt === null) return { text: 'valid', tag: 'good' };
  const isOver = Date.parse(expiresAt) <= context.registry.expiryTime().getTime();
  return {
    text: isOver ? 'expired' : 'valid',
    tag: isOver ? 'bad' : 'good',
    more: `until ${timeCell(expiresAt).text}`,
  };
}

function keyActions(request: ConsoleRequest, { id, person }: KeyRecord): Action[] {
  const to = (verb: string) => here({ ...request, params: { key: id } }, `/keys/:key/${verb}`);
  const revoke = { text: 'Revoke', href: to('revoke'), isDanger: true };
  if (person !== undefined) return [revoke];
  return [{ text: 'Change', href: to('edit') }, { text: 'Replace', href: to('rotate') }, revoke];
}
