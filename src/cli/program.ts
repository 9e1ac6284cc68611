import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { buildCommand } from './build.ts';
import { fsckCommand } from './fsck.ts';
import { importCommand } from './import.ts';
import { keysCommand } from './keys.ts';
import { lintCommand } from './lint.ts';
import { logCommand } from './log.ts';
import { publishCommand } from './publish.ts';
import { serveCommand } from './serve.ts';
import { syncCommand } from './sync.ts';
import { verifyCommand } from './verify.ts';

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

/** The `stele` command with all its commands. It throws rather than exit. */
export function createProgram(): Command {
  const program = new Command('stele')
    .description('A git-native registry for API contracts.')
    .version(version)
    // `publish` has a --version of its own: what stands after a command's name belongs to that command.
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(text) });
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
    program.addCommand(withCommonOptions(command));
  }
  return program;
}

/** Every command, and every command of a command, takes the common options. */
function withCommonOptions(command: Command): Command {
  for (const each of command.commands) withCommonOptions(each);
  return command
    .option('--config <file>', 'configuration (default: registry.config.ts, where there is one)')
    .option('--data <folder>', 'data folder (default: STELE_DATA, else .stele)')
    .option('--json', 'print data as JSON')
    .exitOverride();
}
