import { Command } from 'commander';
import { fsck } from '../registry/fsck.ts';
import { withRegistry, type CommonOptions } from './command-context.ts';
import { complain, print, printJson, withProgress } from './output.ts';

/** `stele fsck`: reads the whole store and reports what is missing or damaged. */
export function fsckCommand(): Command {
  return new Command('fsck')
    .description('Check the whole store: hash every object and verify every history.')
    .action(async (_options: unknown, command: Command) => {
      const { json } = command.optsWithGlobals<CommonOptions>();
      const checked = await withRegistry(command, (registry) =>
        withProgress('Checking', (tell) =>
          fsck(registry, ({ objects, generations }) =>
            tell(`Checking: ${objects} objects, ${generations} generations`),
          ),
        ),
      );
      const { objects, bytes, refs, generations, versions, damages } = checked;
      if (json) printJson(checked);
      else {
        for (const { key, detail } of damages) complain(`${key}: ${detail}`);
        print(
          `${objects} objects (${bytes} bytes), ${refs} refs, ${generations} generations, ${versions} versions: ${damages.length} damaged`,
        );
      }
      if (damages.length > 0) process.exitCode = 1;
    });
}
