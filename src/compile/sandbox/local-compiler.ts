import { availableParallelism } from 'node:os';
import { besideOwnCode } from './code-cache.ts';
import type { SandboxMode } from './isolation.ts';
import { openCompiler, type SandboxCompiler } from './sandbox.ts';

interface LocalOptions {
  hasSpare?: boolean;
  /** For a command that somebody waits for: sandboxes do not give way to other processes. */
  isForeground?: boolean;
  /** Where to keep the compiled code of sandboxes, unless this process keeps its own somewhere. */
  codeFolder?: string | null;
}

/** Opens the compiler with as many sandboxes as this machine can use. */
export function openLocalCompiler(
  mode: SandboxMode,
  { hasSpare = false, isForeground = false, codeFolder = null }: LocalOptions = {},
): SandboxCompiler {
  // One more than the processors in use: one organization can use all of them and never the last
  // child.
  const children = Math.min(4, availableParallelism()) + 1;
  return openCompiler({ children, hasSpare, isForeground, mode, codeFolder: besideOwnCode() ?? codeFolder });
}
