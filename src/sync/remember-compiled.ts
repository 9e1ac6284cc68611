import type { Compiled, Compiler } from '../compile/compile.ts';
import { hasDied } from '../compile/sandbox-lost.ts';
import type { Snapshot } from '../source/snapshot.ts';

interface Remembered {
  /** The input, as text. */
  asked: string;
  compiled: Compiled;
}

/**
 * A compiler for each snapshot that does not compile the same twice: equal settings and equal blobs
 * of every file that was read give the same artifact and report. All of them share the `most` last
 * results.
 */
export function rememberCompiled<C extends Compiler>(compiler: C, most: number): (snapshot: Snapshot) => C {
  const results: Remembered[] = [];
  return (snapshot) => ({
    ...compiler,
    async compile(input, load, turn) {
      const asked = JSON.stringify({ ...input, ruleset: input.ruleset?.digest ?? null });
      const ids = new Map((await snapshot.entries()).map(({ path, id }) => [path, id]));
      const isSame = ({ path, blob }: Compiled['files'][number]) => (ids.get(path) ?? null) === blob;
      const match = results.find((result) => result.asked === asked && result.compiled.files.every(isSame));
      if (match !== undefined) return match.compiled;
      const compiled = await compiler.compile(input, load, turn);
      if (!hasDied(compiled.report)) results.unshift({ asked, compiled });
      results.splice(most);
      return compiled;
    },
  });
}
