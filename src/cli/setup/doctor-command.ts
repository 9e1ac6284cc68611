import { Command } from 'commander';
import { ok, warning, type Check } from './check.ts';
import { configFile, readConfig, type CommonOptions } from '../command-context.ts';
import { complain, countOf, print, printJson } from '../output.ts';

/** `stele doctor`: what an installation needs, whether it runs or is planned. */
export function doctorCommand(): Command {
  return new Command('doctor')
    .description('Check this machine, the configuration, the store and the network, and say what to do.')
    .action(async (_options: unknown, command: Command) => {
      const config = await readConfig(command);
      const [{ checkMachine }, { checkStore }, { checkNetwork }] = await Promise.all([
        import('./machine-checks.ts'),
        import('./store-checks.ts'),
        import('./network-checks.ts'),
      ]);
      const checks = [
        checkFile(configFile(command)),
        ...(await Promise.all([checkMachine(config), checkStore(config), checkNetwork(config)])).flat(),
      ];
      if (checks.some(({ state }) => state === 'problem')) process.exitCode = 1;
      if (command.optsWithGlobals<CommonOptions>().json) return printJson({ checks });
      for (const check of checks) print(format(check));
      complain(summarize(checks));
    });
}

/** Whoever looks in another folder than the server's would be told about a registry of defaults. */
function checkFile(file: string | null): Check {
  if (file !== null) return ok('config', file);
  const advice = 'Run this in the folder of the configuration, or name it with --config.';
  return warning('config', `no configuration found in ${process.cwd()}, so the defaults hold`, advice);
}

function format({ state, name, detail, advice }: Check): string {
  return `${state.padEnd(8)} ${name.padEnd(8)} ${detail}${advice === null ? '' : `. ${advice}`}`;
}

function summarize(checks: readonly Check[]): string {
  const count = (state: Check['state']) => countOf(checks.filter((check) => check.state === state).length, state);
  return `${countOf(checks.length, 'check')}: ${count('problem')}, ${count('warning')}`;
}
