import { describeCommands, type CommandText } from './docs-commands.ts';
import { describeConfiguration } from './docs-configuration.ts';
import { describeOperations } from './docs-operations.ts';
import { describeProblems } from './docs-problems.ts';
import type { ProblemKind } from '../pages/message-pages.ts';

/** What the documentation says about this program is made of these, so that it cannot be wrong. */
export interface DocFacts {
  problems: readonly ProblemKind[];
  commands: readonly CommandText[];
  /** The OpenAPI document of the management API. It is long, and read only when it is wanted. */
  management(): unknown;
}

const parts: Readonly<Record<string, (facts: DocFacts) => string>> = {
  commands: ({ commands }) => describeCommands(commands),
  configuration: () => describeConfiguration(),
  operations: ({ management }) => describeOperations(management()),
  problems: ({ problems }) => describeProblems(problems),
};

/** The Markdown with what its marks stand for in their place. Throws for a mark that stands for nothing. */
export function fillParts(markdown: string, facts: DocFacts): string {
  return markdown.replaceAll(/^<!-- stele: (\S+) -->$/gm, (_, name: string) => {
    const part = Object.hasOwn(parts, name) ? parts[name]! : null;
    if (part === null) throw new TypeError(`Nothing is called ${name}.`);
    return part(facts);
  });
}
