import { basename, relative } from 'node:path';
import { Command, Option } from 'commander';
import { formatCoordinate, type Coordinate } from '../model/address.ts';
import { defaultVisibility } from '../registry/gate/policy.ts';
import { outcomeIn } from '../model/problem.ts';
import { malformed } from '../model/errors.ts';
import type { PublishResult } from '../registry/publish.ts';
import { openDocument } from './check/fetch-document.ts';
import { toolFormats } from './check/finding-formats.ts';
import { operator, requireCoordinate, requireDate, withRegistry } from './command-context.ts';
import { withProgress } from './output.ts';
import { printPublished, type Published, publishRemotely, type PublishOptions } from './remote-registry.ts';

/** `stele publish FILE @org/type/slug`. */
export function publishCommand(): Command {
  return new Command('publish')
    .description('Compile a file and publish it as a version.')
    .argument('<file>', 'the document, in JSON or YAML; - is standard input')
    .argument('<coordinate>', '@org/apis/slug, @org/schemas/slug or @org/rulesets/slug')
    .option('--version <label>', 'label of the version (default: the version in the document)')
    .option('--created-at <date>', 'when another registry published it, such as 2025-01-31 (needs the scope admin)')
    .option('--dry-run', 'print what would happen without writing anything')
    .option('--no-latest', 'do not make this the latest version')
    .option('--public', 'make the resource public if it is new')
    .option('--registry <url>', 'publish to the running registry at this URL, with the key in STELE_KEY')
    .addOption(
      new Option('--format <format>', 'format of the findings').choices(['lines', ...toolFormats]).default('lines'),
    )
    .action(async (file: string, name: string, _options: unknown, command: Command) => {
      const options = command.optsWithGlobals<PublishOptions>();
      const { coordinate, selector } = requireCoordinate(name);
      if (selector.kind !== 'latest') throw malformed('The coordinate must not contain a version. Use --version.');
      if (options.registry !== undefined) {
        process.exitCode = await publishRemotely(options.registry, file, coordinate, command);
        return;
      }
      const { published, root } = await withRegistry(command, async (registry) => {
        const { publish, datedUpload } = await import('../registry/publish.ts');
        const { findResource } = await import('../registry/lives.ts');
        const { assertOrganizationExists } = await import('../registry/maintenance/organizations.ts');
        await assertOrganizationExists(registry, coordinate.org);
        const { snapshot, entry, root: folder } = await openDocument(file, registry.config.limits);
        const createdAt = options.createdAt === undefined ? null : requireDate(options.createdAt);
        const created = (await findResource(registry, coordinate)) === null;
        const result = await withProgress(`Publishing ${basename(file)}`, () =>
          publish(registry, {
            coordinate,
            ...datedUpload(registry, snapshot, createdAt, options.latest),
            entry,
            onConflict: 'revise',
            author: operator,
            version: options.version ?? null,
            dryRun: options.dryRun ?? false,
            create: options.public ? { visibility: 'public' } : {},
          }),
        );
        const initial = options.public ? 'public' : await defaultVisibility(registry, coordinate.org);
        const about = { created, visibility: created ? initial : null, dryRun: options.dryRun ?? false };
        return { published: describe(coordinate, result, { ...about, url: registry.config.url }), root: folder };
      });
      process.exitCode = printPublished(relative(process.cwd(), file), coordinate, published, { ...options, root });
    });
}

function describe(
  coordinate: Coordinate,
  result: PublishResult,
  { url, ...about }: Pick<Published, 'created' | 'visibility' | 'dryRun' | 'url'>,
): Published {
  const { outcome, report } = result;
  const none = { ...about, version: null, digest: null, url: null, created: false, visibility: null, report };
  if (outcome === 'rejected') return { outcome: outcomeIn(report), ...none, detail: null };
  if (outcome === 'conflict') return { outcome, ...none, detail: result.detail };
  const version = formatCoordinate(coordinate, { kind: 'version', version: result.version.label });
  const digest = result.version.manifest;
  return { outcome, version, digest, url: url && `${url}/${version}`, ...about, detail: null, report };
}
