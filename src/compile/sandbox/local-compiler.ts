import { availableParallelism } from 'node:os';
import type { SandboxMode } from './isolation.ts';
import { openCompiler, type CompilerOptions, type SandboxCompiler } from './sandbox.ts';
import { besideOwnCode } from './start-snapshot.ts';

/** Opens the compiler with as many sandboxes as this machine can use. `codeFolder`: if this process keeps no code itself. */
export function openLocalCompiler(
  mode: SandboxMode,
  { codeFolder = null, ...options }: Pick<CompilerOptions, 'hasSpare' | 'isForeground' | 'codeFolder'> = {},
): SandboxCompiler {
  // One more than the processors in use: one organization can use all of them and never the last
  // child.
  const children = Math.min(4, availableParallelism()) + 1;
  return openCompiler({ ...options, children, mode, codeFolder: besideOwnCode() ?? codeFolder });
}
