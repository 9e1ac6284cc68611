import { isRegistryError, onRefusal } from '../../model/errors.ts';
import { placeOf } from '../../model/record-places.ts';
import type { Bucket } from '../bucket.ts';
import type { Decide, Generation, RecordsOptions, UpdateOptions } from '../records.ts';
import { createObjects } from '../objects.ts';
import { treeName } from '../tree/batch.ts';
import { logOf, shared } from './entry.ts';
import type { LogDamage } from './follow-log.ts';
import { createHeads, type Head } from './heads.ts';
import { openPartition, type Partition } from './partition.ts';
import type { LoggedChange, Noted, PastGeneration } from './history.ts';
import { createNotes, everyLog, type Reads } from './reads.ts';
import type { Projection } from './state.ts';
import { someAtOnce } from '../../scheduling/turns.ts';

/** Kind of the records in `registry` that name the organizations with a log. */
const organizations = 'logs';
/** Logs that a list over all organizations refreshes at once. */
const atOnce = 32;
const first = { actor: 'operator:store', origin: null, action: 'begin log' };

/** The log of an organization, or of what belongs to none. */
function idOf(organization: string | null): string {
  return organization === null ? shared : `@${organization}`;
}

/**
 * Creates the logs of a bucket: one for each organization and one for the rest (design §5). Keeps
 * what they lead to in memory, least recently used out. `changed` is called with each name that was
 * changed through this object.
 */
export function createLogs(bucket: Bucket, options: RecordsOptions, changed: (name: string) => void) {
  const { maxAge = 500, memory = 512 * 1024 * 1024, failed = () => undefined } = options;
  const objects = createObjects(bucket, { cacheBytes: 0 });
  const publicChange = (name: string): void => {
    if (!name.startsWith(`${organizations}/`)) changed(name);
  };
  const begun = new Set<string>([shared]);
  const damaged = new Map<string, LogDamage>();
  /** The logs whose last read failed. */
  const unread = new Set<string>();
  const heads = createHeads(bucket, options);
  const met = new Set<string>();
  let writtenUntil = 0;
  let atWork: Promise<void> = Promise.resolve();
  const { noting, isNoting, note: noteRead, noteAll } = createNotes();

  const open = createOpenLogs(async (id) => {
    const opened = await openPartition(bucket, objects, id, {
      ...options,
      changed: publicChange,
      failed,
      heads,
      continuing: (work) => {
        atWork = Promise.all([atWork, work]).then(() => undefined, failed);
      },
    });
    if (!met.has(id)) writtenUntil = Math.max(writtenUntil, Date.parse(opened.writtenUntil ?? '') || 0);
    met.add(id);
    // An older program wrote the log, or its head expired.
    const { sequence, digest } = opened.head();
    if (digest !== null && sequence > (await heads.newest(id))) heads.reached({ log: id, sequence, digest });
    return opened;
  }, memory);
  const { use, measure } = open;

  /** Notes whether a log is damaged, and says so once. */
  function noteDamage(id: string, opened: Partition, error: unknown): void {
    const damage = opened.damage();
    if (damage !== null && !damaged.has(id)) failed(error);
    if (damage === null) damaged.delete(id);
    else damaged.set(id, damage);
  }

  /** The log with what others appended at most `age` milliseconds ago. Rejects with `corrupt` at a damaged entry. */
  async function exact(id: string, age: number): Promise<Partition> {
    try {
      const opened = await readOn(id, age);
      unread.delete(id);
      return opened;
    } catch (error) {
      if (!isRegistryError(error, 'corrupt')) unread.add(id);
      throw error;
    }
  }

  async function readOn(id: string, age: number): Promise<Partition> {
    const used = use(id);
    const opened = await used.partition;
    try {
      await opened.refresh(age);
      noteDamage(id, opened, null);
    } catch (error) {
      noteDamage(id, opened, error);
      throw error;
    }
    measure(id, used);
    return opened;
  }

  /** As `exact`, but at a damaged entry it stops. */
  async function fresh(id: string, age: number): Promise<Partition> {
    return exact(id, age).catch(onRefusal('corrupt', () => use(id).partition));
  }

  /** Changes a record. Its log stays in memory meanwhile: one that is opened again would not have the change. */
  async function change(
    id: string,
    name: string,
    decide: Decide<unknown>,
    { fence, readsOthers = false }: UpdateOptions = {},
  ): Promise<Generation<unknown> | null> {
    const used = use(id);
    used.changes++;
    const opened = await used.partition.catch((error: unknown) => {
      used.changes--;
      throw error;
    });
    try {
      const ownFence = fence && logOf(fence.name) === id ? fence : undefined;
      return await opened.update(name, decide, { ...(ownFence && { fence: ownFence }), readsOthers });
    } catch (error) {
      if (isRegistryError(error, 'corrupt') || isRegistryError(error, 'outcome_unknown')) noteDamage(id, opened, error);
      throw error;
    } finally {
      used.changes--;
      measure(id, used);
    }
  }

  /** Notes that an organization has a log, before it gets its first entry. */
  async function note(id: string): Promise<void> {
    if (begun.has(id)) return;
    await change(shared, `${organizations}/${id}`, (current) =>
      current === null ? { value: {}, change: first } : null,
    );
    begun.add(id);
  }

  const freshLogs = (ids: readonly string[]) => someAtOnce(ids, atOnce, (id) => fresh(id, maxAge));

  /** A log of which more is read than single records. */
  async function whole(id: string): Promise<Partition> {
    const log = await fresh(id, maxAge);
    noteRead(id, log.sequence());
    return log;
  }

  /** The logs in which names with the prefix after a name can be, in the order of their names, as `freshLogs`. */
  async function* wholeLogs(prefix: string, after: string): AsyncGenerator<Partition> {
    const only = onlyLogOf(prefix);
    if (only !== null) return yield await whole(only);
    // Before they are read: what is appended meanwhile may be missed.
    if (isNoting()) noteRead(everyLog, await sumOfAll());
    yield* freshLogs(await logsAfter(after));
  }

  /** The logs of organizations in which names after this one can be, in the order of the names. */
  async function logsAfter(name: string): Promise<string[]> {
    const from = `${logOf(name)}/`;
    return namesOf(await fresh(shared, maxAge))
      .filter((id) => `${id}/` >= from)
      .sort((a, b) => (`${a}/` < `${b}/` ? -1 : 1));
  }

  /** The log, if what others appended to it is known without waiting; else null. */
  function freshNow(id: string): Partition | null {
    const opened = open.openedLog(id);
    if (opened === null || !opened.isFresh(maxAge)) return null;
    if (id !== shared) use(id);
    return opened;
  }

  /** How far the logs of what was read reached when all of it, so many names, was found as it was. */
  const foundAt = new WeakMap<Reads, { names: number; logs: (readonly [id: string, at: number | undefined])[] }>();

  /** Whether all that was read is as it was. Null if `logNow` lacks a log. */
  function areSameIn(reads: Reads, logNow: (id: string) => Partition | null): boolean | null {
    const found = foundAt.get(reads);
    // While nothing is appended, this saves most of what an answer from memory costs.
    if (found?.names === reads.size && found.logs.every(([id, at]) => logNow(id)?.sequence() === at)) return true;
    for (const [name, at] of reads) {
      const now = entryNow(name, logNow);
      if (now === undefined) return null;
      if (now !== at) return false;
    }
    const logs = logsOf(reads).map((id) => [id, logNow(id)?.sequence()] as const);
    if (!reads.has(everyLog)) foundAt.set(reads, { names: reads.size, logs });
    return true;
  }

  /** The number that `Reads` have for a name. */
  function entryNow(name: string, logNow: (id: string) => Partition | null): number | undefined {
    if (name.includes('/')) return logNow(logOf(name))?.changedAt(name);
    if (name !== everyLog) return logNow(name)?.sequence();
    const registry = logNow(shared);
    let sum = registry?.sequence();
    for (const id of registry === null ? [] : namesOf(registry)) {
      const at = logNow(id)?.sequence();
      if (at === undefined) return undefined;
      sum! += at;
    }
    return sum;
  }

  /** The sum of the numbers of all logs' newest entries. */
  async function sumOfAll(): Promise<number> {
    let sum = 0;
    for await (const log of freshLogs([shared, ...namesOf(await fresh(shared, maxAge))])) sum += log.sequence();
    return sum;
  }

  /** The registry's log, and those that it or a head names, whether they are there or not. */
  async function allLogs(): Promise<Set<string>> {
    const headed = (await heads.logs()).filter((log) => log !== treeName);
    return new Set([shared, ...namesOf(await fresh(shared, maxAge)), ...headed]);
  }

  return {
    async read<T>(name: string) {
      const log = await fresh(logOf(name), maxAge);
      noteRead(name, log.changedAt(name));
      return log.get(name) as Generation<T> | null;
    },

    /** Runs work, and adds to `reads` all that it reads here: what it reads twice as it was at first. */
    noting,

    /** As if all of this were read now, for the work that is noted. */
    noteAll,

    /** Whether all of it is as it was. Null if what others appended is not known without waiting. For answers at once. */
    areSame: (reads: Reads): boolean | null => areSameIn(reads, freshNow),

    /** As `areSame`, after reading what others appended. */
    async areStillSame(reads: Reads): Promise<boolean> {
      const known = areSameIn(reads, freshNow);
      if (known !== null) return known;
      if (reads.has(everyLog)) await sumOfAll();
      for (const id of logsOf(reads)) await fresh(id, maxAge);
      return areSameIn(reads, open.openedLog) ?? false;
    },

    /** The number of the newest entry in an organization's log, or in that of what belongs to none (null). */
    newestEntry: async (organization: string | null): Promise<number> =>
      (await fresh(idOf(organization), maxAge)).sequence(),

    async all<T>(prefix: string) {
      const parts: (readonly Generation<unknown>[])[] = [];
      for await (const log of wholeLogs(prefix, prefix)) parts.push(log.all(prefix));
      return (parts.length === 1 ? parts[0]! : parts.flat()) as readonly Generation<T>[];
    },

    async readFresh<T>(name: string) {
      const log = await exact(logOf(name), 0);
      noteRead(name, log.changedAt(name));
      return log.get(name) as Generation<T> | null;
    },

    async update<T>(name: string, decide: Decide<T>, updateOptions?: UpdateOptions) {
      const id = logOf(name);
      const decideFirst = async (current: Generation<unknown> | null) => {
        const decision = await (decide as Decide<unknown>)(current);
        if (decision !== null) await note(id);
        return decision;
      };
      return (await change(id, name, decideFirst, updateOptions)) as Generation<T> | null;
    },

    async *newest(prefix: string, after?: string) {
      for await (const log of wholeLogs(prefix, after ?? prefix)) {
        for (const name of log.names(prefix, after)) yield { name, generation: log.generation(name) };
      }
    },

    /**
     * Reads what other processes changed of records with the prefix a moment ago. Rejects with
     * `corrupt` if a log with such records is damaged: then not all of them are known.
     */
    async refresh(prefix: string): Promise<void> {
      const only = onlyLogOf(prefix);
      for (const id of only === null ? await allLogs() : new Set([shared, only])) await exact(id, 0);
    },

    /** The logs of which this process knows that they are damaged. They are served up to the damage, and refuse changes. */
    damages: (): readonly (LogDamage & { log: string })[] =>
      Array.from(damaged, ([log, damage]) => ({ log, ...damage })),

    /** Looks at every log, so that `damages` and `check` know of all. For the start of a server. */
    async examine(): Promise<void> {
      for (const id of await allLogs()) await fresh(id, maxAge).catch(() => undefined);
    },

    /** Reads the registry's log, and those whose last read failed. Rejects as a request for what is in them does. */
    async check(): Promise<void> {
      for (const id of [shared, ...unread]) await fresh(id, maxAge);
    },

    /**
     * How far an organization's log and the registry's reach, as far as they are in memory. Kept with an
     * answer, it shows later whether the logs still have what the answer tells of.
     */
    heads(organization: string): readonly Head[] {
      return [shared, `@${organization}`].flatMap((log) => {
        const { sequence = 0, digest = null } = open.openedLog(log)?.head() ?? {};
        return digest === null ? [] : [{ log, sequence, digest }];
      });
    },

    /** Rejects with `corrupt` if a log does not reach as far as one of these heads. */
    async assertReached(witnesses: readonly Head[]): Promise<void> {
      for (const { log, sequence } of witnesses) {
        const opened = await use(log).partition;
        if (opened.head().sequence >= sequence) continue;
        opened.expect(sequence);
        await exact(log, 0);
      }
    },

    /**
     * The time of the newest entry in the logs that were opened, as they were at first (milliseconds since 1970; 0: none):
     * so late it was before this process began.
     */
    writtenUntil: (): number => writtenUntil,

    /** Writes what is known of how far the logs reach, and ends what is being written. Call it before the process ends. */
    settle: async () => void (await Promise.all([heads.settle(), atWork])),

    /**
     * Returns all changes of an organization's records in its log, oldest first and without their
     * values. The first call reads the whole log.
     */
    async trail(organization: string): Promise<readonly Noted[]> {
      return (await whole(idOf(organization))).trail();
    },

    /**
     * Yields the changes in an organization's log after the entry with this number (0: all), oldest
     * first. Throws `corrupt` if an entry is damaged or gone.
     */
    async *changesSince(organization: string, entry: number): AsyncGenerator<LoggedChange> {
      const log = await exact(idOf(organization), maxAge);
      noteRead(idOf(organization), log.sequence());
      yield* log.changesSince(entry);
    },

    /**
     * Returns what is made of all records of an organization, or of those that belong to none (null).
     * It is kept up to date in memory and changes with them, so read it at once.
     */
    async projected<V>(organization: string | null, projection: Projection<V>): Promise<V> {
      return (await whole(idOf(organization))).projected(projection);
    },

    /** Bytes of the logs in memory, roughly, and how many they may be. */
    use: () => ({ bytes: open.bytes(), limit: memory }),

    async *history<T>(name: string) {
      yield* (await whole(logOf(name))).history(name) as AsyncGenerator<PastGeneration<T>>;
    },
  };
}

/** The one log in which names with the prefix can be; null: those of all organizations. */
function onlyLogOf(prefix: string): string | null {
  if (placeOf(prefix).kept === 'registry') return shared;
  const [, org, more] = prefix.split('/');
  return more === undefined ? null : `@${org}`;
}

/** The logs that were read, but for `everyLog`. */
function logsOf(reads: Reads): string[] {
  const names = [...reads.keys()].filter((name) => name !== everyLog);
  return [...new Set(names.map((name) => (name.includes('/') ? logOf(name) : name)))];
}

/** The organizations' logs, which the registry's own names. */
function namesOf(partition: Partition): string[] {
  return partition.names(`${organizations}/`).map((name) => name.slice(organizations.length + 1));
}

/** A log in memory, or on its way there. */
interface OpenLog {
  partition: Promise<Partition>;
  opened: Partition | null;
  /** How many changes of it are under way. */
  changes: number;
}

/** The logs in memory. Above `memory` bytes, the least recently used leaves first. */
function createOpenLogs(openLog: (id: string) => Promise<Partition>, memory: number) {
  /** In order of use, the least recent first. */
  const open = new Map<string, OpenLog>();
  const sizes = new Map<string, number>();
  let newest = '';
  let total = 0;

  function begin(id: string): OpenLog {
    const entry: OpenLog = { partition: openLog(id), opened: null, changes: 0 };
    entry.partition.then(
      (opened) => {
        entry.opened = opened;
        measure(id, entry);
      },
      () => void (open.get(id) === entry && open.delete(id)),
    );
    return entry;
  }

  /** Counts what a log takes now. Forgets others until the rest fits, but none that is being changed. */
  function measure(id: string, used: OpenLog): void {
    if (used.opened === null || open.get(id) !== used) return;
    const size = used.opened.size();
    total += size - (sizes.get(id) ?? 0);
    sizes.set(id, size);
    for (const [other, { opened, changes }] of open) {
      if (total <= memory) return;
      if (other === id || opened === null || changes > 0) continue;
      total -= sizes.get(other) ?? 0;
      sizes.delete(other);
      open.delete(other);
    }
  }

  /** The log, which counts as used now. Opens it if it is not in memory. */
  function use(id: string): OpenLog {
    const log = open.get(id) ?? begin(id);
    if (id !== newest) {
      open.delete(id);
      newest = id;
    }
    open.set(id, log);
    return log;
  }

  return { use, openedLog: (id: string) => open.get(id)?.opened ?? null, measure, bytes: () => total };
}
