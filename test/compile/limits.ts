import type { CompileLimits } from '../../src/compile/compile.ts';

/** The limits that the program has by default. */
export const limits: CompileLimits = {
  fileBytes: 32 * 1024 * 1024,
  bundleBytes: 64 * 1024 * 1024,
  files: 5000,
  depth: 200,
  aliases: 10_000,
  nodes: 2_000_000,
  seconds: 600,
  memoryMegabytes: 2048,
};
