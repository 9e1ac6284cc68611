import type { Generation } from '../generations.ts';
import type { Records } from '../records.ts';
import type { LogDamage } from './follow-log.ts';
import type { Head } from './heads.ts';
import type { Projection } from './projections.ts';
import type { LoggedChange, Noted } from './trail.ts';
import type { PastGeneration } from './value-history.ts';

/** The records that are kept in logs. */
export interface Log extends Records {
  /** See `Refs.tip`. */
  tip(logs: Logs): number | null;
  /** See `Refs.follow`. */
  follow(logs: Logs): Promise<number>;
  /** See `Refs.all`. */
  all<T>(prefix: string): Promise<readonly Generation<T>[]>;
  history<T>(name: string): AsyncGenerator<PastGeneration<T>>;
  /** See `Refs.projected`. */
  projected<V>(organization: string | null, projection: Projection<V>): Promise<V>;
  /** See `Refs.refresh`. */
  refresh(prefix: string): Promise<void>;
  /** See `Refs.trail`. */
  trail(organization: string): Promise<readonly Noted[]>;
  /** See `Refs.changesSince`. */
  changesSince(organization: string, entry: number): AsyncGenerator<LoggedChange>;
  /** See `Refs.damages`. */
  damages(): readonly DamagedLog[];
  /** See `Refs.examine`. */
  examine(): Promise<void>;
  /** See `Refs.check`. */
  check(): Promise<void>;
  /** See `Refs.heads`. */
  heads(organization: string): Head[];
  /** See `Refs.assertReached`. */
  assertReached(heads: readonly Head[]): Promise<void>;
  /** Writes what is known of how far the logs reach, and ends what is being written. Call it before the process ends. */
  settle(): Promise<void>;
  /** Bytes of the logs in memory, roughly, and how many they may be. */
  use(): { bytes: number; limit: number };
}

/** The names of logs, such as `@acme` and `registry`; `all` means every log. */
export type Logs = readonly string[] | 'all';

/** A log that is damaged, with the first entry that is damaged or missing. */
export interface DamagedLog extends LogDamage {
  log: string;
}
