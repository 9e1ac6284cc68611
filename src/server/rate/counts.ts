/** Other processes that answer at the same address, such as the workers of `stele serve`. */
export interface Peers {
  /** Sends one use to the others, within a tenth of a second. */
  send(kind: string, name: string): void;
  /** Calls `add` with the uses of this kind that others send. */
  listen(kind: string, add: (name: string, uses: number) => void): void;
}

/** Counts one use for the name. Returns its uses in this window, and when the window ends. */
export type Count = (name: string) => { uses: number; milliseconds: number };

const maxNames = 100_000;

/**
 * Counts uses by name in windows of so many milliseconds, which are the same for all names. Names of
 * past windows are forgotten, and all names if there are too many. `peers`: the processes that
 * count together with this one.
 */
export function createCount(
  kind: string,
  window: number,
  { monotonic, peers }: { monotonic: () => number; peers?: Peers | undefined },
): Count {
  let counted = new Map<string, number>();
  let endsAt = 0;

  function add(name: string, uses: number): ReturnType<Count> {
    const time = monotonic();
    if (time >= endsAt || counted.size >= maxNames) {
      counted = new Map();
      endsAt = time + window;
    }
    const total = (counted.get(name) ?? 0) + uses;
    counted.set(name, total);
    return { uses: total, milliseconds: endsAt - time };
  }

  peers?.listen(kind, add);
  return (name) => {
    peers?.send(kind, name);
    return add(name, 1);
  };
}
