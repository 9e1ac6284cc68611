import { setTimeout as delay } from 'node:timers/promises';
import { type RegistryError, unavailable, conflict } from '../../model/errors.ts';
import { type Bucket, outcomeUnknown, putOwn } from '../bucket.ts';
import { corrupt, type Decide, type Generation, type RecordsOptions, type UpdateOptions } from '../records.ts';
import type { Objects } from '../objects.ts';
import { decodeEntry, encodeEntry, entryKey, type LogChange, type Entry, isItem } from './entry.ts';
import {
  changesTo,
  generationOf,
  type HeldRecord,
  positionIn,
  createProjections,
  recordsAfter,
  type State,
} from './state.ts';
import { followLog, isStored, openState, prepareLists } from './follow-log.ts';
import type { Heads } from './heads.ts';
import { historyOf, changesSince, createTrail } from './history.ts';
import { createSummaries, frameSize } from './summary.ts';

/** One log and the state that it leads to (design §5). */
export type Partition = Awaited<ReturnType<typeof openPartition>>;

interface PartitionOptions extends Pick<RecordsOptions, 'now' | 'monotonic' | 'uniqueId'> {
  /** Called with each name that was changed through this object, once that is durable. */
  changed: (name: string) => void;
  /** Called when a segment or a checkpoint cannot be written. The log itself is not affected. */
  failed: (error: unknown) => void;
  /** Remembers how far the log reached. It is told of each append of this process. */
  heads: Pick<Heads, 'newest' | 'reached'>;
  /** Called with what goes on after the answer to an append: segments and checkpoints that are being written. */
  continuing: (work: Promise<void>) => void;
}

/** A change that somebody waits for. */
interface Waiting {
  name: string;
  decide: Decide<unknown>;
  options: UpdateOptions;
  resolve: (newest: Generation<unknown> | null) => void;
  reject: (error: unknown) => void;
}

/** What was decided on the newest known state and is not durable yet. */
interface Draft {
  /** Number of the entry that it was decided on. */
  base: number;
  at: string;
  changes: LogChange[];
  /** Each change as JSON. */
  texts: string[];
  /** The records that the changes lead to. */
  records: Map<string, HeldRecord>;
  /** Those whose answer depends on the entry, with what answers them. */
  depending: { waiting: Waiting; settle: () => void }[];
  /** Changes for which the entry has no room. */
  left: Waiting[];
}

const attempts = 200;
const longestBatch = 256;
/** Characters of an entry's changes after which it takes no more: an entry is parsed in one go. */
const largestBatch = frameSize;
/** Milliseconds after another process's entry for which appends leave gaps for it. */
const courtesy = 1000;
/** Milliseconds after the log was read to its end in which a change is appended without reading it again. */
const recently = 1000;
/** Bytes of a change in the trail, and of a log without records, roughly. */
const [noteSize, ownSize] = [200, 8 * 1024];

/** Opens the log of a partition: reads its newest checkpoint and what was appended since. */
export async function openPartition(
  bucket: Bucket,
  objects: Objects,
  partition: string,
  { now, monotonic, uniqueId, changed, failed, heads, continuing }: PartitionOptions,
) {
  const openedAt = monotonic();
  const [{ state, newest, at: writtenUntil, isSummarized }, expected] = await Promise.all([
    openState(bucket, objects, partition),
    heads.newest(partition),
  ]);
  await prepareLists(state);
  const read = ({ writer: theirs }: Entry): void => {
    touchedAt = monotonic();
    if (theirs !== writer) rivalAt = monotonic();
  };
  const follower = followLog(bucket, partition, state, { monotonic, openedAt, newest, expected, read });
  const trail = createTrail(bucket, objects, partition, state);
  const lists = createPrefixLists(state);
  const summaries = createSummaries(bucket, objects, partition, { state, isSummarized, failed });
  const queue: Waiting[] = [];
  let isCommitting = false;
  let isPrepared = false;
  /** Names the own entry that is being appended. */
  let writer: string | null = null;
  /** When an entry of another process was read last. */
  let rivalAt = Number.NEGATIVE_INFINITY;
  /** When the newest entry was read or written. */
  let touchedAt = openedAt;
  /** Milliseconds to wait after an append for another process. */
  let pause = 0;

  async function commitAll(): Promise<void> {
    isCommitting = true;
    try {
      // Overdue summaries come before the first entry, which then names them.
      if (!isPrepared) await summaries.make();
      isPrepared = true;
      while (queue.length > 0) {
        await commit(queue.splice(0, longestBatch));
        if (pause > 0) await delay(pause);
      }
    } finally {
      isCommitting = false;
    }
  }

  /** Whether the log most likely has no newer entry. If it has, an append will not succeed. */
  const isLikelyAtEnd = (): boolean => follower.wasRead(recently) && monotonic() - rivalAt >= courtesy;

  /** Commits a batch in as few entries as it needs, and answers each who waits. */
  async function commit(batch: Waiting[]): Promise<void> {
    let left = batch;
    try {
      let isRead = !isLikelyAtEnd();
      for (let lost = 0; left.length > 0;) {
        if (lost === attempts) throw tooManyRivals(partition);
        if (isRead) await follower.follow();
        const draft = await decideAll(left, isRead);
        left = [...draft.depending.map(({ waiting }) => waiting), ...draft.left];
        if (draft.changes.length === 0 && draft.depending.length === 0) continue;
        if (draft.changes.length > 0 && draft.base === state.sequence && (await append(draft))) {
          for (const { settle } of draft.depending) settle();
          left = draft.left;
          lost = 0;
        } else lost++;
        isRead = lost > 0 || !isLikelyAtEnd();
      }
    } catch (error) {
      for (const { reject } of left) reject(error);
    }
  }

  /** `isRead`: whether the log was read to its end before. If not, only an append proves that nothing is newer. */
  async function decideAll(batch: readonly Waiting[], isRead: boolean): Promise<Draft> {
    const base = state.sequence;
    const at = now().toISOString();
    const draft: Draft = { base, at, changes: [], texts: [], records: new Map(), depending: [], left: [] };
    let size = 0;
    for (const waiting of batch) {
      const isEarly = waiting.options.readsOthers === true && draft.records.size > 0;
      if (size > largestBatch || isEarly) draft.left.push(waiting);
      else size += await decideOne(draft, waiting, isRead);
    }
    return draft;
  }

  /** Decides one change. Returns the characters that it adds to the entry. */
  async function decideOne(draft: Draft, waiting: Waiting, isRead: boolean): Promise<number> {
    const { name, decide, options, resolve, reject } = waiting;
    const { fence } = options;
    const { records } = draft;
    const held = records.get(name) ?? state.get(name);
    const current = held && generationOf(held);
    // An answer that rests on a change that is not durable waits for it, and one that may be out of date, too.
    const settle = (answer: () => void): number => {
      if (records.has(name) || !isRead) draft.depending.push({ waiting, settle: answer });
      else answer();
      return 0;
    };
    if (fence && ((records.get(fence.name) ?? state.get(fence.name))?.bare.generation ?? 0) !== fence.generation)
      return settle(() => reject(unavailable('Another process took over this work. The next run continues it.')));
    try {
      const decision = await decide(current);
      if (decision === null) return settle(() => resolve(current));
      const changes = changesTo(held, name, decision.value, { writeId: uniqueId(), ...decision.change });
      const texts = changes.map((change) => JSON.stringify(change));
      const position = { sequence: draft.base + 1, at: draft.at };
      // Of decoded copies: the caller still holds the objects.
      const copies = texts.map((text) => JSON.parse(text) as LogChange);
      const next = recordsAfter(copies, position, () => held).get(name)!;
      records.set(name, next);
      draft.changes.push(...copies);
      draft.texts.push(...texts);
      draft.depending.push({ waiting, settle: () => resolve(generationOf(next)) });
      return texts.reduce((sum, { length }) => sum + length, 0);
    } catch (error) {
      return settle(() => reject(error));
    }
  }

  /** Appends the entry. False if another process appended first. */
  async function append({ base, at, changes, texts, records }: Draft): Promise<boolean> {
    const sequence = base + 1;
    writer = uniqueId();
    const head: Omit<Entry, 'changes'> = { sequence, previous: state.digest, at, writer, index: summaries.newest() };
    const { bytes, digest } = encodeEntry(head, texts);
    const key = entryKey(partition, sequence);
    const startedAt = monotonic();
    // Behind an entry that is gone, nobody would find this one. Beside the append, so that it takes no longer.
    const isOld = startedAt - touchedAt >= recently;
    const last = isOld && state.digest !== null ? { sequence: base, digest: state.digest } : null;
    const isSound = last && isStored(bucket, partition, last);
    const isOurs = (stored: Uint8Array) => decodeEntry(stored, sequence, key).digest === digest;
    if (!(await putOwn(bucket, key, bytes, isOurs))) return false;
    if (isSound !== null && !(await isSound)) {
      follower.lose(last!);
      await follower.follow().catch(() => undefined);
      throw outcomeUnknown(corrupt(`${entryKey(partition, base)} is gone.`));
    }
    // A reader may have read it from the bucket already.
    if (state.sequence < sequence) state.adopt(records, { ...head, changes, digest }, bytes.byteLength);
    follower.wasAtEnd(startedAt);
    touchedAt = monotonic();
    heads.reached({ log: partition, sequence, digest });
    for (const name of records.keys()) changed(name);
    continuing(summaries.make());
    const endedAt = monotonic();
    pause = endedAt - rivalAt < courtesy ? Math.random() * (endedAt - startedAt) : 0;
    return true;
  }

  return {
    /** The record as the entries that were read so far leave it, or null. */
    get(name: string): Generation<unknown> | null {
      const held = state.get(name);
      return held && generationOf(held);
    },
    /** The number of the entry that changed the record last; 0 if there is none. */
    changedAt: (name: string) => state.get(name)?.sequence ?? 0,
    /** The number of the record's newest generation; 0 if there is none. */
    generation: (name: string) => state.get(name)?.bare.generation ?? 0,
    names: state.names,
    /** The number of the newest entry that was read. */
    sequence: () => state.sequence,
    all: lists.all,
    ...createProjections(state),
    isFresh: follower.isFresh,
    refresh: follower.refresh,
    damage: follower.damage,
    /** The time of the newest entry when the log was opened; null: there was none. ISO 8601, UTC. */
    writtenUntil,
    expect: follower.expect,
    head: () => ({ sequence: state.sequence, digest: state.digest }),
    /** Appends the change that `decide` makes of the record. See `Refs.update` and `UpdateOptions`. */
    update(name: string, decide: Decide<unknown>, given: UpdateOptions = {}) {
      return new Promise<Generation<unknown> | null>((resolve, reject) => {
        queue.push({ name, decide, options: given, resolve, reject });
        if (!isCommitting) commitAll().catch((error: unknown) => queue.splice(0).forEach((each) => each.reject(error)));
      });
    },
    /** Every generation of a record, newest first. Throws `corrupt` if an entry is damaged or gone. */
    async *history(name: string) {
      const held = state.get(name);
      if (held !== null) yield* historyOf(bucket, partition, name, held);
    },
    trail: trail.read,
    /** The changes after an entry, oldest first. Throws `corrupt` if an entry is damaged or gone. */
    changesSince: (entry: number) => changesSince(bucket, partition, entry, state.sequence),
    /** Bytes that all of it takes in memory, roughly. */
    size: () => ownSize + state.size + trail.length() * noteSize,
  };
}

function tooManyRivals(partition: string): RegistryError {
  const message = 'Too many concurrent changes in one organization; nothing was changed. Try again.';
  return conflict(message, { retryAfter: 1, cause: new Error(partition) });
}

interface List {
  /** In order, and the records in the same places. */
  names: string[];
  records: readonly Generation<unknown>[];
  changed: Set<string>;
}

/** Creates the lists of a state. Each is read once, kept, and then only updated: callers use a handful of prefixes. */
function createPrefixLists(state: State) {
  const lists = new Map<string, List>();
  state.listen(({ changes }) => {
    for (const change of changes) {
      const name = isItem(change) ? change.owner : change.name;
      for (const [prefix, { changed }] of lists) if (name.startsWith(prefix)) changed.add(name);
    }
  });

  function take(list: List): void {
    const records = [...list.records];
    for (const name of list.changed) {
      const at = positionIn(list.names, name);
      const isKnown = list.names[at] === name;
      if (!isKnown) list.names.splice(at, 0, name);
      records.splice(at, Number(isKnown), generationOf(state.get(name)!));
    }
    list.records = records;
    list.changed.clear();
  }

  return {
    /** Every record with the prefix, by name. Never changed: a later list is another array. */
    all(prefix: string): readonly Generation<unknown>[] {
      let list = lists.get(prefix);
      if (list === undefined) {
        const names = state.names(prefix);
        const records = names.map((name) => generationOf(state.get(name)!));
        list = { names, records, changed: new Set() };
        lists.set(prefix, list);
      }
      if (list.changed.size > 0) take(list);
      return list.records;
    },
  };
}
