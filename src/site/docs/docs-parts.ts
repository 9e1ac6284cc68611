import { describeCommands, type CommandText } from './docs-commands.ts';
import { describeConfiguration } from './docs-configuration.ts';
import type { ProblemKind } from '../pages/message-pages.ts';
import { table } from './docs-table.ts';

interface Described {
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, Operation | undefined>>;
}

interface Operation {
  summary: string;
  tags: string[];
  'x-scope'?: string;
}

const methods = ['get', 'post', 'put', 'patch', 'delete'];

/** A table of operations per tag of the management API. `management`: its OpenAPI document. */
function describeOperations(management: unknown): string {
  const { tags, paths } = management as Described;
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    methods.flatMap((method) => (item[method] === undefined ? [] : [{ path, method, ...item[method] }])),
  );
  const sections = tags.map(({ name, description }) => {
    const rows = operations
      .filter((operation) => operation.tags.includes(name))
      .map(({ method, path, summary, 'x-scope': scope }) => [
        `\`${method.toUpperCase()} ${path}\``,
        summary,
        scope === undefined ? '' : `\`${scope}\``,
      ]);
    return `### ${name}\n\n${description}\n\n${table(['operation', 'what', 'scope'], rows)}`;
  });
  return sections.join('\n\n');
}

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

/** A section per kind of problem, named by its code. */
function describeProblems(kinds: readonly ProblemKind[]): string {
  return kinds.map(({ code, status, title, meaning }) => `### ${code}\n\n${status}. ${title}. ${meaning}`).join('\n\n');
}
