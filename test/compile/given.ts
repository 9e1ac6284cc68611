import type { ResourceType } from '../../src/model/address.ts';
import { formatProblem, type Problem } from '../../src/model/problem.ts';
import type { CompileInput, CompileLimits } from '../../src/compile/compile.ts';
import type { KindInput, UnparsedFile } from '../../src/compile/kind.ts';
import { parseFile, type ParsedFile } from '../../src/compile/text/parse.ts';

export const limits: CompileLimits = {
  fileBytes: 32 * 2 ** 20,
  bundleBytes: 64 * 2 ** 20,
  files: 5000,
  depth: 200,
  aliases: 1000,
  nodes: 10_000_000,
  seconds: 30,
  memoryMegabytes: 1024,
};

/** The input of a kind's compiler: the first file is the entry. Texts are as in a file, other values are written as JSON. */
export function given(
  files: Record<string, unknown>,
  type: ResourceType,
  validation: CompileInput['validation'] = 'strict',
): KindInput {
  const parsed = new Map<string, ParsedFile | UnparsedFile>();
  for (const [path, content] of Object.entries(files)) {
    const text = typeof content === 'string' ? content : JSON.stringify(content, null, 2);
    const outcome = parseFile(path, Buffer.from(text), limits);
    parsed.set(path, outcome.ok ? outcome.file : { path, text: null, problem: outcome.problems[0] ?? null });
  }
  const [path] = Object.keys(files);
  const entry = parsed.get(path!)!;
  if (!('value' in entry)) throw new Error(`The entry cannot be read: ${entry.problem?.message}`);
  return { entry, files: parsed, input: { type, entry: entry.path, validation, ruleset: null, limits } };
}

/** Problems as lines, in the order given. */
export function lines(problems: readonly Problem[]): string[] {
  return problems.map(formatProblem);
}
