import { formatCoordinate } from '../model/address.ts';
import type { DocumentState, Repository } from '../model/connection.ts';
import { findMoves, withMoves, type Moves, planAll } from '../plan/plan.ts';
import type { Reading } from '../plan/settings-of.ts';
import type { Registry } from '../registry/registry.ts';
import { filesOf, type Snapshot } from '../source/snapshot.ts';
import { digestOf, type Digest } from '../model/digest.ts';
import type { Decide, Generation } from '../store/records.ts';

/** The documents of the target branch, planned as the next sync of it would. */
export interface PlanTarget {
  snapshot: Snapshot;
  /** Blob ids by path. */
  files: ReadonlyMap<string, string>;
  /** The repository as that sync would leave it: each document has its resource. */
  standing: Repository;
  /** Files that moved since the last sync. */
  moves: Moves;
  plan: Awaited<ReturnType<typeof planAll>>;
}

/** Plans the target branch. */
export async function planTarget({ registry, repository, snapshot, signal }: Reading): Promise<PlanTarget> {
  const files = filesOf(await snapshot.entries());
  const moves = await findMoves(registry, repository, files);
  const moved = withMoves(repository, moves);
  const plan = await planAll({ registry, repository: moved, snapshot, signal }, moves);
  const documents = { ...moved.documents };
  for (const { path, coordinate } of plan.planned) {
    const resource = formatCoordinate(coordinate);
    const recorded = Object.hasOwn(documents, path) ? documents[path]! : unread(registry);
    documents[path] = { ...recorded, resource };
  }
  return { snapshot, files, standing: { ...moved, documents }, moves, plan };
}

/** The state of a document that no sync has read yet. */
function unread(registry: Registry): DocumentState {
  const nothing = { label: null, report: null, inputs: null, rulesetName: null, ruleset: null };
  return { resource: '', outcome: 'unchanged', ...nothing, compiler: registry.compiler.id };
}

/** Paths whose entry differs: added, removed, changed, or of another kind. */
export async function changedPaths(before: Snapshot, after: Snapshot): Promise<Set<string>> {
  const idsOf = async (snapshot: Snapshot) =>
    new Map((await snapshot.entries()).map(({ path, kind, id }) => [path, `${kind} ${id}`]));
  const [old, now] = [await idsOf(before), await idsOf(after)];
  const changed = [...now].flatMap(([path, id]) => (old.get(path) === id ? [] : [path]));
  return new Set([...changed, ...[...old.keys()].filter((path) => !now.has(path))]);
}

/** Moves of files after others. */
export function followMoves(first: Moves, then: Moves): Moves {
  return new Map([...then, ...[...first].map(([from, to]) => [from, then.get(to) ?? to] as const)]);
}

/**
 * A view of the registry that keeps in its memory what is written through it. The registry itself
 * never changes, so that publishing into the view shows what publishing would give.
 */
export function createTrialRegistry(registry: Registry): Registry {
  const { refs, objects } = registry;
  const written = new Map<string, Generation<unknown>>();
  const stored = new Map<Digest, Uint8Array>();
  const keep = (bytes: Uint8Array | string): Digest => {
    const digest = digestOf(bytes);
    stored.set(digest, typeof bytes === 'string' ? Buffer.from(bytes) : bytes);
    return digest;
  };
  const writtenHere = <T>(name: string) => written.get(name) as Generation<T> | undefined;
  return {
    ...registry,
    answers: registry.answers.contentsOnly(),
    refs: {
      ...refs,
      read: async <T>(name: string) => writtenHere<T>(name) ?? refs.read<T>(name),
      readFresh: async <T>(name: string) => writtenHere<T>(name) ?? refs.readFresh<T>(name),
      async update<T>(name: string, decide: Decide<T>) {
        const current = writtenHere<T>(name) ?? (await refs.read<T>(name));
        const decided = await decide(current);
        if (decided === null) return current;
        const stamp = { writeId: 'overlay', at: registry.now().toISOString() };
        const generation = (current?.generation ?? 0) + 1;
        const next: Generation<T> = { generation, ...stamp, ...decided.change, value: decided.value };
        written.set(name, next);
        return next;
      },
    },
    objects: {
      ...objects,
      put: async (bytes) => keep(bytes),
      async putPack(root, shared, alone = []) {
        [...shared, ...alone].forEach(keep);
        return keep(root);
      },
      get: async (digest, pack) => stored.get(digest) ?? objects.get(digest, pack),
      async delete() {
        throw new TypeError('A view must not delete objects.');
      },
    },
  };
}
