import type { Registry } from '../../registry/registry.ts';
import { createCount, type Peers } from './counts.ts';

/** What remains of a limit in the current window. */
export interface Left {
  /** Negative if the limit was exceeded. */
  remaining: number;
  /** Whole seconds until the window ends, at least 1. */
  seconds: number;
}

/** Counts one use for the name and returns what remains. */
export type Allowance = (name: string) => Left;

/** Allows `limit` uses of a kind for each name in each window of `window` seconds (`createCount`). */
export function createAllowance(
  kind: string,
  { limit, window }: { limit: number; window: number },
  among: Pick<Registry, 'monotonic'> & { peers?: Peers | undefined },
): Allowance {
  const count = createCount(kind, window * 1000, among);
  return (name) => {
    const { uses, milliseconds } = count(name);
    return { remaining: limit - uses, seconds: Math.max(1, Math.ceil(milliseconds / 1000)) };
  };
}
