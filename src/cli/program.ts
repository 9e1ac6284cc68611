import { readFileSync } from 'node:fs';
import { styleText } from 'node:util';
import { Command, type OutputConfiguration } from 'commander';
import { formatHelp } from './help.ts';
import { readEnvironment } from '../config/environment.ts';
import { readUserDefaults } from '../config/load-config.ts';
import { malformed } from '../model/errors.ts';
import { isSlug } from '../model/address.ts';
import { own } from '../model/json.ts';
import type { CommonOptions } from './command-context.ts';
import { requireRegistry } from './registry-client.ts';

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

/** The commands that the description does not have. To load them all takes longer than many a command. */
const written: Readonly<Record<string, () => Promise<Command>>> = {
  init: async () => (await import('./setup/setup-commands.ts')).initCommand(),
  doctor: async () => (await import('./setup/setup-commands.ts')).doctorCommand(),
  serve: async () => (await import('./serve/serve-command.ts')).serveCommand(),
  operator: async () => (await import('./setup/setup-commands.ts')).operatorCommand(),
  publish: async () => (await import('./publish-command.ts')).publishCommand(),
  lint: async () => (await import('./check/lint-command.ts')).lintCommand(),
  check: async () => (await import('./check/check-command.ts')).checkCommand(),
  diff: async () => (await import('./check/diff-command.ts')).diffCommand(),
  replay: async () => (await import('./check/replay-command.ts')).replayCommand(),
  discover: async () => (await import('./discover-command.ts')).discoverCommand(),
  add: async () => (await import('./lock/add-command.ts')).addCommand(),
  install: async () => (await import('./lock/install-command.ts')).installCommand(),
  update: async () => (await import('./lock/update-command.ts')).updateCommand(),
  outdated: async () => (await import('./lock/list-command.ts')).outdatedCommand(),
  list: async () => (await import('./lock/list-command.ts')).listCommand(),
  remove: async () => (await import('./lock/add-command.ts')).removeCommand(),
  sync: async () => (await import('./sync-command.ts')).syncCommand(),
  repositories: async () => (await import('./repositories-command.ts')).repositoriesCommand(),
  import: async () => (await import('./import-command.ts')).importCommand(),
  sites: async () => (await import('../sites/cli/sites-command.ts')).sitesCommand(),
  login: async () => (await import('./login-command.ts')).loginCommand(),
  logout: async () => (await import('./login-command.ts')).logoutCommand(),
  mcp: async () => (await import('./mcp-command.ts')).mcpCommand(),
  completion: async () => (await import('./completion-command.ts')).completionCommand(),
  log: async () => (await import('./log-command.ts')).logCommand(),
  verify: async () => (await import('./verify-command.ts')).verifyCommand(),
  fsck: async () => (await import('./fsck-command.ts')).fsckCommand(),
  backup: async () => (await import('./backup-command.ts')).backupCommand(),
  restore: async () => (await import('./backup-command.ts')).restoreCommand(),
  migrate: async () => (await import('./backup-command.ts')).migrateCommand(),
  gc: async () => (await import('./fsck-command.ts')).gcCommand(),
  build: async () => (await import('./build-command.ts')).buildCommand(),
};

/** Those that tell of all others, or have some below them that the description has. */
const needsAll = ['sites', 'completion'];

/**
 * Returns the `stele` program. It throws instead of exiting. With `json`, it prints no error: the
 * caller does. `called`: the first word of the command line, if only what that needs shall be there.
 */
export async function createProgram({
  json = false,
  called,
}: { json?: boolean; called?: string | undefined } = {}): Promise<Command> {
  const program = new Command('stele')
    .description('A git-native registry for API contracts.')
    .version(version)
    // `publish` has its own --version: options after a command's name belong to that command.
    .enablePositionalOptions()
    .exitOverride()
    .configureHelp({ formatHelp })
    .configureOutput(json ? silent : spoken)
    .hook('preAction', (_program, command) => {
      assertGiven(command);
      fillInDefaults(command);
      const { registry, org } = command.opts<{ registry?: string; org?: string }>();
      if (registry !== undefined) requireRegistry(registry);
      if (org !== undefined && !isSlug(org))
        throw malformed(`${JSON.stringify(org)} is not a valid organization name.`);
    });
  for (const command of await commandsFor(called)) program.addCommand(withCommonOptions(command, json));
  return program;
}

async function commandsFor(called: string | undefined): Promise<Command[]> {
  const load = called === undefined || needsAll.includes(called) ? undefined : own(written, called);
  if (load !== undefined) return [await load()];
  const { describedCommands } = await import('./manage/described-commands.ts');
  const described = describedCommands();
  // The program's own help names the others by what they are for.
  const isEnough = called === '' || called?.startsWith('-') || described.some((each) => each.name() === called);
  if (isEnough) return described;
  const all = await Promise.all(Object.values(written).map((each) => each()));
  const sites = all.find((each) => each.name() === 'sites')!;
  return all.toSpliced(all.indexOf(sites) + 1, 0, ...describedCommands(sites));
}

const silent = { writeErr: () => undefined };
const spoken: OutputConfiguration = {
  outputError: (text, write) => write(styleText('red', text, { stream: process.stderr })),
};

/**
 * Throws `malformed` for an argument or an option that is given and has no text: whoever writes `--resource "$UNSET"` means
 * something else than leaving it out.
 */
function assertGiven(command: Command): void {
  const values = command.optsWithGlobals();
  const given = [
    ...command.registeredArguments.map((argument, at) => [`<${argument.name()}>`, command.processedArgs[at]]),
    ...command.options.map((option) => [option.long, values[option.attributeName()]]),
  ] as [name: string, value: unknown][];
  for (const [name, value] of given)
    if ([value].flat().some((text) => typeof text === 'string' && /^[\s,]*$/.test(text)))
      throw malformed(`${name} is empty. Give it a value.`);
}

/** Sets `--registry` and `--org` where they are not given. Who names a data folder works on that one. */
function fillInDefaults(command: Command): void {
  const wants = (name: string) =>
    command.options.some((option) => option.attributeName() === name) &&
    [undefined, 'default'].includes(command.getOptionValueSource(name));
  if (!wants('registry') && !wants('org')) return;
  const { data, config } = command.optsWithGlobals<CommonOptions>();
  const isHere = (data ?? config ?? readEnvironment().data) !== undefined;
  const { registry, org } = readUserDefaults();
  if (registry !== undefined && !isHere && wants('registry'))
    command.setOptionValueWithSource('registry', registry, 'env');
  if (org !== undefined && wants('org')) command.setOptionValueWithSource('org', org, 'env');
}

function withCommonOptions(command: Command, json: boolean): Command {
  for (const each of command.commands) withCommonOptions(each, json);
  return command
    .option('--config <file>', 'configuration file (default: registry.config.ts, .js, .json or .yaml, if it exists)')
    .option(
      '--data <folder>',
      'data folder: the store, instead of that of the configuration (default: STELE_DATA, else .stele next to the configuration)',
    )
    .option('--cache <folder>', 'folder of mirrors and rendered pages (default: cache in the data folder)')
    .option('--color', 'use colour even when the output is not a terminal; NO_COLOR and FORCE_COLOR work too')
    .option('--json', 'print one JSON object to stdout; print errors as problem documents to stderr')
    .configureHelp({ formatHelp })
    .configureOutput(json ? silent : spoken)
    .exitOverride();
}
