import type { Host } from '../hosts/host.ts';
import type { Registry } from './registry.ts';

/** The git host that a repository's URL is of, and the repository's name there; null where it is of none that is known. */
export function hostOf({ hosts }: Pick<Registry, 'hosts'>, url: string): { host: Host; name: string } | null {
  for (const host of hosts) {
    const name = host.nameOf(url);
    if (name !== null) return { host, name };
  }
  return null;
}
