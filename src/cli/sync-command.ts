import { Command } from 'commander';
import { isRejected, repositoryName, type Run, type RunDocument } from '../model/connection.ts';
import { shownState } from '../model/states.ts';
import { malformed } from '../model/errors.ts';
import { operator, requireCoordinate, withRegistry, withStore, type CommonOptions } from './command-context.ts';
import { complain, formatProgress, print, printJson, withProgressUnless } from './output.ts';
import { exitCodeOf, notChecked } from './process-end.ts';
import { syncRemotely } from './remote-registry.ts';

/** `stele sync [coordinate]`: runs one sync in the foreground. */
export function syncCommand(): Command {
  return new Command('sync')
    .description('Fetch the followed repositories and publish what has changed.')
    .argument('[coordinate]', "sync only this resource's repository")
    .option('--relink', 'accept the repository after its history was rewritten or it was replaced')
    .option('--registry <url>', 'URL of a running registry; uses the key in STELE_KEY')
    .action(async (name: string | undefined, _options: unknown, command: Command) => {
      const options = command.optsWithGlobals<CommonOptions & { registry?: string; relink?: boolean }>();
      if (options.registry !== undefined) {
        if (options.relink)
          throw malformed('--relink does not work with --registry. Send PUT to the connection instead.');
        if (name === undefined) throw malformed('--registry needs a coordinate: it syncs one resource at a time.');
        return printRuns([await syncRemotely(options.registry, requireCoordinate(name).coordinate)], options);
      }
      if (options.relink && name === undefined) throw malformed('--relink needs the coordinate of a resource.');
      const printed = new Set<string>();
      // A resource is in a store that is there.
      const runs = await (name === undefined ? withRegistry : withStore)(command, async (registry) => {
        const { relinkResource } = await import('../sync/connect.ts');
        const { syncAll } = await import('./sync-all.ts');
        if (options.relink) await relinkResource(registry, requireCoordinate(name!).coordinate, operator);
        return withProgressUnless(options.json, 'Syncing', (say) =>
          syncAll(registry, name, ({ run, progress, document }) => {
            say(`Syncing ${repositoryName(run.url)} ${formatProgress(progress)}`);
            if (document === null || options.json) return;
            print(formatDocument(document));
            printed.add(formatDocument(document));
          }),
        );
      });
      printRuns(runs, options, printed);
    });
}

function printRuns(runs: readonly Run[], { json }: CommonOptions, printed?: ReadonlySet<string>): void {
  // What somebody has to do something about.
  const isLeft = (document: RunDocument) => isRejected(document) || document.outcome === 'waiting';
  if (runs.some(({ documents }) => documents.some(isLeft))) process.exitCode = 1;
  const failed = runs.filter(({ state }) => state === 'failed');
  const isLost = failed.every(({ sandbox }) => sandbox === 'lost');
  if (failed.length > 0) process.exitCode = isLost ? notChecked : exitCodeOf('unreachable');
  if (json) return printJson({ runs });
  if (runs.length === 0)
    complain('No repositories are followed. Add one to registry.config.ts, or pass it to stele serve.');
  for (const run of runs) printRun(run, printed);
}

/**
 * Prints a run as text: one line per document that was read again, except those already printed,
 * then where the repository stands.
 */
function printRun(run: Run, printed: ReadonlySet<string> = new Set()): void {
  for (const document of run.documents) if (!printed.has(formatDocument(document))) print(formatDocument(document));
  const where = `${run.url}${run.branch === null ? '' : ` ${run.branch}`}`;
  if (run.detail === null) complain(`${where} is synced at ${run.to?.slice(0, 12) ?? 'no commit'}`);
  else complain(run.detail.includes(run.url) ? run.detail : `${where}: ${run.detail}`);
}

function formatDocument({ resource, outcome, label, path, detail }: RunDocument): string {
  return `${shownState(outcome).text} ${resource ?? path}${label === null ? '' : `@${label}`}${detail === null ? '' : `: ${detail}`}`;
}
