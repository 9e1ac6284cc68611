import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { buildCommand } from './build-command.ts';
import { fsckCommand } from './fsck-command.ts';
import { importCommand } from './import-command.ts';
import { keysCommand } from './keys-command.ts';
import { lintCommand } from './lint-command.ts';
import { logCommand } from './log-command.ts';
import { publishCommand } from './publish-command.ts';
import { serveCommand } from './serve-command.ts';
import { syncCommand } from './sync-command.ts';
import { verifyCommand } from './verify-command.ts';

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

/** The `stele` command with all its commands. It throws rather than exit. `json`: the caller tells what is wrong with the arguments. */
export function createProgram({ json = false }: { json?: boolean } = {}): Command {
  const program = new Command('stele')
    .description('A git-native registry for API contracts.')
    .version(version)
    // `publish` has a --version of its own: what stands after a command's name belongs to that command.
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput(json ? silent : {});
  for (const command of [
    serveCommand(),
    publishCommand(),
    lintCommand(),
    syncCommand(),
    importCommand(),
    keysCommand(),
    logCommand(),
    verifyCommand(),
    fsckCommand(),
    buildCommand(),
  ]) {
    program.addCommand(withCommonOptions(command, json));
  }
  return program;
}

const silent = { writeErr: () => undefined };

/** Every command, and every command of a command, takes the common options. */
function withCommonOptions(command: Command, json: boolean): Command {
  for (const each of command.commands) withCommonOptions(each, json);
  return command
    .option('--config <file>', 'configuration (default: registry.config.ts, where there is one)')
    .option('--data <folder>', 'data folder (default: STELE_DATA, else .stele beside the configuration)')
    .option('--json', 'print one JSON object, and errors as problem documents on stderr')
    .configureOutput(json ? silent : {})
    .exitOverride();
}
