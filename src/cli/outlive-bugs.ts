import { inspect } from 'node:util';
import type { Log } from '../registry/registry.ts';

const kinds = ['uncaughtException', 'unhandledRejection'] as const;

/**
 * The last resort of a server: what nobody caught is a bug, is logged with its stack, and does not end
 * the process, because one request must not stop the registry for all. What is stored is whole at any
 * moment. Returns a function that ends this.
 */
export function outliveBugs(log: Log): () => void {
  const listeners = kinds.map((kind) => {
    const note = (error: unknown): void => log('error', 'a bug: nobody caught this', { kind, error: inspect(error) });
    process.on(kind, note);
    return () => void process.off(kind, note);
  });
  return () => {
    for (const leave of listeners) leave();
  };
}
