import { availableParallelism } from 'node:os';
import type { SandboxMode } from './isolation.ts';
import { openCompiler, type SandboxCompiler } from './sandbox.ts';

/** Opens the compiler with as many sandboxes as this machine can use. */
export function openLocalCompiler(mode: SandboxMode, hasSpare = false): SandboxCompiler {
  // One more than the processors in use: one organization can use all of them and never the last
  // child.
  return openCompiler({ children: Math.min(4, availableParallelism()) + 1, hasSpare, mode });
}
