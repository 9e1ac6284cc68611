import { RegistryError } from '../model/errors.ts';

/** A named value as one change left it. */
export interface Generation<T> {
  /** 1 for the first. */
  generation: number;
  /** Id of this write, the same for every reader. */
  writeId: string;
  /** ISO 8601, UTC. */
  at: string;
  /** Who made the change: a principal or a part of Stele. Holds no secret. */
  actor: string;
  /** Where it came from: a network address, a sync run, `cli`; null if unknown. */
  origin: string | null;
  /** What was done, such as `publish 1.4.0`. */
  action: string;
  /** Id of the repeatable request that caused it, so that a retry recognizes its own write. */
  operation?: string;
  value: T;
}

/** Who made a change and how: recorded with each generation. */
export type Change = Pick<Generation<unknown>, 'actor' | 'origin' | 'action' | 'operation'>;

type Decision<T> = { value: T; change: Change } | null;

/** Decides on the newest generation what comes next; null changes nothing. */
export type Decide<T> = (current: Generation<T> | null) => Decision<T> | Promise<Decision<T>>;

/**
 * Returns the error for damaged stored data. `detail` goes only to the log: it names keys of the
 * store.
 */
export function corrupt(detail: string): RegistryError {
  const message = 'A record in the store is damaged. The operator should run `stele fsck`.';
  return new RegistryError('corrupt', message, { cause: new Error(detail) });
}
