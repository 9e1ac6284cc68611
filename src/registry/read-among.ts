import { isRegistryError } from '../model/errors.ts';
import type { Generation } from '../store/generations.ts';
import type { Log, Registry } from './registry.ts';

const told = new WeakMap<Log, Set<string>>();

/**
 * A ref that is read as one of many: a damaged one is passed over, as if it were not there, and told in the log once, so that it neither
 * takes the others along nor has its name told to whoever asked for the list.
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
