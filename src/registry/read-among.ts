import { isRegistryError } from '../model/errors.ts';
import type { Generation } from '../store/records.ts';
import type { Log, Registry } from './registry.ts';

const logged = new WeakMap<Log, Set<string>>();

/**
 * Reads an expiring record as one of many. A damaged one counts as absent and is logged once, so that
 * it does not take the others along.
 */
export async function readAmong<T>(
  { refs, log }: Pick<Registry, 'refs' | 'log'>,
  name: string,
): Promise<Generation<T> | null> {
  try {
    return await refs.read<T>(name);
  } catch (error) {
    if (!isRegistryError(error, 'corrupt')) throw error;
    const names = logged.getOrInsertComputed(log, () => new Set());
    if (!names.has(name)) log('error', 'damaged record passed over', { record: name, error: error.message });
    names.add(name);
    return null;
  }
}
