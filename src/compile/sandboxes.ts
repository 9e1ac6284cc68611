import type { ChangeRules, Comparison } from '../model/comparison.ts';
import type { CompileLimits, Published, Turn, Compiler } from './compile.ts';
import type { RepositoryReader } from './repository-reader.ts';
import type { Renderer } from './renderer.ts';

/** Compares published documents. A pure function of its input. */
export interface Comparer {
  /**
   * Compares two published documents. If that takes too much memory, the verdict is `unknown` and
   * `reason` says why. `rules`: what the organization decides about changes.
   */
  compare(old: Published, next: Published, limits: CompileLimits, rules: ChangeRules, turn?: Turn): Promise<Comparison>;
}

/**
 * All work with users' documents, in sandboxes. If one dies for another reason than the document's
 * memory, its job is done once more in a new one; if that dies too, or the job takes too long, the call
 * rejects with `unavailable` (`isSandboxLost`).
 */
export interface Sandboxes extends Compiler, RepositoryReader, Renderer, Comparer {
  /** How documents are isolated. Absent where they are not, as in tests. */
  isolation?(): Promise<{ kind: 'bwrap' | 'node' }>;
  /** Stops the sandboxes. Running and queued jobs reject with `unavailable`. */
  close(): Promise<void>;
}
