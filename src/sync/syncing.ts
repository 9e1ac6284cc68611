import type { Repository, Run } from '../model/connection.ts';
import type { Registry } from '../registry/registry.ts';

/** A run in progress: the context that all its steps share. */
export interface Syncing {
  registry: Registry;
  /** The repository as the last run left it. */
  repository: Repository;
  run: Run;
  /** Aborts when the run must stop. */
  signal: AbortSignal;
}
