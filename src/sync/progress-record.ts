import type { Run } from '../model/connection.ts';
import type { Registry } from '../registry/registry.ts';
import { recordRun } from './runs.ts';

/** Saves how far a run is, so that others can see it. */
export interface ProgressRecord {
  /** Notes the run's progress. Returns whether it is saved. */
  note(run: Run): boolean;
  /** Resolves when nothing is being written any more. */
  settled(): Promise<void>;
}

/** At most one write in this many milliseconds. A run that ends sooner is saved only at its end. */
const between = 1000;

/** Creates the record of one run. A write that fails is left out: the next one says more. */
export function createProgressRecord(registry: Registry): ProgressRecord {
  let last = registry.monotonic();
  let writing: Promise<unknown> | null = null;
  return {
    note(run) {
      const { progress, url } = run;
      if (progress === undefined || registry.monotonic() - last < between || writing !== null) return false;
      last = registry.monotonic();
      registry.log('info', 'progress', { run: run.id, repository: url, ...progress });
      writing = recordRun(registry, run)
        .catch(() => undefined)
        .finally(() => (writing = null));
      return true;
    },
    async settled() {
      await writing;
    },
  };
}
