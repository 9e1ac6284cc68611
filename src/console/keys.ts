import { type Form, type FormCodes, timeCell, type Cell, type ListCode } from './pages.ts';
import { type ConsoleRequest, here, type Listed } from './console-request.ts';
import { isAllowed } from '../model/access.ts';
import { keyRef, type Key } from '../model/key.ts';
import { listMembers } from '../registry/keys/people.ts';

const showKey: NonNullable<Form['show']> = ({ body }) => ({
  title: `Key ${String(body['name'])}`,
  secret: {
    label: 'The key',
    text: String(body['secret']),
    advice:
      body['use'] === 'feeds'
        ? 'Copy it now: it is not shown again. Append it to the URL of a feed: /feed.atom?token=…'
        : 'Copy it now: it is not shown again. Send it as Authorization: Bearer, or set it as STELE_KEY.',
  },
  actions: [{ text: 'All keys', href: '/keys' }],
});

/** The code of forms about keys, of organizations and of people. */
export const keyCodes: FormCodes = { '/keys/new': { show: showKey }, '/keys/:key/rotate': { show: showKey } };

/** Whether the person may administer the whole organization. */
export function isAdmin(request: Pick<ConsoleRequest, 'session' | 'org'>): boolean {
  return isAllowed(request.session.principal, 'admin', { org: request.org });
}

export type KeyRecord = Listed<'listKeys'>;

/** A list of keys. `rowOf`: what it may, what else is known of it, and what one may do with it. */
export function listOfKeys(
  rowOf: (
    key: KeyRecord,
    names: ReadonlyMap<string, string>,
  ) => { more: string; may: Cell; actions: readonly string[] },
): ListCode<'listKeys' | 'listMyKeys'> {
  return {
    async rows(items, request) {
      const names = await namesOf(
        request,
        items.map(({ person }) => (person === undefined ? null : `user:${person}`)),
      );
      return items.map((key) => {
        const { more, may, actions } = rowOf(key, names);
        return {
          cells: [{ text: key.name, more }, may, timeCell(key.lastUsedAt), keyState(request, key)],
          actions: (key.revokedAt === null ? actions : []).map((text) => ({
            text,
            href: here(request, `/keys/:key/${verbs[text]}`, { key: key.id }),
            ...(text === 'Revoke' && { isDanger: true }),
          })),
        };
      });
    },
  };
}

const verbs: Readonly<Record<string, string>> = { Change: 'edit', Replace: 'rotate', Revoke: 'revoke' };

/** The keys of the organization, and those of people that allow something in it. */
export const keyList = listOfKeys(({ id, owner, scopes, resources, person }, names) => ({
  more: owner === null ? id : `${id}, ${owner}`,
  may: {
    text: scopes.join(', '),
    more:
      person === undefined
        ? (resources?.join(', ') ?? 'the whole organization')
        : `at most what ${names.get(`user:${person}`) ?? person} may`,
  },
  actions: person === undefined ? ['Change', 'Replace', 'Revoke'] : ['Revoke'],
}));

function keyState({ context }: ConsoleRequest, { revokedAt, expiresAt }: KeyRecord): Cell {
  if (revokedAt !== null) return { text: 'revoked', tag: 'bad', more: timeCell(revokedAt).text };
  if (expiresAt === null) return { text: 'valid', tag: 'good' };
  const isOver = Date.parse(expiresAt) <= context.registry.expiryTime().getTime();
  return {
    text: isOver ? 'expired' : 'valid',
    tag: isOver ? 'bad' : 'good',
    more: `until ${timeCell(expiresAt).text}`,
  };
}

/**
 * The names of those who did something, for who administers the organization: of people as sign-in saw them, and of
 * keys that are not revoked. Others see no names of keys or people here.
 */
export async function namesOf(
  request: ConsoleRequest,
  actors: readonly (string | null)[],
): Promise<ReadonlyMap<string, string>> {
  if (!isAdmin(request)) return new Map();
  const { org, context } = request;
  const { registry } = context;
  const names = new Map((await listMembers(registry, org)).map(({ actor, name }) => [actor, name]));
  for (const actor of new Set(actors)) {
    const [, id] = /^key:(.+)$/.exec(actor ?? '') ?? [];
    const key = id === undefined ? null : (await registry.refs.read<Key>(keyRef(id)))?.value;
    if (key?.org === org && key.revokedAt === null) names.set(actor!, key.name);
  }
  return names;
}

/** Who did something: the name if there is one, and what else is known smaller. */
export function whoCell(actor: string | null, names: ReadonlyMap<string, string>, ...more: (string | null)[]): Cell {
  if (actor === null) return { text: 'hidden' };
  const name = names.get(actor);
  const rest = [name === undefined ? null : actor, ...more].filter((text) => text !== null).join(' · ');
  return { text: name ?? actor, ...(rest !== '' && { more: rest }) };
}
