import { holderOf, isUsable, keyRef, type Key } from '../../model/key.ts';
import type { Projection } from '../../store/log/state.ts';
import type { Registry } from '../registry.ts';

/** The keys of each organization and person, by id. All keys are in one log: what an organization asks must not cost what all have. */
const keysByHolder: Projection<Map<string, Map<string, Key>>> = {
  create: () => new Map(),
  change(view, name, _before, after) {
    if (!name.startsWith(keyRef(''))) return;
    const key = after as Key;
    view.getOrInsertComputed(holderOf(key), () => new Map<string, Key>()).set(key.id, key);
  },
};

/** The keys of an organization, or of a person (`holderOf`), oldest first. */
export async function listKeys({ refs }: Pick<Registry, 'refs'>, holder: string): Promise<Key[]> {
  const keys = (await refs.projected(null, keysByHolder)).get(holder)?.values() ?? [];
  return [...keys].sort((a, b) => (a.createdAt < b.createdAt ? -1 : 1));
}

/** The organizations that have or had a key. */
export async function holdersOfKeys({ refs }: Pick<Registry, 'refs'>): Promise<string[]> {
  return [...(await refs.projected(null, keysByHolder)).keys()].filter((holder) => !holder.startsWith('user:'));
}

/** How many keys of an organization are neither revoked nor expired. */
export async function countLiveKeys(registry: Pick<Registry, 'refs' | 'expiryTime'>, org: string): Promise<number> {
  return (await listKeys(registry, org)).filter((key) => isUsable(key, registry.expiryTime)).length;
}
