import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { inspect } from 'node:util';
import { Command } from 'commander';
import { findConfigFile } from '../../config/read-config-file.ts';
import { isSlug } from '../../model/address.ts';
import { RegistryError } from '../../model/errors.ts';
import { assertNoCredential } from '../../model/connection.ts';
import type { CommonOptions } from '../command-context.ts';
import { complain, print, printJson } from '../output.ts';

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
      if (!isSlug(org))
        throw new RegistryError('malformed', `${JSON.stringify(org)} is not a valid organization name.`);
      for (const url of given) assertNoCredential(url);
      const there = findConfigFile();
      if (there !== null)
        throw new RegistryError('malformed', `There is a configuration already: ${there}. Nothing was written.`);
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
