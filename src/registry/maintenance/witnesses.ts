import { isDigest, type Digest } from '../../model/digest.ts';
import type { SealedEntry } from '../../store/log/entry.ts';
import { headIn, type Head } from '../../store/log/heads.ts';

/** The heads of logs in a record that expires: of a head, or of the answer to a repeatable request. */
export function headsIn(key: string, record: unknown): Head[] {
  const head = headIn(key, record);
  if (head !== null) return [head];
  if (!key.startsWith('work/idempotency/')) return [];
  const heads = (record as { value?: { heads?: unknown } } | null)?.value?.heads;
  return Array.isArray(heads) ? heads.filter(isHead) : [];
}

/** Whether a value is a head, such as one out of a file. */
export function isHead(value: unknown): value is Head {
  const { log, sequence, digest } = (value ?? {}) as Partial<Record<keyof Head, unknown>>;
  return typeof log === 'string' && Number.isInteger(sequence) && typeof digest === 'string' && isDigest(digest);
}

type Told = { digest: Digest; where: string };

/** Records outside of the logs of how far these reached. */
export type Witnesses = ReturnType<typeof createWitnesses>;

export function createWitnesses() {
  const byLog = new Map<string, Map<number, Told>>();
  return {
    /** `where`: what tells of it, for messages. */
    add({ log, sequence, digest }: Head, where: string): void {
      byLog.getOrInsertComputed(log, () => new Map<number, Told>()).set(sequence, { digest, where });
    },
    logs: () => byLog.keys(),
    of: (log: string) => Array.from(byLog.get(log) ?? [], ([sequence, head]) => ({ sequence, ...head })),
    /** The record that has another digest for this entry; null if there is none. */
    against(log: string, { sequence, digest }: Pick<SealedEntry, 'sequence' | 'digest'>): string | null {
      const head = byLog.get(log)?.get(sequence);
      return head === undefined || head.digest === digest ? null : head.where;
    },
    /** The newest recorded entry, if it is after this one. */
    beyond(log: string, sequence: number): { sequence: number; where: string } | null {
      let newest: { sequence: number; where: string } | null = null;
      for (const [number, { where }] of byLog.get(log) ?? [])
        if (number > (newest?.sequence ?? sequence)) newest = { sequence: number, where };
      return newest;
    },
  };
}
