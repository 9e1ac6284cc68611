import { anonymous } from '../model/access.ts';
import type { Coordinate } from '../model/address.ts';
import { coordinateOf, findVersion, resourceRef, type Resource } from '../model/resource.ts';
import type { Generation } from '../store/generations.ts';
import type { Refs } from '../store/refs.ts';
import { readAmong } from './read-among.ts';
import { mayRead } from './readable.ts';
import type { Registry } from './registry.ts';

/** What anybody may read, as it stood at one moment. */
export interface PublicSnapshot {
  /** The registry, in which there is nothing else and nothing moves. It cannot be written to. */
  registry: Registry;
  /** Every resource that is there, in order of organization, type and slug. */
  resources: readonly Resource[];
  /** What was there for everybody and was deleted. */
  deleted: readonly Coordinate[];
  /** Whether all of it may still be shown: nothing was made private, deleted or withdrawn since. What was added meanwhile does not count. */
  mayStillBeShown(): Promise<boolean>;
}

/** Takes down what anybody may read, by the one policy. Private resources are not in it at all: a reader of it cannot come upon their names. */
export async function takePublicSnapshot(registry: Registry): Promise<PublicSnapshot> {
  const names = await Array.fromAsync(registry.refs.list('resources/'));
  const taken = new Map<string, Generation<Resource>>();
  for (const found of await readAll(registry, names)) {
    if (found !== null && isPublic(found.value)) taken.set(resourceRef(found.value), found);
  }
  const all = [...taken.values()].map(({ value }) => value);
  return {
    registry: { ...registry, refs: stillRefs(taken) },
    resources: all.filter(({ deletedAt }) => deletedAt === null),
    deleted: all.filter(({ deletedAt }) => deletedAt !== null).map(coordinateOf),
    async mayStillBeShown() {
      const now = await readAll(registry, all.map(resourceRef));
      return all.every((resource, index) => {
        const value = now[index]?.value;
        return value !== undefined && isPublic(value) && !hasLost(resource, value);
      });
    },
  };
}

/** Refs that are read at once: reading them one after the other would be waiting for the disk a thousand times. */
const atOnce = 32;

async function readAll(registry: Registry, names: readonly string[]): Promise<(Generation<Resource> | null)[]> {
  const found: (Generation<Resource> | null)[] = [];
  for (let start = 0; start < names.length; start += atOnce) {
    const some = names.slice(start, start + atOnce);
    found.push(...(await Promise.all(some.map((name) => readAmong<Resource>(registry, name)))));
  }
  return found;
}

function isPublic(resource: Resource): boolean {
  return mayRead(anonymous, resource);
}

/** Whether something that could be read before can be read no longer. */
function hasLost(before: Resource, now: Resource): boolean {
  if (before.deletedAt === null && now.deletedAt !== null) return true;
  return before.versions.some(
    ({ label, status }) => status.state !== 'withdrawn' && findVersion(now, label)?.status.state === 'withdrawn',
  );
}

/** Refs that hold these values for ever. */
function stillRefs(taken: ReadonlyMap<string, Generation<unknown>>): Refs {
  const read = async <T>(name: string) => (taken.get(name) as Generation<T> | undefined) ?? null;
  return {
    read,
    readFresh: read,
    async update() {
      throw new TypeError('A snapshot is not written to.');
    },
    async *history() {},
    async *list(prefix, after = '') {
      for (const name of taken.keys()) if (name.startsWith(prefix) && name > after) yield name;
    },
    watch: () => () => undefined,
  };
}
