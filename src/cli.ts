#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { buildCommand } from './cli/build.ts';
import { fsckCommand } from './cli/fsck.ts';
import { importCommand } from './cli/import.ts';
import { keysCommand } from './cli/keys.ts';
import { lintCommand } from './cli/lint.ts';
import { logCommand } from './cli/log.ts';
import { complain } from './cli/output.ts';
import { publishCommand } from './cli/publish.ts';
import { serveCommand } from './cli/serve.ts';
import { syncCommand } from './cli/sync.ts';
import { verifyCommand } from './cli/verify.ts';
import { isRegistryError, type ErrorCode } from './model/errors.ts';

/** Exit codes (DESIGN §12): 0 done, 1 refused, 2 wrong usage, 3 not reachable, 70 bug. Whatever is not here is 1. */
const exitCodes: Partial<Record<ErrorCode, number>> = {
  malformed: 2,
  unreachable: 3,
  unavailable: 3,
  outcome_unknown: 3,
};

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

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

/** Every command, and every command of a command, takes the common options. */
function withCommonOptions(command: Command): Command {
  for (const each of command.commands) withCommonOptions(each);
  return command
    .option('--config <file>', 'configuration (default: registry.config.ts, where there is one)')
    .option('--data <folder>', 'data folder (default: STELE_DATA, else .stele)')
    .option('--json', 'print data as JSON')
    .exitOverride();
}

try {
  await program.parseAsync();
} catch (error) {
  process.exitCode = exitCodeOf(error);
}

function exitCodeOf(error: unknown): number {
  // commander has told already what is wrong with the arguments; help and version are no errors.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  if (isRegistryError(error)) {
    complain(error.message);
    return exitCodes[error.code] ?? 1;
  }
  complain(error instanceof Error ? (error.stack ?? error.message) : String(error));
  return 70;
}
