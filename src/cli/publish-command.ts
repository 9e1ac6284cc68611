import { basename, relative } from 'node:path';
import { Command } from 'commander';
import { formatCoordinate, type Coordinate } from '../model/address.ts';
import { RegistryError } from '../model/errors.ts';
import { publish, type PublishResult } from '../registry/publish.ts';
import { openFolder } from '../source/folder.ts';
import { operator, requireCoordinate, withRegistry } from './command-context.ts';
import { complain, formatReport, print, withProgress } from './output.ts';
import { publishRemotely, type PublishOptions } from './remote-registry.ts';

/** `stele publish FILE @org/type/slug`. */
export function publishCommand(): Command {
  return new Command('publish')
    .description('Compile a file and publish it as a version.')
    .argument('<file>')
    .argument('<coordinate>', '@org/apis/slug, @org/schemas/slug or @org/rulesets/slug')
    .option('--version <label>', 'label of the version (default: what the document says)')
    .option('--dry-run', 'say what would happen, and write nothing')
    .option('--no-latest', 'never make it the latest version')
    .option('--public', 'when the resource is made: let everybody read it')
    .option('--registry <url>', 'publish to a running registry over HTTP, with the key in STELE_KEY')
    .action(async (file: string, name: string, _options: unknown, command: Command) => {
      const options = command.optsWithGlobals<PublishOptions>();
      const { coordinate, selector } = requireCoordinate(name);
      if (selector.kind !== 'latest')
        throw new RegistryError('malformed', 'Name the version with --version, not in the coordinate.');
      if (options.registry !== undefined) {
        process.exitCode = await publishRemotely(options.registry, file, coordinate, command);
        return;
      }
      const result = await withRegistry(command, async (registry) => {
        const { snapshot, entry } = await openFolder(file, registry.config.limits);
        return withProgress(`Publishing ${basename(file)}`, () =>
          publish(registry, {
            coordinate,
            snapshot,
            entry,
            onConflict: 'revise',
            author: operator,
            version: options.version ?? null,
            latest: options.latest,
            dryRun: options.dryRun ?? false,
            create: options.public ? { visibility: 'public' } : {},
          }),
        );
      });
      tell(relative(process.cwd(), file), coordinate, result, options);
    });
}

/** Prints the outcome: the version's coordinate on stdout, the report on stderr. */
function tell(file: string, coordinate: Coordinate, result: PublishResult, { json, dryRun }: PublishOptions): void {
  const pinned =
    'version' in result ? formatCoordinate(coordinate, { kind: 'version', version: result.version.label }) : null;
  if (json) {
    const digest = 'version' in result ? result.version.manifest : null;
    const detail = result.outcome === 'conflict' ? result.detail : null;
    print(
      JSON.stringify({
        outcome: result.outcome,
        version: pinned,
        digest,
        detail,
        dryRun: dryRun ?? false,
        report: result.report,
      }),
    );
  } else {
    const report = formatReport(result.report);
    if (report !== '') complain(report);
    if (result.outcome === 'conflict') complain(result.detail);
    if (result.outcome === 'rejected') complain(`${file} was not published.`);
    if (pinned !== null) print(pinned);
    if (result.outcome === 'unchanged') complain('It was published before; nothing changed.');
  }
  if (pinned === null) process.exitCode = 1;
}
