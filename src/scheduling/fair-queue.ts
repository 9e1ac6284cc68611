import { type RegistryError, rateLimited, unavailable } from '../model/errors.ts';

/** Whose work it is, and how long it may wait for a slot. */
export interface Claim {
  /** Slots are counted by owner. */
  owner: string;
  /** The order of work is kept by lane. Defaults to the owner, which then has one lane. */
  lane?: string;
  /** Milliseconds until waiting work is rejected with `rate_limited` or `unavailable`. Default: no limit. */
  patience?: number | undefined;
  /** Whether it is expected to end soon. One such task may use an extra slot. */
  isShort?: boolean;
  /**
   * Milliseconds. When the work ends, its place rests for four times as long as the work took, but no longer than this: so a
   * flood leaves the event loop to others. Default: not at all.
   */
  longestRest?: number;
  /** If it aborts before the work starts, the work is rejected with the signal's reason and never starts. */
  signal?: AbortSignal;
}

/** A queue for the work of several owners. */
export type FairQueue = ReturnType<typeof createFairQueue>;

interface Waiting {
  owner: string;
  number: number;
  isShort: boolean;
  begin(place: Place): void;
}

/** One of the slots, or the one more for short work. */
type Place = 'usual' | 'extra';

/** Seconds before a rejected caller may retry. */
const retryAfter = 10;
/** Milliseconds for which an owner without work counts as present: the next is on its way. */
const presence = 2000;

/**
 * Shares slots fairly between owners. Work in a lane gets consecutive numbers, starting from the
 * number that the queue has reached, and the lowest number goes first (start-time fair queueing).
 * So nobody waits for ever, however much work others have queued. Running work is never
 * interrupted. Therefore an owner that has a slot never takes the last free one, and has at most
 * half of the slots while others are present: have work here, or had some just before. Otherwise
 * whoever publishes small documents one after the other would find all processors taken each time.
 * An owner without a slot finds one free unless there are as many other owners running as slots.
 * Short work that finds no slot has one more, for one at a time: what it may wait for is other short
 * work, not the long work of its own owner. It takes nothing from others.
 * `now`: monotonic milliseconds.
 */
export function createFairQueue(places: number, now: () => number = () => performance.now()) {
  const half = Math.max(1, Math.floor(places / 2));
  const running = new Map<string, number>();
  const waiting: Waiting[] = [];
  const last = new Map<string, number>();
  /** When the work of owners ended, the latest last. */
  const ended = new Map<string, number>();
  let idle = Promise.withResolvers<void>();
  let busy = 0;
  let isExtraFree = true;
  let reached = 0;

  function mayBegin(owner: string): boolean {
    const free = places - busy;
    const mine = running.get(owner) ?? 0;
    if (mine === 0) return free > 0;
    return free > 1 && (mine < half || !areOthersPresent(owner));
  }

  function placeFor({ owner, isShort }: Waiting): Place | null {
    if (mayBegin(owner)) return 'usual';
    return isShort && isExtraFree ? 'extra' : null;
  }

  function areOthersPresent(owner: string): boolean {
    for (const [other, at] of ended) {
      if (now() - at < presence) break;
      ended.delete(other);
    }
    const isOther = (other: string) => other !== owner;
    return running.keys().some(isOther) || ended.keys().some(isOther) || waiting.some((each) => isOther(each.owner));
  }

  function fill(): void {
    for (let at = 0; at < waiting.length;) {
      const place = placeFor(waiting[at]!);
      if (place === null) {
        at++;
        continue;
      }
      waiting.splice(at, 1)[0]!.begin(place);
      at = 0;
    }
    if (isWorking()) return;
    idle.resolve();
    idle = Promise.withResolvers();
  }

  const isWorking = (): boolean => busy > 0 || !isExtraFree || waiting.length > 0;

  function occupy(place: Place, owner: string, change: 1 | -1): void {
    if (place === 'extra') {
      isExtraFree = change === -1;
      return;
    }
    busy += change;
    const mine = (running.get(owner) ?? 0) + change;
    if (mine === 0) running.delete(owner);
    else running.set(owner, mine);
    if (change === 1) return;
    ended.delete(owner);
    ended.set(owner, now());
  }

  function turnOf({ owner, patience, isShort = false, signal }: Claim, number: number): Promise<Place> {
    return new Promise((resolve, reject) => {
      let timer: NodeJS.Timeout | undefined;
      const leave = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', abort);
      };
      const entry: Waiting = {
        owner,
        number,
        isShort,
        begin(place) {
          leave();
          occupy(place, owner, 1);
          // Work in the extra place went before others, so its number was not reached.
          if (place === 'usual') reached = Math.max(reached, number);
          resolve(place);
        },
      };
      const giveUp = (reason: unknown) => {
        leave();
        waiting.splice(waiting.indexOf(entry), 1);
        reject(reason as Error);
        fill();
      };
      const abort = () => giveUp(signal!.reason);
      const after = waiting.findIndex((other) => other.number > number);
      waiting.splice(after === -1 ? waiting.length : after, 0, entry);
      if (signal?.aborted) return abort();
      signal?.addEventListener('abort', abort);
      if (patience !== undefined) timer = setTimeout(() => giveUp(tooLong(running.has(owner))), patience);
      fill();
    });
  }

  return {
    async add<T>(claim: Claim, work: () => Promise<T>): Promise<T> {
      const { owner, lane = owner, longestRest = 0 } = claim;
      const number = Math.max(reached, (last.get(lane) ?? -1) + 1);
      last.set(lane, number);
      try {
        const place = await turnOf(claim, number);
        const begun = now();
        const leave = () => {
          occupy(place, owner, -1);
          fill();
        };
        try {
          return await work();
        } finally {
          if (longestRest === 0) leave();
          else setTimeout(leave, Math.min(longestRest, 4 * (now() - begun)));
        }
      } finally {
        if (last.get(lane) === number) last.delete(lane);
      }
    },
    onIdle: async (): Promise<void> => {
      if (isWorking()) await idle.promise;
    },
  };
}

/** `isOwn`: whether it waited for other work of the same owner. */
function tooLong(isOwn: boolean): RegistryError {
  return isOwn
    ? rateLimited('Your organization has too much work waiting. Try again later.', { retryAfter })
    : unavailable('The registry has too much work waiting. Try again later.', { retryAfter });
}

/** From this size a document is expected to be long work, in bytes of its JSON, half as much again as a file of YAML. */
const longBytes = 200 * 1024;

/** Whether work on a document of this size is expected to end soon: it need not wait for long work. */
export function isShortWork(bytes: number): boolean {
  return bytes <= longBytes;
}
