import type { LoadedFile } from '../../src/compile/collect.ts';
import type { CompileInput } from '../../src/compile/compile.ts';
import { runCompile } from '../../src/compile/run.ts';
import { formatProblem, problemAtFile } from '../../src/model/problem.ts';
import { inputOf } from './sandbox/memory-load.ts';

/** Compiles files from memory in this process: what the sandbox does, without it. The first file is the entry. */
export async function run(files: Record<string, string>, changes: Partial<CompileInput> = {}) {
  const [entry] = Object.keys(files);
  const batches: string[][] = [];
  const give = giveOnce(files);
  const load = (paths: string[]): Promise<LoadedFile[]> => {
    batches.push(paths);
    return give(paths);
  };
  const { artifact, report } = await runCompile(inputOf(entry!, changes), load);
  const text = (format: string) => {
    const found = artifact?.representations.find((one) => one.format === format && one.coding === 'identity');
    return found === undefined ? null : Buffer.from(found.bytes).toString();
  };
  const json = text('json');
  return {
    artifact,
    report,
    batches,
    lines: report.problems.map(formatProblem),
    json,
    yaml: text('yaml'),
    value: json === null ? null : (JSON.parse(json) as unknown),
  };
}

/** Gives each file once, as the parent of a sandbox does. */
export function giveOnce(files: Readonly<Record<string, string>>): (paths: string[]) => Promise<LoadedFile[]> {
  const given = new Set<string>();
  return async (paths) => {
    const wanted = [...new Set(paths)].filter((path) => !given.has(path));
    return wanted.map((path) => {
      given.add(path);
      return Object.hasOwn(files, path)
        ? { path, bytes: Buffer.from(files[path]!) }
        : { path, problem: problemAtFile('file-missing', path, 'There is no such file.') };
    });
  };
}
