import { isRegistryError } from '../../model/errors.ts';
import { placeOf } from '../../model/records.ts';
import type { Bucket } from '../bucket.ts';
import type { Decide, Generation } from '../generations.ts';
import { createObjects } from '../objects.ts';
import type { Records, RecordsOptions } from '../records.ts';
import { openPartition, type Partition } from './partition.ts';
import type { Noted } from './trail.ts';

/** The log of what belongs to no organization. */
const shared = 'registry';
/** Kind of the records in `registry` that name the organizations with a log. */
const organizations = 'logs';
const change = { actor: 'operator:store', origin: null, action: 'begin log' };

/** The records that are kept in logs. */
export interface Log extends Records {
  history<T>(name: string): AsyncGenerator<Generation<T>>;
  /** All changes of an organization's log, or of the registry's (null), oldest first. */
  trail(organization: string | null): Promise<readonly Noted[]>;
}

/**
 * Creates the logs of a bucket: one for each organization and one for the rest (design §5). Keeps
 * what they lead to in memory, least recently used out. `changed` is called with each name that was
 * changed through this object.
 */
export function createLog(
  bucket: Bucket,
  { maxAge = 500, memory = 512 * 1024 * 1024, failed = () => undefined, ...options }: RecordsOptions,
  changed: (name: string) => void,
): Log {
  const objects = createObjects(bucket, { cacheBytes: 0 });
  const told = (name: string): void => {
    if (!name.startsWith(`${organizations}/`)) changed(name);
  };
  /** In order of use, the least recent first. */
  const open = new Map<string, Promise<Partition>>();
  const sizes = new Map<string, Partition>();
  const begun = new Set<string>([shared]);
  const damaged = new Set<string>();

  function partition(id: string): Promise<Partition> {
    const found = open.get(id) ?? openPartition(bucket, objects, id, { ...options, changed: told, failed });
    open.delete(id);
    open.set(id, found);
    found.then(
      (opened) => {
        if (open.get(id) === found) sizes.set(id, opened);
        evict(id);
      },
      () => open.get(id) === found && open.delete(id),
    );
    return found;
  }

  /** Forgets logs until the rest fits, but none that is being changed. */
  function evict(used: string): void {
    let total = 0;
    for (const each of sizes.values()) total += each.size();
    for (const id of open.keys()) {
      if (total <= memory) return;
      const each = sizes.get(id);
      if (id === used || each === undefined || each.isBusy()) continue;
      total -= each.size();
      open.delete(id);
      sizes.delete(id);
    }
  }

  /** The log with what others appended at most `age` milliseconds ago. At a damaged entry it stops, and says so once. */
  async function fresh(id: string, age: number): Promise<Partition> {
    const opened = await partition(id);
    try {
      await opened.refresh(age);
      damaged.delete(id);
    } catch (error) {
      if (!isRegistryError(error, 'corrupt')) throw error;
      if (!damaged.has(id)) failed(error);
      damaged.add(id);
    }
    return opened;
  }

  /** Notes that an organization has a log, before it has one. */
  async function begin(id: string): Promise<void> {
    if (begun.has(id)) return;
    const log = await partition(shared);
    await log.update(`${organizations}/${id}`, (current) => (current === null ? { value: {}, change } : null));
    begun.add(id);
  }

  /** The logs in which names with the prefix can be, in the order of their names. */
  async function logsOf(prefix: string): Promise<string[]> {
    if (placeOf(prefix).kept === 'registry') return [shared];
    const [, org, more] = prefix.split('/');
    if (more !== undefined) return [`@${org}`];
    const names = (await fresh(shared, maxAge)).names(`${organizations}/`);
    return names.map((name) => name.slice(organizations.length + 1)).sort((a, b) => (`${a}/` < `${b}/` ? -1 : 1));
  }

  return {
    async read<T>(name: string) {
      return (await fresh(logOf(name), maxAge)).get(name) as Generation<T> | null;
    },

    async readFresh<T>(name: string) {
      return (await fresh(logOf(name), 0)).get(name) as Generation<T> | null;
    },

    async update<T>(name: string, decide: Decide<T>) {
      const id = logOf(name);
      await begin(id);
      return (await (await partition(id)).update(name, decide as Decide<unknown>)) as Generation<T> | null;
    },

    async *newest(prefix, after) {
      for (const id of await logsOf(prefix)) {
        const log = await fresh(id, maxAge);
        for (const name of log.names(prefix, after)) {
          const generation = log.get(name);
          if (generation) yield { name, generation: generation.generation };
        }
      }
    },

    async trail(organization) {
      return (await fresh(organization === null ? shared : `@${organization}`, maxAge)).trail();
    },

    async *history<T>(name: string) {
      yield* (await partition(logOf(name))).history(name) as AsyncGenerator<Generation<T>>;
    },
  };
}

/** The log that holds a record: `@` and the organization, or `registry`. */
function logOf(name: string): string {
  return placeOf(name).kept === 'organization' ? `@${name.split('/')[1]!}` : shared;
}
