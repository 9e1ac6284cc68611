import type { Registry } from './registry.ts';

/** Shortest time between two records of a key's use, in milliseconds. */
const resolution = 60 * 60 * 1000;

interface KeyUse {
  at: string;
}

function keyUseRef(id: string): string {
  return `key-uses/${id}`;
}

/** When the key was last used, to within an hour; null if never. */
export async function readKeyUse(registry: Registry, id: string): Promise<string | null> {
  return (await registry.refs.read<KeyUse>(keyUseRef(id)))?.value.at ?? null;
}

/** Records that a key was used, at most once an hour. */
export async function noteKeyUse(registry: Registry, id: string): Promise<void> {
  const now = registry.now().getTime();
  const isNoted = (use: KeyUse | undefined) => use !== undefined && now - Date.parse(use.at) < resolution;
  if (isNoted((await registry.refs.read<KeyUse>(keyUseRef(id)))?.value)) return;
  await registry.refs.update<KeyUse>(keyUseRef(id), (current) => {
    if (isNoted(current?.value)) return null;
    const change = { actor: `key:${id}`, origin: null, action: 'use' };
    return { value: { at: new Date(now).toISOString() }, change };
  });
}
