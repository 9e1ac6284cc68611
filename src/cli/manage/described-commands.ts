import { Argument, Command, Option } from 'commander';
import { malformed } from '../../model/errors.ts';
import { own } from '../../model/json.ts';
import { nameOf } from '../../model/resource.ts';
import { ownDescription, type DescribedOperation } from '../../server/v1/api-description.ts';
import {
  bodyFrom,
  describedField,
  describedParameter,
  queryFrom,
  type Field,
  type Typed,
} from '../../server/v1/described-field.ts';
import { requireSite } from '../../sites/cli/sites-command.ts';
import { requireCoordinate, type CommonOptions } from '../command-context.ts';
import { complain, print, printJson } from '../output.ts';
import type { Client } from '../registry-client.ts';
import { commandCodes, type Answer, type CommandCode, type Given } from './command-codes.ts';
import { withClient } from './with-client.ts';

interface PlainCommand {
  /** Its words: `keys create`. */
  name: string;
  /** What it is for, as `stele --help` groups commands. Absent: what stands below another command. */
  group?: string;
  description: string;
  /**
   * What one writes, in order, by what it becomes: path parameters, members of the body as JSON Pointers, query
   * parameters as `?name`. An `api` is the coordinate of any resource, with a version where the path has one; a `site`
   * that of a site.
   */
  takes?: Readonly<Record<string, Taken>>;
  /** Members of the body that nobody types. */
  fixed?: object;
  /** Whether it may be the first thing that is done with a data folder, which is made then. */
  makesStore?: boolean;
  /** What `--json` prints beside the answer, or each item of a list: values, and names of what was given. */
  adds?: Readonly<Record<string, string | boolean>>;
  /** The line for the answer, or for each item of a list. `{a|b}`: the first that is there, or else the last word. */
  prints?: string;
  /** A line on stderr after that; for a list, only if it is empty. */
  says?: string;
}

/** How one writes it, as `--scope scope...`; an argument as `id`. The description of what it becomes says the rest. */
interface Taken {
  as?: string;
  help?: string;
}

interface Input {
  key: string;
  part: Argument | Option;
  /** Absent: it is in the path. */
  field: Field | null;
}

/** What is managed with subcommands: what they are for, and what `--org` means. Default: the organization. */
const groups: readonly [name: string, description: string, org?: string][] = [
  ['keys', 'Create, list and revoke API keys.', 'organization of the keys'],
  ['webhooks', 'List, create, test and delete webhook endpoints.', 'organization of the endpoint'],
  ['approvals', 'Say what waits for approval, approve it or reject it.'],
  ['organizations', 'Create organizations, and say who may do what there.'],
];

/** The commands that the description has. Those below a command of `others` are added to it, and left out without it. */
export function describedCommands(...others: readonly Command[]): Command[] {
  const made = groups.map(([name, description]) => new Command(name).description(description));
  const alone: Command[] = [];
  for (const operation of ownDescription().operations)
    for (const plain of operation.commands as readonly PlainCommand[]) {
      const [first, below] = plain.name.split(' ') as [string, string?];
      const command = commandOf(operation, plain, below ?? first);
      if (below === undefined) alone.push(command.helpGroup(plain.group ?? ''));
      else [...made, ...others].find((each) => each.name() === first)?.addCommand(command);
    }
  return [...alone, ...made];
}

function commandOf(operation: DescribedOperation, plain: PlainCommand, name: string): Command {
  const { takes = {} } = plain;
  const command = new Command(name).description(plain.description);
  const inputs = Object.entries(takes).map(([key, taken]) => inputOf(operation, key, taken));
  for (const { part } of inputs) if (part instanceof Argument) command.addArgument(part);
  if (!operation.isPersonal && !('api' in takes || 'site' in takes))
    command.option('--org <name>', groups.find(([group]) => plain.name.startsWith(group))?.[2] ?? 'the organization');
  command.option('--registry <url>', 'URL of a running registry; uses the key in STELE_KEY and its organization');
  for (const { part } of inputs) if (part instanceof Option) command.addOption(part);
  return command.action((...all: unknown[]) => run(all.at(-1) as Command, operation, plain, inputs));
}

function inputOf(operation: DescribedOperation, key: string, { as, help }: Taken): Input {
  const field = key.startsWith('/') ? describedField(operation, key, false) : describedParameter(operation, key);
  const word = key.split(/[/?]/).at(-1)!;
  const isList = field?.kind === 'checks' || field?.kind === 'lines';
  const flag = `--${(isList ? word.replace(/s$/, '') : word).replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  const usual = field === null ? word : field.kind === 'check' ? flag : `${flag} text${isList ? '...' : ''}`;
  const terms = (as ?? usual).replace(/[a-z.]+$/, (name) => (field?.kind === 'check' ? name : `<${name}>`));
  const text = help ?? field?.hint ?? field?.label;
  const part = terms.startsWith('--') ? new Option(terms, text) : new Argument(terms, text);
  if (field?.options) part.choices(field.options.flatMap(({ value }) => value || []));
  if (field?.isRequired && part instanceof Option) part.makeOptionMandatory();
  return { key, part, field };
}

async function run(
  command: Command,
  operation: DescribedOperation,
  plain: PlainCommand,
  inputs: readonly Input[],
): Promise<void> {
  const options = command.optsWithGlobals<CommonOptions & { org?: string; registry?: string }>();
  const names = command.registeredArguments.map((argument) => argument.name());
  const given: Given = { ...options, ...Object.fromEntries(names.map((name, at) => [name, command.args[at]])) };
  const { makesStore = false, adds = {}, prints = '', says = '' } = plain;
  const code = own<CommandCode>(commandCodes, operation.id) ?? {};
  const typed = { ...typedIn(given, inputs), ...code.typed?.(given) };
  const { org, path } = placeOf(operation.path, typed);
  // The operator of a data folder acts in all organizations.
  const nobodys = options.registry === undefined ? '-' : null;
  const owner = org ?? (operation.isPersonal ? nobodys : (options.org ?? null));
  // What is not given is not asked for; in a form, an empty field means something.
  const fields = inputs.flatMap(({ key, field }) => (typed[key]!.length > 0 ? (field ?? []) : []));
  const query = new URLSearchParams(queryFrom(fields, typed)).toString();
  const body = operation.body && bodyFrom(fields, typed, plain.fixed);
  const more = Object.fromEntries(
    Object.entries(adds).map(([name, value]) => [name, typeof value === 'string' ? given[value] : value]),
  );
  await withClient(command, owner, work, { makesStore });

  async function work(client: Client): Promise<void> {
    const target = path.replace('{organization}', client.org);
    const isList = operation.parameters.some(({ name }) => name === 'cursor');
    if (isList) {
      const asked = client.demandAll<object>(`${target}?${query && `${query}&`}`);
      const items = await Array.fromAsync(asked, (item): Answer => ({ ...more, ...item }));
      if (options.json) return printJson({ [target.split('/').at(-1)!]: items });
      for (const item of items) print(code.line?.(item) ?? fill(prints, { ...given, ...item }));
      if (items.length === 0 && says !== '') complain(fill(says, given));
      return;
    }
    const method = operation.method.toUpperCase();
    const answered = await client.demand(method, target + (query && `?${query}`), body ?? undefined);
    const answer = code.answer?.(answered, given) ?? { ...more, ...answered };
    if (options.json) return printJson(answer);
    await code.say?.(answer, given, client);
    if (prints !== '') print(fill(prints, { ...given, ...answer }));
    if (says !== '') complain(fill(says, { ...given, ...answer }));
  }
}

function typedIn(given: Given, inputs: readonly Input[]): Typed {
  return Object.fromEntries(
    inputs.map(({ key, part }) => {
      const value = given[part instanceof Option ? part.attributeName() : part.name()];
      return [key, [value ?? []].flat().map(String)];
    }),
  );
}

/** The path that is asked, and the organization that a coordinate in it names. Throws `malformed`. */
function placeOf(template: string, typed: Typed): { org: string | null; path: string } {
  const [api, site] = [typed['api']?.[0], typed['site']?.[0]];
  const pathWith = (words: Readonly<Record<string, string>>) =>
    template.replace('/apis/', `/${words['type']}/`).replaceAll(/\{(\w+)\}/g, (unknown, name: string) => {
      const value = words[name] ?? typed[name]?.[0];
      return value === undefined ? unknown : encodeURIComponent(value);
    });
  if (api === undefined) {
    const { org, slug } = site === undefined ? { org: null, slug: '' } : requireSite(site);
    return { org, path: pathWith({ site: slug }) };
  }
  const { coordinate, selector } = requireCoordinate(api);
  const { org, type, slug } = coordinate;
  if (!template.includes('{version}')) {
    if (selector.kind === 'latest') return { org, path: pathWith({ type, api: slug }) };
    throw malformed('The coordinate must not contain a version: all versions change together.');
  }
  if (selector.kind === 'version') return { org, path: pathWith({ type, api: slug, version: selector.version }) };
  throw malformed(`Which version? Use ${nameOf(coordinate)}@1.2.0.`);
}

function fill(text: string, values: Answer): string {
  return text.replaceAll(/\{([^}]+)\}/g, (_, alternatives: string) => {
    const names = alternatives.split('|');
    const value = names.map((name) => values[name]).find((each) => each !== undefined && each !== null);
    return [value ?? names.at(-1)!].flat().join(',');
  });
}
