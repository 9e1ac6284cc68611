import type { Repository, Run } from '../model/connection.ts';
import type { Registry } from '../registry/registry.ts';

/** One run at work on a repository: what all of its steps are about. */
export interface Syncing {
  registry: Registry;
  /** The repository as its last run left it. */
  repository: Repository;
  run: Run;
  /** Aborts when the run is to end. */
  signal: AbortSignal;
}
