import type { Host } from '../hosts/host.ts';
import type { Repository } from '../model/connection.ts';
import type { Registry } from './registry.ts';

/** The git host of a repository's URL and the repository's name there; null for an unknown host. */
export function hostOf({ hosts }: Pick<Registry, 'hosts'>, url: string): { host: Host; name: string } | null {
  for (const host of hosts) {
    const name = host.nameOf(url);
    if (name !== null) return { host, name };
  }
  return null;
}

/** The URL under which an organization follows a repository now, where it was renamed on its host. */
export async function urlNow({ refs }: Pick<Registry, 'refs'>, org: string, url: string): Promise<string> {
  const all = await refs.all<Repository>(`repositories/${org}/`);
  const seen = new Set<string>();
  let now = url;
  while (!seen.has(now)) {
    seen.add(now);
    now = all.find(({ value }) => value.url === now && value.renamed !== undefined)?.value.renamed ?? now;
  }
  return now;
}
