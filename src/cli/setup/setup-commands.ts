import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { inspect } from 'node:util';
import { Command } from 'commander';
import { findConfigFile } from '../../config/load-config.ts';
import { countText } from '../../model/problem.ts';
import { malformed } from '../../model/errors.ts';
import { assertNoCredential } from '../../model/connection.ts';
import { type CommonOptions, configFile, readConfig, withStore } from '../command-context.ts';
import { complain, print, printJson } from '../output.ts';
import type { DoctorCheck } from './checks.ts';

const sample = new URL('../../../deploy/init/registry.config.ts', import.meta.url);
const file = 'registry.config.ts';

/** `stele init`: a commented configuration in the current folder. */
export function initCommand(): Command {
  return new Command('init')
    .description(
      'Write a commented registry.config.ts into the current folder. It asks nothing and overwrites nothing.',
    )
    .argument('[repository...]', 'repositories to follow (default: the current folder, if it is one)')
    .option('--org <name>', 'organization to publish them to', 'local')
    .action(async (given: string[], { org }: { org: string }, command: Command) => {
      for (const url of given) assertNoCredential(url);
      const there = findConfigFile();
      if (there !== null) throw malformed(`There is a configuration already: ${there}. Nothing was written.`);
      const repositories = given.length === 0 && existsSync('.git') ? ['.'] : given;
      const lines = repositories.map((url) => `{ url: ${inspect(url)} },`).join('\n        ');
      const text = (await readFile(sample, 'utf8'))
        .replaceAll(/'acme'|acme(?=: \{)/g, inspect(org))
        .replace("// { url: '.' },", () => lines || "// { url: '.' },");
      await writeFile(file, text, { flag: 'wx' });
      if (command.optsWithGlobals<CommonOptions>().json) return printJson({ file, organization: org, repositories });
      print(file);
      complain('Next: stele doctor checks it, and stele serve starts the registry.');
    });
}

/** `stele doctor`: what an installation needs, whether it runs or is planned. */
export function doctorCommand(): Command {
  return new Command('doctor')
    .description('Check this machine, the configuration, the store and the network, and say what to do.')
    .action(async (_options: unknown, command: Command) => {
      const config = await readConfig(command);
      const { checkFile, checkMachine, checkNetwork, examineStore } = await import('./checks.ts');
      const checks = [
        checkFile(configFile(command)),
        ...(await Promise.all([checkMachine(config), examineStore(config), checkNetwork(config)])).flat(),
      ];
      if (checks.some(({ state }) => state === 'problem')) process.exitCode = 1;
      if (command.optsWithGlobals<CommonOptions>().json) return printJson({ checks });
      for (const { state, name, detail, advice } of checks)
        print(`${state.padEnd(8)} ${name.padEnd(8)} ${detail}${advice === null ? '' : `. ${advice}`}`);
      complain(summarize(checks));
    });
}

function summarize(checks: readonly DoctorCheck[]): string {
  const count = (state: DoctorCheck['state']) =>
    countText(checks.filter((check) => check.state === state).length, state);
  return `${countText(checks.length, 'check')}: ${count('problem')}, ${count('warning')}`;
}

/** `stele operator link`: what `stele serve` prints when it starts, for whoever has the data folder. */
export function operatorCommand(): Command {
  const operator = new Command('operator').description('For the operator of a registry.');
  operator
    .command('link')
    .description('Print a new link that signs in the operator, once, within a day.')
    .option('--registry <url>', 'address at which the server runs (default: `url` of the configuration)')
    .action(async (_options: unknown, command: Command) => {
      const { registry: given, json } = command.optsWithGlobals<CommonOptions & { registry?: string }>();
      const { url: configured, login } = await readConfig(command);
      if (login !== null) throw malformed('People sign in with the identity provider here. Sign in there.');
      const url = (configured ?? given)?.replace(/\/$/, '');
      if (url === undefined)
        throw malformed(
          'At which address does it run? Use --registry http://127.0.0.1:7700, as `stele serve` printed it.',
        );
      const { signInLink } = await import('../../server/login/local-login.ts');
      const link = await withStore(command, async (registry) => url + signInLink(registry, url));
      if (json) return printJson({ link });
      print(link);
      complain('Whoever opens it first is the operator. It works for a day.');
    });
  return operator;
}
