import { keyRef, type Key } from '../../model/key.ts';
import { listMembers } from '../../registry/keys/people.ts';
import { isAdmin } from '../keys/key-forms.ts';
import type { Cell } from '../pages.ts';
import type { ConsoleRequest } from '../console-request.ts';

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
