import type { LoadedFile } from '../../src/compile/collect.ts';
import type { CompileInput } from '../../src/compile/compile.ts';
import { runCompile } from '../../src/compile/run.ts';
import { formatProblem, problemAtFile } from '../../src/model/problem.ts';
import { inputOf } from './sandbox/memory-load.ts';

/** Compiles files from memory in this process: what the sandbox does, without it. The first file is the entry. */
export async function run(files: Record<string, string>, changes: Partial<CompileInput> = {}) {
  const [entry] = Object.keys(files);
  const batches: string[][] = [];
  const load = async (paths: string[]): Promise<LoadedFile[]> => {
    batches.push(paths);
    return paths.map((path) =>
      Object.hasOwn(files, path)
        ? { path, bytes: Buffer.from(files[path]!) }
        : { path, problem: problemAtFile('file-missing', path, 'There is no such file.') },
    );
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
