import { RegistryError } from '../model/errors.ts';

/** Whose work it is, and how long it waits for a place. */
export interface Claim {
  /** Places are counted by owner. */
  owner: string;
  /** Turns are taken by lane. Default: the owner's only one. */
  lane?: string;
  /** Milliseconds. Work that has not begun by then rejects with `rate_limited` or `unavailable`. Default: it waits as long as it takes. */
  patience?: number | undefined;
  /** When it aborts before the work began, the work rejects with its reason and never begins. */
  signal?: AbortSignal;
}

/** Work that waits for a place, of several owners. */
export interface FairQueue {
  /** Runs the work when its turn comes. */
  add<T>(claim: Claim, work: () => Promise<T>): Promise<T>;
  /** Resolves when nothing runs or waits. */
  onIdle(): Promise<void>;
}

interface Waiting {
  owner: string;
  number: number;
  begin(): void;
}

/** Seconds after which whoever was turned away may ask again. */
const retryAfter = 10;

/**
 * Gives places to owners. The work of a lane is numbered one after the other from where the queue stands, and the lowest
 * number goes first (start-time fair queueing), so that nobody waits for ever, however much another has waiting. Work that
 * runs is not interrupted: therefore an owner that has a place never takes the last free one, and while others wait it has
 * at most half of the places. Whoever has none finds one free, unless as many others as there are places work already.
 */
export function createFairQueue(places: number): FairQueue {
  const half = Math.max(1, Math.floor(places / 2));
  const running = new Map<string, number>();
  const waiting: Waiting[] = [];
  const last = new Map<string, number>();
  let idle = Promise.withResolvers<void>();
  let busy = 0;
  let reached = 0;

  function mayBegin(owner: string): boolean {
    const free = places - busy;
    const mine = running.get(owner) ?? 0;
    if (mine === 0) return free > 0;
    const doOthersWait = waiting.some((other) => other.owner !== owner);
    return free > 1 && (mine < half || !doOthersWait);
  }

  function fill(): void {
    for (;;) {
      const at = waiting.findIndex(({ owner }) => mayBegin(owner));
      if (at === -1) break;
      waiting.splice(at, 1)[0]!.begin();
    }
    if (busy > 0 || waiting.length > 0) return;
    idle.resolve();
    idle = Promise.withResolvers();
  }

  function occupy(owner: string, change: 1 | -1): void {
    busy += change;
    const mine = (running.get(owner) ?? 0) + change;
    if (mine === 0) running.delete(owner);
    else running.set(owner, mine);
  }

  /** Resolves when the place is taken. */
  function turnOf({ owner, patience, signal }: Claim, number: number): Promise<void> {
    return new Promise((resolve, reject) => {
      let timer: NodeJS.Timeout | undefined;
      const leave = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', abort);
      };
      const entry: Waiting = {
        owner,
        number,
        begin() {
          leave();
          occupy(owner, 1);
          reached = Math.max(reached, number);
          resolve();
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
    async add(claim, work) {
      const { owner, lane = owner } = claim;
      const number = Math.max(reached, (last.get(lane) ?? -1) + 1);
      last.set(lane, number);
      try {
        await turnOf(claim, number);
        try {
          return await work();
        } finally {
          occupy(owner, -1);
          fill();
        }
      } finally {
        if (last.get(lane) === number) last.delete(lane);
      }
    },
    onIdle: async () => {
      if (busy > 0 || waiting.length > 0) await idle.promise;
    },
  };
}

/** `isOwn`: whether the owner's other work is in the way. */
function tooLong(isOwn: boolean): RegistryError {
  return isOwn
    ? new RegistryError('rate_limited', 'Your organization has too much work waiting. Try again later.', { retryAfter })
    : new RegistryError('unavailable', 'The registry has too much work waiting. Try again later.', { retryAfter });
}
