import { readFileSync } from 'node:fs';
import { styleText } from 'node:util';
import { Command, type OutputConfiguration } from 'commander';
import { buildCommand } from './build-command.ts';
import { checkCommand } from './check/check-command.ts';
import { diffCommand } from './check/diff-command.ts';
import { discoverCommand } from './discover-command.ts';
import { doctorCommand, initCommand, operatorCommand } from './setup/setup-commands.ts';
import { importCommand } from './import-command.ts';
import { backupCommand, migrateCommand, restoreCommand } from './backup-command.ts';
import { fsckCommand, gcCommand } from './fsck-command.ts';
import { lintCommand } from './check/lint-command.ts';
import { replayCommand } from './check/replay-command.ts';
import { addCommand, removeCommand } from './lock/add-command.ts';
import { installCommand } from './lock/install-command.ts';
import { listCommand, outdatedCommand } from './lock/list-command.ts';
import { updateCommand } from './lock/update-command.ts';
import { loginCommand, logoutCommand } from './login-command.ts';
import { logCommand } from './log-command.ts';
import { publishCommand } from './publish-command.ts';
import { repositoriesCommand } from './repositories-command.ts';
import { serveCommand } from './serve/serve-command.ts';
import { sitesCommand } from '../sites/cli/sites-command.ts';
import { syncCommand } from './sync-command.ts';
import { verifyCommand } from './verify-command.ts';
import { completionCommand } from './completion-command.ts';
import { formatHelp } from './help.ts';
import { mcpCommand } from './mcp-command.ts';
import { openCommand } from './open-command.ts';
import { readEnvironment } from '../config/environment.ts';
import { readUserDefaults } from '../config/load-config.ts';
import { malformed } from '../model/errors.ts';
import { isSlug } from '../model/address.ts';
import type { CommonOptions } from './command-context.ts';
import { requireRegistry } from './registry-client.ts';

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

/** Commands that tell of all others, or have some below them that the description has. */
const needsDescription = ['serve', 'sites', 'completion', 'build'];

/**
 * Returns the `stele` program. It throws instead of exiting. With `json`, it prints no error: the
 * caller does. `called`: the only command that is run. The commands that the description has are
 * there if it is one of them, or needs them: to read it takes as long as many a command.
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
  const sites = sitesCommand();
  const commands = [
    initCommand(),
    doctorCommand(),
    serveCommand(),
    operatorCommand(),
    publishCommand(),
    lintCommand(),
    checkCommand(),
    diffCommand(),
    replayCommand(),
    discoverCommand(),
    addCommand(),
    installCommand(),
    updateCommand(),
    outdatedCommand(),
    listCommand(),
    removeCommand(),
    syncCommand(),
    repositoriesCommand(),
    importCommand(),
    sites,
    loginCommand(),
    logoutCommand(),
    openCommand(),
    mcpCommand(),
    completionCommand(),
    logCommand(),
    verifyCommand(),
    fsckCommand(),
    backupCommand(),
    restoreCommand(),
    migrateCommand(),
    gcCommand(),
    buildCommand(),
  ];
  if (!commands.some((command) => command.name() === called) || needsDescription.includes(called!)) {
    const { describedCommands } = await import('./manage/described-commands.ts');
    commands.splice(commands.indexOf(sites) + 1, 0, ...describedCommands(sites));
  }
  for (const command of commands) program.addCommand(withCommonOptions(command, json));
  return program;
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
