import { readCredential } from '../config.ts';
import type { Repository } from '../model/connection.ts';
import type { Credential, Remote } from '../source/source.ts';
import { hostOf } from './host-of.ts';
import type { Registry } from './registry.ts';

/** The repository as `source/` takes it: its branch, or another ref of it. */
export async function remoteOf(
  registry: Registry,
  { url, branch, credential }: Pick<Repository, 'url' | 'branch' | 'credential'>,
  ref: string = branch === null ? 'HEAD' : `refs/heads/${branch}`,
): Promise<Remote> {
  return { url, ref, credential: credential === null ? null : await credentialFor(registry, url, credential) };
}

/** The credential itself. An app's is made by its host and lives an hour. */
async function credentialFor(registry: Registry, url: string, name: string): Promise<Credential> {
  const found = hostOf(registry, url);
  const minted = found && (await found.host.gitCredential({ name: found.name, credential: name }));
  return minted ?? readCredential(registry.config, name);
}
