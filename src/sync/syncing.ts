import type { Repository, Run, RunDocument, RunProgress } from '../model/connection.ts';
import type { Registry } from '../registry/registry.ts';

/** Called when a run knows what to read (`document` is null), and after each document. */
export type OnProgress = (progress: RunProgress, document: RunDocument | null) => void;

/** A run in progress: the context that all its steps share. */
export interface Syncing {
  registry: Registry;
  /** The repository as the last run left it. */
  repository: Repository;
  run: Run;
  /** Aborts when the run must stop. */
  signal: AbortSignal;
  /** Absent if nobody follows the progress. */
  onProgress?: OnProgress;
}
