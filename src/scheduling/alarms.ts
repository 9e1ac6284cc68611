/** Wakes work at its time: one alarm for each name, of which the earliest counts. */
export interface Alarms {
  /** `milliseconds`: from now. Counts for nothing after `close`. */
  set(name: string, milliseconds: number): void;
  close(): void;
}

/** The longest time that a timer can wait; a later alarm rings then, and is set again. */
const longest = 24 * 60 * 60_000;

/** Creates alarms that keep no process running. `ring` must not throw. */
export function createAlarms(ring: (name: string) => void): Alarms {
  const set = new Map<string, { at: number; timer: NodeJS.Timeout }>();
  let isClosed = false;
  return {
    set(name, milliseconds) {
      const wait = Math.min(Math.max(milliseconds, 0), longest);
      const at = performance.now() + wait;
      const alarm = set.get(name);
      if (isClosed || (alarm && alarm.at <= at)) return;
      clearTimeout(alarm?.timer);
      const timer = setTimeout(() => {
        set.delete(name);
        ring(name);
      }, wait).unref();
      set.set(name, { at, timer });
    },
    close() {
      isClosed = true;
      for (const { timer } of set.values()) clearTimeout(timer);
      set.clear();
    },
  };
}
