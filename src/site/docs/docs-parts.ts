import { describeCommands, type CommandText } from './docs-commands.ts';
import { describeConfiguration } from './docs-configuration.ts';
import { describeOperations } from './docs-operations.ts';
import { describeProblems } from './docs-problems.ts';
import type { ProblemKind } from '../pages/message-pages.ts';

/** The facts about this program that generated parts of the documentation use. */
export interface DocFacts {
  problems: readonly ProblemKind[];
  commands: readonly CommandText[];
  /** The OpenAPI document of the management API. Loaded only when used, because it is long. */
  management(): unknown;
}

const parts: Readonly<Record<string, (facts: DocFacts) => string>> = {
  commands: ({ commands }) => describeCommands(commands),
  configuration: () => describeConfiguration(),
  operations: ({ management }) => describeOperations(management()),
  problems: ({ problems }) => describeProblems(problems),
};

/** Replaces the marks in the Markdown by generated parts. Throws for an unknown mark. */
export function fillParts(markdown: string, facts: DocFacts): string {
  return markdown.replaceAll(/^<!-- stele: (\S+) -->$/gm, (_, name: string) => {
    const part = Object.hasOwn(parts, name) ? parts[name]! : null;
    if (part === null) throw new TypeError(`Unknown mark in the documentation: ${name}.`);
    return part(facts);
  });
}
