/**
 * Writes what the documentation lists of the program itself into `content/reference/`: commands, keys of the configuration,
 * operations of the management API, and problems. It is kept in git, since a registry shows it from there.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { Help, type Command } from 'commander';
import { createProgram } from '../src/cli/program.ts';
import { problemTypes } from '../src/server/error-answers.ts';
import { readDescription } from '../src/server/v1/api-description.ts';

const folder = new URL('../content/reference/', import.meta.url);

/** The texts by the name of their files. `content/docs` shows each where it has `<!-- stele: name -->`. */
export async function makeReferences(): Promise<Record<string, string>> {
  const texts = {
    commands: commandSections(describeCommands(await createProgram())),
    configuration: describeConfiguration(),
    operations: describeOperations(readDescription().document),
    problems: Object.entries(problemTypes)
      .map(([code, { status, title, meaning }]) => `### ${code}\n\n${status}. ${title}. ${meaning}`)
      .join('\n\n'),
  };
  return Object.fromEntries(Object.entries(texts).map(([name, text]) => [`${name}.md`, `${text}\n`]));
}

/** A command with its help (`stele <command> --help`). */
export interface CommandText {
  /** The full name, with its parent: `stele keys create`. */
  name: string;
  summary: string;
  /** `stele keys create [options]` */
  usage: string;
  arguments: { name: string; description: string }[];
  options: { flags: string; description: string }[];
}

/** Returns the help of every command that can be run, for the documentation. */
export function describeCommands(program: Command): CommandText[] {
  const help = new Help();
  const describe = (command: Command): CommandText[] => {
    const below = help.visibleCommands(command).filter((each) => each.name() !== 'help');
    if (below.length > 0) return below.flatMap(describe);
    return [
      {
        name: pathOf(command),
        summary: help.commandDescription(command),
        usage: help.commandUsage(command),
        arguments: command.registeredArguments.map((argument) => ({
          name: help.argumentTerm(argument),
          description: help.argumentDescription(argument),
        })),
        options: help
          .visibleOptions(command)
          .map((option) => ({ flags: help.optionTerm(option), description: help.optionDescription(option) })),
      },
    ];
  };
  return describe(program);
}

function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}

/** A section per command with its arguments and options. Common options are listed once. */
function commandSections(commands: readonly CommandText[]): string {
  const common = commonOptions(commands);
  const isCommon = (flags: string) => common.some((option) => option.flags === flags);
  const sections = commands.map(({ name, summary, usage, arguments: taken, options }) => {
    const rows = [
      ...taken.map((argument) => [inCode(argument.name), argument.description]),
      ...options.filter(({ flags }) => !isCommon(flags)).map((option) => [inCode(option.flags), option.description]),
    ];
    const listed = rows.length === 0 ? [] : [table(['argument, option', 'what'], rows)];
    return [`### ${name}`, summary, `\`\`\`text\n${usage}\n\`\`\``, ...listed].join('\n\n');
  });
  const shared = table(
    ['option', 'what'],
    common.map(({ flags, description }) => [inCode(flags), description]),
  );
  return ['### Options of every command', shared, ...sections].join('\n\n');
}

function commonOptions(commands: readonly CommandText[]): CommandText['options'] {
  const [first, ...others] = commands;
  return (first?.options ?? []).filter(({ flags }) =>
    others.every(({ options }) => options.some((option) => option.flags === flags)),
  );
}

function inCode(text: string): string {
  return `\`${text}\``;
}

/** The part of JSON Schema that `content/schemas/config.json` uses. */
interface Schema {
  $ref?: string;
  $defs?: Record<string, Schema>;
  description?: string;
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  required?: string[];
  properties?: Record<string, Schema>;
  additionalProperties?: boolean | Schema;
  items?: Schema;
  oneOf?: Schema[];
}

/**
 * A section per configuration key, with a row for it and each key in it, from
 * `content/schemas/config.json`.
 */
export function describeConfiguration(): string {
  const file = new URL('../content/schemas/config.json', import.meta.url);
  const schema = JSON.parse(readFileSync(file, 'utf8')) as Schema;
  const sections = Object.entries(schema.properties ?? {}).map(([name, value]) => {
    const rows = keysOf(schema, name, value).map(({ key, schema: each, isRequired }) => [
      `\`${key}\`${isRequired ? ' (required)' : ''}`,
      valuesOf(each),
      each.default === undefined ? '' : `\`${JSON.stringify(each.default)}\``,
      each.description ?? '',
    ]);
    return `### ${name}\n\n${table(['key', 'values', 'default', 'what'], rows)}`;
  });
  return sections.join('\n\n');
}

interface Key {
  /** `organizations.<name>.repositories[].url` */
  key: string;
  schema: Schema;
  isRequired: boolean;
}

/** The key and all keys below it. Keys that alternatives share are listed once. */
function keysOf(root: Schema, key: string, given: Schema, isRequired = false): Key[] {
  const schema = resolve(root, given);
  const inner = (name: string, value: Schema, owner: Schema) =>
    keysOf(root, `${key}.${name}`, value, owner.required?.includes(name) ?? false);
  const below = [schema, ...(schema.oneOf ?? [])].flatMap((owner) =>
    Object.entries(owner.properties ?? {}).flatMap(([name, value]) => inner(name, value, owner)),
  );
  const named = typeof schema.additionalProperties === 'object' ? schema.additionalProperties : null;
  const all = [
    { key, schema, isRequired },
    ...below,
    ...(named === null ? [] : keysOf(root, `${key}.<name>`, named)),
    ...(schema.items === undefined ? [] : keysOf(root, `${key}[]`, schema.items)),
  ];
  return all.filter((each, index) => all.findIndex((other) => other.key === each.key) === index);
}

/** Resolves a reference within the schema. Keywords beside it take precedence. */
function resolve(root: Schema, { $ref, ...own }: Schema): Schema {
  const name = $ref?.replace('#/$defs/', '');
  return name === undefined ? own : { ...root.$defs![name]!, ...own };
}

function valuesOf({ enum: allowed, const: only, type, oneOf, minimum, maximum, exclusiveMinimum }: Schema): string {
  const values = allowed ?? (only === undefined ? null : [only]);
  if (values !== null) return values.map((value) => `\`${JSON.stringify(value)}\``).join(', ');
  const kinds = type ?? (oneOf === undefined ? 'any' : 'object');
  const limits = [
    minimum === undefined ? null : `≥ ${minimum}`,
    exclusiveMinimum === undefined ? null : `> ${exclusiveMinimum}`,
    maximum === undefined ? null : `≤ ${maximum}`,
  ].filter((text) => text !== null);
  return [Array.isArray(kinds) ? kinds.join(' or ') : kinds, ...limits].join(' ');
}

/** Formats a Markdown table. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((text) => text.replaceAll('\n', ' ').replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

interface Described {
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, Operation | undefined>>;
}

interface Operation {
  summary: string;
  tags: string[];
  'x-scope'?: string;
  /** `organization`: for all of it; a key limited to some resources is refused. */
  'x-scope-of'?: string;
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
      .map(({ method, path, summary, 'x-scope': scope, 'x-scope-of': of }) => [
        `\`${method.toUpperCase()} ${path}\``,
        summary,
        scope === undefined ? '' : `\`${scope}\`${of === undefined ? '' : ' (whole organization)'}`,
      ]);
    return `### ${name}\n\n${description}\n\n${table(['operation', 'what', 'scope'], rows)}`;
  });
  return sections.join('\n\n');
}

if (import.meta.main) {
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of Object.entries(await makeReferences())) writeFileSync(new URL(name, folder), text);
}
