import { readFileSync } from 'node:fs';

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

/** A section per command with its arguments and options. Common options are listed once. */
export function describeCommands(commands: readonly CommandText[]): string {
  const common = commonOptions(commands);
  const isCommon = (flags: string) => common.some((option) => option.flags === flags);
  const sections = commands.map(({ name, summary, usage, arguments: taken, options }) => {
    const rows = [
      ...taken.map((argument) => [code(argument.name), argument.description]),
      ...options.filter(({ flags }) => !isCommon(flags)).map((option) => [code(option.flags), option.description]),
    ];
    const listed = rows.length === 0 ? [] : [table(['argument, option', 'what'], rows)];
    return [`### ${name}`, summary, `\`\`\`text\n${usage}\n\`\`\``, ...listed].join('\n\n');
  });
  const shared = table(
    ['option', 'what'],
    common.map(({ flags, description }) => [code(flags), description]),
  );
  return ['### Options of every command', shared, ...sections].join('\n\n');
}

function commonOptions(commands: readonly CommandText[]): CommandText['options'] {
  const [first, ...others] = commands;
  return (first?.options ?? []).filter(({ flags }) =>
    others.every(({ options }) => options.some((option) => option.flags === flags)),
  );
}

function code(text: string): string {
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
  const file = new URL('../../../content/schemas/config.json', import.meta.url);
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
