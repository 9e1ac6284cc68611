import type { SandboxMode } from '../../src/compile/sandbox/isolation.ts';
import { openCompiler, type SandboxCompiler } from '../../src/compile/sandbox/sandbox.ts';

const shared = new Map<SandboxMode, SandboxCompiler>();

/**
 * The real compiler with its sandboxes, one for all the files of a worker: a sandbox takes a second of CPU time to start. For tests that
 * need what it makes. It ends with the worker, so nobody closes it.
 */
export function shareCompiler(mode: SandboxMode = 'auto'): SandboxCompiler {
  const known = shared.get(mode);
  if (known !== undefined) return known;
  const compiler = { ...openCompiler({ children: 2, mode }), prepare: () => undefined, close: async () => undefined };
  shared.set(mode, compiler);
  return compiler;
}
