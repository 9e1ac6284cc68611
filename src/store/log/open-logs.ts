import type { Partition } from './partition.ts';

/** A log in memory, or on its way there. */
export interface OpenLog {
  partition: Promise<Partition>;
  opened: Partition | null;
  /** How many changes of it are under way. */
  changes: number;
}

/** The logs in memory. Above `memory` bytes, the least recently used leaves first. */
export interface OpenLogs {
  /** The log, which counts as used now. Opens it if it is not in memory. */
  use(id: string): OpenLog;
  /** The log, if it is open. */
  openedLog(id: string): Partition | null;
  /** Counts what a log takes now. Forgets others until the rest fits, but none that is being changed. */
  measure(id: string, used: OpenLog): void;
  /** Bytes of all logs, roughly. */
  bytes(): number;
}

export function createOpenLogs(openLog: (id: string) => Promise<Partition>, memory: number): OpenLogs {
  /** In order of use, the least recent first. */
  const open = new Map<string, OpenLog>();
  const sizes = new Map<string, number>();
  let newest = '';
  let total = 0;

  function begin(id: string): OpenLog {
    const entry: OpenLog = { partition: openLog(id), opened: null, changes: 0 };
    entry.partition.then(
      (opened) => {
        entry.opened = opened;
        measure(id, entry);
      },
      () => void (open.get(id) === entry && open.delete(id)),
    );
    return entry;
  }

  function measure(id: string, used: OpenLog): void {
    if (used.opened === null || open.get(id) !== used) return;
    const size = used.opened.size();
    total += size - (sizes.get(id) ?? 0);
    sizes.set(id, size);
    for (const [other, { opened, changes }] of open) {
      if (total <= memory) return;
      if (other === id || opened === null || changes > 0) continue;
      total -= sizes.get(other) ?? 0;
      sizes.delete(other);
      open.delete(other);
    }
  }

  function use(id: string): OpenLog {
    const log = open.get(id) ?? begin(id);
    if (id !== newest) {
      open.delete(id);
      newest = id;
    }
    open.set(id, log);
    return log;
  }

  return {
    use,
    openedLog: (id) => open.get(id)?.opened ?? null,
    measure,
    bytes: () => total,
  };
}
