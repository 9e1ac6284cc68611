import { isResourceGlob } from '../../model/access.ts';
import { invalidMember, conflict, notFound, quotaExceeded } from '../../model/errors.ts';
import { personRef, type Person } from '../../model/key.ts';
import { watchesRef, type Watch, type Watches } from '../../model/event.ts';
import type { Projection } from '../../store/log/state.ts';
import { attemptId, newId, type Author, type Registry } from '../registry.ts';

/** A watch, and whose it is. */
export interface PersonsWatch extends Watch {
  actor: string;
}

export type NewWatch = Pick<Watch, 'org' | 'resources' | 'events' | 'rhythm'>;

const maxWatches = 100;

/** All watches, by organization and id: whoever looks at an organization's events must not read those of all people. */
const byOrganization: Projection<Map<string, Map<string, PersonsWatch>>> = {
  create: () => new Map(),
  change(view, name, before, after) {
    if (!name.startsWith('watches/')) return;
    for (const { org, id } of (before as Watches | undefined)?.watches ?? []) view.get(org)?.delete(id);
    const { actor, watches } = after as Watches;
    for (const watch of watches)
      view.getOrInsertComputed(watch.org, () => new Map<string, PersonsWatch>()).set(watch.id, { ...watch, actor });
  },
};

/** The watches on an organization. */
export async function watchesOn({ refs }: Pick<Registry, 'refs'>, org: string): Promise<PersonsWatch[]> {
  return [...((await refs.projected(null, byOrganization)).get(org)?.values() ?? [])];
}

/** The organizations that somebody watches. */
export async function watchedOrganizations({ refs }: Pick<Registry, 'refs'>): Promise<string[]> {
  return [...(await refs.projected(null, byOrganization))].flatMap(([org, { size }]) => (size > 0 ? [org] : []));
}

/** The watch of this id on an organization, or null. */
export async function findWatch(
  { refs }: Pick<Registry, 'refs'>,
  org: string,
  id: string,
): Promise<PersonsWatch | null> {
  return (await refs.projected(null, byOrganization)).get(org)?.get(id) ?? null;
}

/** The watches of a person, oldest first. */
export async function listWatches({ refs }: Pick<Registry, 'refs'>, actor: string): Promise<Watch[]> {
  return (await refs.read<Watches>(watchesRef(actor)))?.value.watches ?? [];
}

/** The address of a person, as their last sign-in saw it. Null: none is known. */
export async function addressOf({ refs }: Pick<Registry, 'refs'>, actor: string): Promise<string | null> {
  return (await refs.read<Person>(personRef(actor)))?.value.email ?? null;
}

/**
 * A person watches something. Says nothing of whether it is there: what they get is decided when it happens. Throws
 * `conflict` where no mail is sent, or not to them.
 */
export async function createWatch(registry: Registry, actor: string, given: NewWatch, author: Author): Promise<Watch> {
  if (registry.config.mail === null) throw conflict('This registry sends no mail. Use a feed.');
  if ((await addressOf(registry, actor)) === null)
    throw conflict('Your identity provider sent no usable mail address. Use a feed.');
  if (given.resources?.some((glob) => !isResourceGlob(glob)))
    throw invalidMember('/resources', 'has a pattern that is not valid');
  const id = attemptId(author) ?? newId(registry);
  const watch: Watch = { ...given, id, begins: registry.now().toISOString() };
  await registry.refs.update<Watches>(watchesRef(actor), (current) => {
    const watches = current?.value.watches ?? [];
    if (watches.some((each) => each.id === id)) return null;
    if (watches.length >= maxWatches)
      throw quotaExceeded(`You may have at most ${maxWatches} watches. Delete one first.`);
    return { value: { actor, watches: [...watches, watch] }, change: { ...author, action: 'watch' } };
  });
  return watch;
}

/** Ends a watch. Throws `not_found` if the person has no such one, unless it is repeatable. */
export async function deleteWatch(
  { refs }: Pick<Registry, 'refs'>,
  actor: string,
  id: string,
  author: Author,
  { isRepeatable = false } = {},
): Promise<void> {
  await refs.update<Watches>(watchesRef(actor), (current) => {
    const watches = current?.value.watches ?? [];
    const left = watches.filter((each) => each.id !== id);
    if (left.length === watches.length && isRepeatable) return null;
    if (left.length === watches.length) throw notFound('You have no such watch.');
    return { value: { actor, watches: left }, change: { ...author, action: 'end watch' } };
  });
}
