import { Command } from 'commander';
import { withStore, type CommonOptions } from '../command-context.ts';
import { print, printJson, withProgressUnless } from '../output.ts';

interface GcCommandOptions extends CommonOptions {
  dryRun?: boolean;
}

/** `stele gc`: deletes what nothing refers to. */
export function gcCommand(): Command {
  return new Command('gc')
    .description('Delete objects that nothing refers to. Also while servers run.')
    .option('--dry-run', 'say what would be done, and do nothing')
    .action(async (_options: unknown, command: Command) => {
      const { json, dryRun = false } = command.optsWithGlobals<GcCommandOptions>();
      const collected = await withStore(command, async (registry) => {
        const { collectGarbage } = await import('../../registry/maintenance/gc.ts');
        return withProgressUnless(json, 'Looking for objects that nothing refers to', (say) =>
          collectGarbage(registry, {
            dryRun,
            progress: ({ kept, quarantined }) => say(`${kept} objects kept, ${quarantined} put into quarantine`),
          }),
        );
      });
      if (json) return printJson(collected);
      const { kept, waiting, quarantined, bytes, deleted, broughtBack } = collected;
      const back = broughtBack > 0 ? `, ${broughtBack} brought back` : '';
      const size = dryRun ? '' : ` (${bytes} bytes)`;
      print(
        `${dryRun ? 'Would be: ' : ''}${kept} objects kept, ${waiting} waiting, ${quarantined} put into quarantine${size}, ${deleted} deleted${back}`,
      );
    });
}
