import type { Repository } from '../model/connection.ts';
import type { Registry } from '../registry/registry.ts';
import { readJson } from '../registry/stored.ts';

/** Where documents moved to: old path → new path. */
export type Moves = ReadonlyMap<string, string>;

/**
 * Finds documents that moved: a missing file whose exact content is now at one other path, and only
 * one. `files`: blob ids by path.
 */
export async function findMoves(
  registry: Pick<Registry, 'objects'>,
  { documents }: Repository,
  files: ReadonlyMap<string, string>,
): Promise<Moves> {
  const gone = Object.entries(documents).filter(
    ([path, { outcome, inputs, view }]) =>
      view === undefined && !files.has(path) && outcome !== 'detached' && inputs !== null,
  );
  const moves = new Map<string, string>();
  if (gone.length === 0) return moves;
  const places = new Map<string, string[]>();
  for (const [path, blob] of files) {
    if (!Object.hasOwn(documents, path)) places.set(blob, [...(places.get(blob) ?? []), path]);
  }
  const taken = new Set<string>();
  for (const [from, { inputs }] of gone) {
    const blob = (await readJson<Record<string, string | null>>(registry, inputs!))[from];
    const [to, ...others] = places.get(blob ?? '') ?? [];
    if (to === undefined || others.length > 0 || taken.has(to)) continue;
    taken.add(to);
    moves.set(from, to);
  }
  return moves;
}

/** The repository with the state of moved documents under their new paths. */
export function withMoves(repository: Repository, moves: Moves): Repository {
  if (moves.size === 0) return repository;
  const entries = Object.entries(repository.documents).map(
    ([path, state]) => [moves.get(path) ?? path, state] as const,
  );
  return { ...repository, documents: Object.fromEntries(entries) };
}
