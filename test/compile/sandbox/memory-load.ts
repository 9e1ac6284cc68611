import type { CompileInput, Load } from '../../../src/compile/compile.ts';
import { problemAtFile } from '../../../src/model/problem.ts';
import { limits } from '../limits.ts';

/** Serves files from memory, as a snapshot does. Every path that was asked for is kept in `asked`, one array for each batch. */
export function memoryLoad(files: Record<string, string | Uint8Array>): Load & { asked: string[][] } {
  const asked: string[][] = [];
  const load: Load = async (paths) => {
    asked.push([...paths]);
    return paths.map((path) => {
      const content = Object.hasOwn(files, path) ? files[path] : undefined;
      if (content === undefined)
        return { path, found: false, problem: problemAtFile('file-missing', path, 'There is no such file.') };
      return { path, found: true, bytes: Buffer.from(content), blob: null };
    });
  };
  return Object.assign(load, { asked });
}

/** An input with the usual settings. */
export function inputOf(entry: string, changes: Partial<CompileInput> = {}): CompileInput {
  return { type: 'apis', entry, validation: 'strict', ruleset: null, limits, ...changes };
}
