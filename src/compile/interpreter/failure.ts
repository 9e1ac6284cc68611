import { isObject } from '../../model/json.ts';

/** Why code of a ruleset did not end: it threw, or took too much of something, or broke the interpreter. */
export interface Failure {
  kind: 'exception' | 'steps' | 'memory' | 'stack';
  message: string;
  /** Where in the files of the ruleset it happened, the innermost first. */
  frames: readonly { path: string; line: number }[];
}

export type Outcome = { value: unknown } | { failure: Failure };

/** A failure that no code threw. */
export function failed(message: string, frames: Failure['frames'] = []): Failure {
  return { kind: 'exception', message, frames };
}

/** Why functions or plugins do nothing where code is not allowed. */
export function notRun(what: 'functions' | 'plugins'): Failure {
  return failed(
    `the ${what} of this ruleset are not run here. The operator can allow them with "rulesets.functions" in the configuration`,
  );
}

/** Whether something is a failure, and no value of the interpreter. */
export function isFailure(value: object): value is Failure {
  return 'kind' in value && 'frames' in value;
}

const maxMessage = 500;
const maxFrames = 10;

/** Reads an error as the prelude describes it, or as the interpreter does. */
export function toFailure(value: unknown, modules: Readonly<Record<string, unknown>>): Failure {
  // What it throws when there is not even memory for an error.
  if (value === null) return { kind: 'memory', message: '', frames: [] };
  const { name, message, stack, fileName, lineNumber } = isObject(value) ? value : { message: value };
  const said = typeof message === 'string' ? message : '';
  const kind = said.startsWith('out of memory')
    ? 'memory'
    : /^(?:stack overflow|Maximum call stack)/.test(said)
      ? 'stack'
      : 'exception';
  const lines = [...String(stack ?? '').matchAll(/\(?([^\s()]+):(\d+):\d+\)?$/gm)].map(([, path, line]) => ({
    path: path!,
    line: Number(line),
  }));
  if (typeof fileName === 'string' && lines.length === 0) lines.push({ path: fileName, line: Number(lineNumber) });
  const frames = lines
    .filter(({ path, line }) => Object.hasOwn(modules, path) && Number.isSafeInteger(line))
    .slice(0, maxFrames);
  const plain = typeof name === 'string' && name !== '' && name !== 'Error' ? `${name}: ${said}` : said;
  return { kind, message: plain.slice(0, maxMessage), frames };
}
