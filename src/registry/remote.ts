import { readCredential } from '../config.ts';
import type { Repository } from '../model/connection.ts';
import type { Remote } from '../source/source.ts';
import type { Registry } from './registry.ts';

/** The repository as `source/` takes it. */
export function remoteOf(
  registry: Registry,
  { url, branch, credential }: Pick<Repository, 'url' | 'branch' | 'credential'>,
): Remote {
  return { url, branch, credential: credential === null ? null : readCredential(registry.config, credential) };
}
