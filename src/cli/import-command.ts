import { Command, Option } from 'commander';
import { malformed, unavailable } from '../model/errors.ts';
import type { RunDocument } from '../model/connection.ts';
import { countState, shownState } from '../model/states.ts';
import { countText } from '../model/problem.ts';
import { requireCoordinate, requireDate, withStore, type CommonOptions } from './command-context.ts';
import { complain, print, printJson, withProgressUnless } from './output.ts';

interface ImportFlags extends CommonOptions {
  from?: string;
  tags?: string;
  eachChange?: boolean;
  since?: string;
  latest?: 'keep' | 'rule';
}

/**
 * `stele import COORDINATE`: publishes the history of a connected document, oldest first. `stele import --from KIND EXPORT
 * REPOSITORY`: makes a repository of what another registry had.
 */
export function importCommand(): Command {
  return new Command('import')
    .description('Publish the history of a connected document: its tags, or every commit that changed it.')
    .argument('<coordinate>', '@org/type/slug; with --from, the export')
    .argument('[repository]', 'with --from: the folder to make a git repository in')
    .addOption(
      new Option('--from <kind>', 'turn the versions of another registry into a git repository, to follow').choices([
        'folder',
        'documents',
        'apicurio',
        'backstage',
        'swaggerhub',
      ]),
    )
    .option('--tags <glob>', 'tags to publish as versions (default: v*; none with --each-change)')
    .option('--each-change', 'publish every commit on the branch that changed the document')
    .option('--since <date>', 'only commits since this date, such as 2025-01-31')
    .addOption(
      new Option('--latest <choice>', 'whether an older version may become latest (default: stop and ask)').choices([
        'keep',
        'rule',
      ]),
    )
    .action(async (name: string, repository: string | undefined, _options: unknown, command: Command) => {
      const { from } = command.optsWithGlobals<ImportFlags>();
      if ((from === undefined) !== (repository === undefined))
        throw malformed('With --from, name the export and the folder to make: stele import --from folder old contracts.'); // prettier-ignore
      if (from !== undefined) return makeRepository(command, from, name, repository!);
      const { coordinate } = requireCoordinate(name);
      const { tags, eachChange = false, since = null, latest = 'ask', json } = command.optsWithGlobals<ImportFlags>();
      if (since !== null) requireDate(since);
      const stop = new AbortController();
      const abort = () => stop.abort(unavailable('Interrupted. Run the command again to continue.'));
      process.once('SIGINT', abort).once('SIGTERM', abort);
      let before = 0;
      const run = await withStore(command, async (registry) => {
        const { importHistory } = await import('../sync/import/import-repository.ts');
        return withProgressUnless(json, `Importing ${name}`, (say) =>
          importHistory(
            registry,
            coordinate,
            {
              tags: tags ?? (eachChange ? null : 'v*'),
              eachChange,
              since,
              latest,
              onProgress({ done, total, document }) {
                const last = document === null ? '' : `, ${document.label ?? document.outcome}`;
                say(`Importing ${name}: ${done} of ${total}${last}`);
                if (document === null) before += done;
                else if (!json) printDocument(document);
              },
            },
            stop.signal,
          ),
        );
      });
      if (json) return printJson({ runs: [run] });
      const count = (wanted: RunDocument['outcome']) =>
        run.documents.filter(({ outcome }) => outcome === wanted).length;
      const conflicts = count('conflict') === 0 ? '' : `, ${countText(count('conflict'), 'conflict')}`;
      const held = count('waiting') === 0 ? '' : `, ${countState(count('waiting'), 'waiting')}`;
      const earlier = before === 0 ? '' : `, ${before} imported before`;
      complain(
        `${count('published')} published, ${count('unchanged')} unchanged, ${count('rejected')} rejected${held}${conflicts}${earlier}`,
      );
    });
}

function printDocument({ commit, outcome, label, detail }: RunDocument): void {
  const told = [shownState(outcome).text, label ?? '-', commit?.slice(0, 12) ?? '-'];
  print([...told, ...(detail === null ? [] : [detail])].join('\t'));
}

async function makeRepository(command: Command, kind: string, from: string, repository: string): Promise<void> {
  const { importVersions } = await import('./setup/import-versions.ts');
  const imported = await importVersions(kind, from, repository);
  const { documents, versions, left } = imported;
  if (left.length > 0) process.exitCode = 1;
  if (command.optsWithGlobals<CommonOptions>().json) return printJson(imported);
  for (const { from: where, reason } of left) complain(`Not imported: ${where}. ${reason}`);
  print(`${repository}: ${countText(documents, 'document')}, ${countText(versions, 'version')}`);
}
