import type { Compiler } from '../../src/compile/compile.ts';
import { openCompiler } from '../../src/compile/sandbox/sandbox.ts';

let shared: Compiler | null = null;

/**
 * The real compiler with its sandboxes, one for all the files of a worker: a sandbox takes more than a second to start. For tests that
 * need what it makes. It ends with the worker, so nobody closes it.
 */
export function shareCompiler(): Compiler {
  return (shared ??= { ...openCompiler({ children: 2 }), close: async () => undefined });
}
