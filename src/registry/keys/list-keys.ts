import { isUsable, keyRef, type Key } from '../../model/key.ts';
import type { Projection } from '../../store/log/projections.ts';
import type { Registry } from '../registry.ts';

/** The keys of each organization, by id. All keys are in one log: what an organization asks must not cost what all have. */
const keysByOrganization: Projection<Map<string, Map<string, Key>>> = {
  create: () => new Map(),
  change(view, name, _before, after) {
    if (!name.startsWith(keyRef(''))) return;
    const key = after as Key;
    const keys = view.get(key.org) ?? new Map<string, Key>();
    view.set(key.org, keys.set(key.id, key));
  },
};

/** The keys of an organization, oldest first. */
export async function listKeys({ refs }: Pick<Registry, 'refs'>, org: string): Promise<Key[]> {
  const keys = (await refs.projected(null, keysByOrganization)).get(org)?.values() ?? [];
  return [...keys].sort((a, b) => (a.createdAt < b.createdAt ? -1 : 1));
}

/** How many keys of an organization are neither revoked nor expired. */
export async function countLiveKeys(registry: Pick<Registry, 'refs' | 'expiryTime'>, org: string): Promise<number> {
  return (await listKeys(registry, org)).filter((key) => isUsable(key, registry.expiryTime)).length;
}
