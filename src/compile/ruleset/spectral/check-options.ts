import type { Note } from '../../kind.ts';
import { messageThrown } from '../../../model/errors.ts';
import { joinPointer } from '../../../model/pointer.ts';
import { refersElsewhere } from './create-ajv.ts';
import { createTools } from './functions.ts';
import { compilePattern } from './pattern.ts';

/**
 * The most steps of all patterns of a ruleset, and the most values of all its JSON Schemas. Compiling
 * so many takes half a second. In the rulesets that we know, the most are 2,061 and 176.
 */
const maxSteps = 100_000;
const maxSchemaValues = 10_000;

/**
 * Checks the options of functions in one ruleset, which are at `at`. What exceeds a limit is refused before it is
 * compiled.
 */
export type OptionsCheck = (name: string, options: Record<string, unknown>, at: string) => void;

export function createOptionsCheck(note: Note): OptionsCheck {
  const tools = createTools();
  let steps = 0;
  let values = 0;

  function checkPattern(pattern: string, at: string): void {
    if (steps > maxSteps) return;
    const failure = failureOf(() => void (steps += compilePattern(pattern).steps));
    if (failure !== null)
      note('ruleset-pattern', at, `This pattern is not a regular expression that can be matched: ${failure}.`);
    else if (steps > maxSteps) {
      const message = `The patterns of this ruleset up to this one have ${steps} steps, with their repetitions written out; the limit is ${maxSteps}. Split the ruleset, or repeat less.`;
      note('limit-rules', at, message);
    }
  }

  function checkSchema(options: Record<string, unknown>, at: string): void {
    if (values > maxSchemaValues) return;
    values += countValues(options['schema']);
    if (values > maxSchemaValues) {
      const message = `The JSON Schemas of this ruleset up to this one have ${values} values; the limit is ${maxSchemaValues}. Split the ruleset, or check less in each rule.`;
      return note('limit-rules', at, message);
    }
    const failure = failureOf(() => tools.schema(options));
    if (failure !== null) note('ruleset-schema', at, `This JSON Schema cannot be used: ${failure}.`);
  }

  return (name, options, at) => {
    for (const key of name === 'pattern' ? ['match', 'notMatch'] : [])
      if (typeof options[key] === 'string') checkPattern(options[key], joinPointer(at, key));
    // References to other files are reported as such.
    if (name === 'schema' && !refersElsewhere(options['schema'])) checkSchema(options, joinPointer(at, 'schema'));
  };
}

function countValues(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce((sum: number, child: unknown) => sum + countValues(child), 1);
}

/** The message of the error that a function throws, without its full stop, or null. */
export function failureOf(run: () => unknown): string | null {
  return messageThrown(run)?.replace(/\.$/, '') ?? null;
}
