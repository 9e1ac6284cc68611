import type { DocumentState, Repository } from '../model/connection.ts';
import { parseCoordinate } from '../model/address.ts';
import { resourceRef, type Resource } from '../model/resource.ts';
import { filesOf, type Snapshot } from '../source/snapshot.ts';
import type { Registry } from './registry.ts';
import { readJson } from './stored.ts';

/**
 * The repository as it stands once the documents that moved are known under their new paths: a file that is gone is found where exactly its content
 * is now, if that is one place alone. Its resource and connection go along.
 */
export async function followMoves(registry: Registry, repository: Repository, snapshot: Snapshot): Promise<Repository> {
  const files = filesOf(await snapshot.entries());
  const gone = Object.entries(repository.documents).filter(
    ([path, { outcome, inputs }]) => !files.has(path) && outcome !== 'detached' && inputs !== null,
  );
  if (gone.length === 0) return repository;
  const places = new Map<string, string[]>();
  for (const [path, blob] of files) {
    if (!Object.hasOwn(repository.documents, path)) places.set(blob, [...(places.get(blob) ?? []), path]);
  }
  const documents = { ...repository.documents };
  for (const [from, state] of gone) {
    const blob = (await readJson<Record<string, string | null>>(registry, state.inputs!))[from];
    const [to, ...others] = places.get(blob ?? '') ?? [];
    if (to === undefined || others.length > 0 || Object.hasOwn(documents, to)) continue;
    delete documents[from];
    documents[to] = state;
    await moveConnection(registry, repository, state, from, to);
  }
  return { ...repository, documents };
}

/** Where the resource is connected to the old path, it is to the new one. */
async function moveConnection(
  registry: Registry,
  { org, url, branch }: Repository,
  { resource: name }: DocumentState,
  from: string,
  to: string,
): Promise<void> {
  const { coordinate } = parseCoordinate(name)!;
  await registry.refs.update<Resource>(resourceRef(coordinate), (current) => {
    const connection = current?.value.connection;
    if (!connection || connection.repository !== url || connection.branch !== branch || connection.path !== from)
      return null;
    const value = { ...current.value, connection: { ...connection, path: to } };
    return { value, change: { actor: `sync:${org}`, origin: null, action: 'follow a moved file' } };
  });
}
