import { isRegistryError } from '../model/errors.ts';
import type { Generation } from '../store/generations.ts';
import type { Log, Registry } from './registry.ts';

const told = new WeakMap<Log, Set<string>>();

/**
 * Reads a ref for a list. Skips a damaged one and logs it once, so that it neither breaks the list
 * nor reveals its name.
 */
export async function readAmong<T>(
  { refs, log }: Pick<Registry, 'refs' | 'log'>,
  name: string,
): Promise<Generation<T> | null> {
  try {
    return await refs.read<T>(name);
  } catch (error) {
    if (!isRegistryError(error, 'corrupt')) throw error;
    const names = told.get(log) ?? new Set();
    told.set(log, names);
    if (!names.has(name)) log('error', 'damaged ref passed over', { ref: name, error: error.message });
    names.add(name);
    return null;
  }
}
