import { Argument, Command } from 'commander';
import type { Coordinate, Selector } from '../../model/address.ts';
import { countText } from '../../model/problem.ts';
import { RegistryError } from '../../model/errors.ts';
import { nameOf } from '../../model/resource.ts';
import { requireCoordinate, type CommonOptions } from '../command-context.ts';
import { complain, print, printJson } from '../output.ts';
import type { components } from '../../server/v1/management.d.ts';
import { withClient } from './with-client.ts';

interface ChangeOptions extends CommonOptions {
  reason?: string;
  replacement?: string;
  sunset?: string;
  dryRun?: boolean;
}

type User = components['schemas']['DependantList']['items'][number];

interface StatusCommand {
  name: string;
  description: string;
  state: 'active' | 'deprecated' | 'yanked';
  options: readonly [flags: string, description: string][];
}

const reason: StatusCommand['options'][number] = ['--reason <text>', 'why; readers see it'];

const statusCommands: readonly StatusCommand[] = [
  {
    name: 'deprecate',
    description: 'Tell the readers of a version that it should no longer be used.',
    state: 'deprecated',
    options: [
      reason,
      ['--replacement <version>', 'what to use instead: a version of the same resource, or a coordinate'],
      ['--sunset <date>', 'when it stops working, such as 2027-06-30T00:00:00Z'],
    ],
  },
  {
    name: 'yank',
    description: 'Stop offering a version: latest and ranges skip it, and clients that pinned it still get it.',
    state: 'yanked',
    options: [reason],
  },
  { name: 'reactivate', description: 'Undo deprecate or yank.', state: 'active', options: [] },
];

const remoteHelp = 'URL of a running registry; uses the key in STELE_KEY';
const dryRunHelp = 'list its users, and change nothing';

/** `stele deprecate|yank|reactivate COORDINATE@VERSION`, `stele visibility COORDINATE public|private`. */
export function versionCommands(): Command[] {
  return [...statusCommands.map(statusCommand), visibilityCommand()];
}

function statusCommand({ name, description, state, options: taken }: StatusCommand): Command {
  const command = new Command(name).description(description).argument('<version>', '@org/type/slug@version');
  for (const [flags, text] of taken)
    if (flags.startsWith('--reason')) command.requiredOption(flags, text);
    else command.option(flags, text);
  return command
    .option('--dry-run', dryRunHelp)
    .option('--registry <url>', remoteHelp)
    .action(async (given: string, _options: unknown, self: Command) => {
      const { coordinate, selector } = requireCoordinate(given);
      if (selector.kind !== 'version')
        throw new RegistryError('malformed', `Which version? Use ${nameOf(coordinate)}@1.2.0.`);
      const { reason: why, replacement, sunset } = self.optsWithGlobals<ChangeOptions>();
      const status = { state, ...(state !== 'active' && { reason: why, replacement, sunset }) };
      await change(self, coordinate, selector, { status }, state);
    });
}

function visibilityCommand(): Command {
  return new Command('visibility')
    .description('Make a resource public or private.')
    .argument('<coordinate>', '@org/type/slug')
    .addArgument(new Argument('<visibility>', 'who may read it').choices(['public', 'private']))
    .option('--registry <url>', remoteHelp)
    .action(async (given: string, visibility: string, _options: unknown, self: Command) => {
      const { coordinate, selector } = requireCoordinate(given);
      if (selector.kind !== 'latest')
        throw new RegistryError(
          'malformed',
          'The coordinate must not contain a version: all versions change together.',
        );
      await change(self, coordinate, selector, { visibility }, visibility);
    });
}

/** Changes a resource, or a version of it, and prints how it stands then. */
async function change(
  self: Command,
  coordinate: Coordinate,
  selector: Selector,
  body: object,
  state: string,
): Promise<void> {
  const { dryRun = false, json } = self.optsWithGlobals<ChangeOptions>();
  const resource = `/v1/${coordinate.type}/${coordinate.slug}`;
  const label = selector.kind === 'version' ? selector.version : null;
  const path = label === null ? resource : `${resource}/versions/${encodeURIComponent(label)}`;
  await withClient(self, coordinate.org, async ({ demand }) => {
    const changed = await demand('PATCH', `${path}${dryRun ? '?dryRun=true' : ''}`, body);
    if (json) return printJson(changed);
    const name = `${nameOf(coordinate)}${label === null ? '' : `@${label}`}`;
    print(`${name} ${dryRun ? `would be ${state}` : `is ${state}`}`);
    const { dependants = [] } = changed as { dependants?: User[] };
    if (dryRun)
      complain(
        `${countText(dependants.length, 'user')} in this registry ${dependants.length === 1 ? 'uses' : 'use'} it.`,
      );
    for (const each of dependants)
      print('consumer' in each ? `  ${each.consumer.name} (consumer)` : `  ${each.coordinate}@${each.version}`);
    if (dryRun) return;
    const { latest } = label === null ? changed : await demand('GET', resource);
    complain(typeof latest === 'string' ? `The latest version is ${latest}.` : 'There is no latest version.');
  });
}
