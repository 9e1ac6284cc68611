import type { Host } from '../hosts/host.ts';
import type { Registry } from './registry.ts';

/** The git host of a repository's URL and the repository's name there; null for an unknown host. */
export function hostOf({ hosts }: Pick<Registry, 'hosts'>, url: string): { host: Host; name: string } | null {
  for (const host of hosts) {
    const name = host.nameOf(url);
    if (name !== null) return { host, name };
  }
  return null;
}
