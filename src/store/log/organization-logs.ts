import { isRegistryError } from '../../model/errors.ts';
import { placeOf } from '../../model/record-places.ts';
import type { Bucket } from '../bucket.ts';
import type { Decide, Generation } from '../generations.ts';
import { createObjects } from '../objects.ts';
import type { Records, RecordsOptions, UpdateOptions } from '../records.ts';
import { logOf, shared } from './entry.ts';
import { openPartition, type Partition } from './partition.ts';
import type { Noted } from './trail.ts';

/** Kind of the records in `registry` that name the organizations with a log. */
const organizations = 'logs';
/** Logs that a list over all organizations refreshes at once. */
const atOnce = 32;
const first = { actor: 'operator:store', origin: null, action: 'begin log' };

/** The records that are kept in logs. */
export interface Log extends Records {
  /** See `Refs.tip`. */
  tip(logs: Logs): number | null;
  /** See `Refs.follow`. */
  follow(logs: Logs): Promise<number>;
  /** See `Refs.all`. */
  all<T>(prefix: string): Promise<readonly Generation<T>[]>;
  history<T>(name: string): AsyncGenerator<Generation<T>>;
  /** See `Refs.refresh`. */
  refresh(prefix: string): Promise<void>;
  /** All changes of an organization's log, or of the registry's (null), oldest first. */
  trail(organization: string | null): Promise<readonly Noted[]>;
  /** Bytes of the logs in memory, roughly, and how many they may be. */
  use(): { bytes: number; limit: number };
}

/** The names of logs, such as `@acme` and `registry`, or all that there are. */
export type Logs = readonly string[] | 'all';

/** A log in memory, or on its way there. */
interface Opened {
  partition: Promise<Partition>;
  opened: Partition | null;
  /** Bytes, when they were counted last. */
  size: number;
  /** How many changes of it are under way. */
  changes: number;
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
  const publicChange = (name: string): void => {
    if (!name.startsWith(`${organizations}/`)) changed(name);
  };
  /** In order of use, the least recent first. */
  const open = new Map<string, Opened>();
  /** The one that was used last. */
  let newest = shared;
  /** Of all opened logs, in bytes. */
  let total = 0;
  const begun = new Set<string>([shared]);
  const damaged = new Set<string>();

  function use(id: string): Opened {
    const found = open.get(id) ?? begin(id);
    open.delete(id);
    open.set(id, found);
    newest = id;
    return found;
  }

  function begin(id: string): Opened {
    const opening = openPartition(bucket, objects, id, { ...options, changed: publicChange, failed });
    const made: Opened = { partition: opening, opened: null, size: 0, changes: 0 };
    opening.then(
      (opened) => {
        made.opened = opened;
        measure(id, made);
      },
      () => void (open.get(id) === made && open.delete(id)),
    );
    return made;
  }

  /** Counts what a log takes now. Forgets others until the rest fits, but none that is being changed. */
  function measure(id: string, used: Opened): void {
    if (used.opened === null || open.get(id) !== used) return;
    const size = used.opened.size();
    total += size - used.size;
    used.size = size;
    for (const [other, each] of open) {
      if (total <= memory) return;
      if (other === id || each.opened === null || each.changes > 0) continue;
      total -= each.size;
      open.delete(other);
    }
  }

  /** The log with what others appended at most `age` milliseconds ago. Rejects with `corrupt` at a damaged entry. */
  async function exact(id: string, age: number): Promise<Partition> {
    const used = use(id);
    const opened = await used.partition;
    await opened.refresh(age);
    measure(id, used);
    return opened;
  }

  /** As `exact`, but at a damaged entry it stops, and says so once. */
  async function fresh(id: string, age: number): Promise<Partition> {
    try {
      const opened = await exact(id, age);
      damaged.delete(id);
      return opened;
    } catch (error) {
      if (!isRegistryError(error, 'corrupt')) throw error;
      if (!damaged.has(id)) failed(error);
      damaged.add(id);
      return use(id).partition;
    }
  }

  /** Changes a record. Its log stays in memory meanwhile: one that is opened again would not have the change. */
  async function change(
    id: string,
    name: string,
    decide: Decide<unknown>,
    fence?: UpdateOptions['fence'],
  ): Promise<Generation<unknown> | null> {
    const used = use(id);
    used.changes++;
    try {
      const own = fence && logOf(fence.name) === id ? fence : undefined;
      return await (await used.partition).update(name, decide, own);
    } finally {
      used.changes--;
      measure(id, used);
    }
  }

  /** Notes that an organization has a log, before it has one. */
  async function note(id: string): Promise<void> {
    if (begun.has(id)) return;
    await change(shared, `${organizations}/${id}`, (current) =>
      current === null ? { value: {}, change: first } : null,
    );
    begun.add(id);
  }

  /** Some logs in this order, refreshed some at a time. */
  async function* freshLogs(ids: readonly string[]): AsyncGenerator<Partition> {
    for (let from = 0; from < ids.length; from += atOnce) {
      yield* await Promise.all(ids.slice(from, from + atOnce).map((id) => fresh(id, maxAge)));
    }
  }

  /** The logs in which names with the prefix after a name can be, in the order of their names. */
  async function logsOf(prefix: string, after: string): Promise<string[]> {
    if (placeOf(prefix).kept === 'registry') return [shared];
    const [, org, more] = prefix.split('/');
    if (more !== undefined) return [`@${org}`];
    const from = `${logOf(after)}/`;
    return namesOf(await fresh(shared, maxAge))
      .filter((id) => `${id}/` >= from)
      .sort((a, b) => (`${a}/` < `${b}/` ? -1 : 1));
  }

  /** How far a log was read, if that is new enough; else null. */
  function tipOf(id: string): number | null {
    const opened = open.get(id)?.opened ?? null;
    if (opened === null || !opened.isFresh(maxAge)) return null;
    if (id !== newest && id !== shared) use(id);
    return opened.sequence();
  }

  /** The names of all logs, without waiting; null: not known. */
  function knownLogs(): string[] | null {
    return tipOf(shared) === null ? null : [shared, ...namesOf(open.get(shared)!.opened!)];
  }

  return {
    async read<T>(name: string) {
      return (await fresh(logOf(name), maxAge)).get(name) as Generation<T> | null;
    },

    tip(logs) {
      const ids = logs === 'all' ? knownLogs() : logs;
      if (ids === null) return null;
      let sum = 0;
      for (const id of ids) {
        const tip = tipOf(id);
        if (tip === null) return null;
        sum += tip;
      }
      return sum;
    },

    async follow(logs) {
      const ids = logs === 'all' ? [shared, ...namesOf(await fresh(shared, maxAge))] : logs;
      let sum = 0;
      for await (const log of freshLogs(ids)) sum += log.sequence();
      return sum;
    },

    async all<T>(prefix: string) {
      const parts: (readonly Generation<unknown>[])[] = [];
      for await (const log of freshLogs(await logsOf(prefix, prefix))) parts.push(log.all(prefix));
      return (parts.length === 1 ? parts[0]! : parts.flat()) as readonly Generation<T>[];
    },

    async readFresh<T>(name: string) {
      return (await exact(logOf(name), 0)).get(name) as Generation<T> | null;
    },

    async update<T>(name: string, decide: Decide<T>, { fence }: UpdateOptions = {}) {
      const id = logOf(name);
      await note(id);
      return (await change(id, name, decide as Decide<unknown>, fence)) as Generation<T> | null;
    },

    async *newest(prefix, after) {
      for await (const log of freshLogs(await logsOf(prefix, after ?? prefix))) {
        for (const name of log.names(prefix, after)) yield { name, generation: log.generation(name) };
      }
    },

    async refresh(prefix) {
      for (const id of [shared, ...(await logsOf(prefix, prefix))]) await exact(id, 0);
    },

    async trail(organization) {
      return (await fresh(organization === null ? shared : `@${organization}`, maxAge)).trail();
    },

    use: () => ({ bytes: total, limit: memory }),

    async *history<T>(name: string) {
      yield* (await fresh(logOf(name), 0)).history(name) as AsyncGenerator<Generation<T>>;
    },
  };
}

/** The organizations' logs, which the registry's own names. */
function namesOf(own: Partition): string[] {
  return own.names(`${organizations}/`).map((name) => name.slice(organizations.length + 1));
}
