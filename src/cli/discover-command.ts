import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import type { Config } from '../config.ts';
import { isLocalUrl, organizationIn, plainUrl } from '../config/organization-config.ts';
import { formatCoordinate, type Coordinate } from '../model/address.ts';
import { conflict, refused } from '../model/errors.ts';
import { formatProblem } from '../model/problem.ts';
import { gitDirectory } from '../source/folder.ts';
import { plainFolder } from '../source/git-names.ts';
import type * as discovering from '../sync/discover-repository.ts';
import type { OpenRegistry } from '../open.ts';
import { withRegistryToRead, withRepositories, type CommonOptions } from './command-context.ts';
import { complain, print, printJson, withProgress } from './output.ts';
import { isPathGlob } from '../model/glob.ts';

type Discovered = Awaited<ReturnType<typeof discovering.discoverRepository>>;

/** The most files that are listed for one reason, unless `--json` is given. */
const maxListed = 10;

/** `stele discover <repository>`: lists what a sync would publish and what it would not. */
export function discoverCommand(): Command {
  return new Command('discover')
    .description('List the documents that Stele would publish from a repository, and why it skips others.')
    .argument('<repository>', 'URL or folder of a git repository')
    .option('--org <name>', 'organization to publish to', 'local')
    .option('--branch <name>', "branch to read (default: the repository's HEAD)")
    .option('--path <folder>', 'look only into this folder of the repository')
    .option('--write', 'write a stele.yaml that lists the documents')
    .action(async (given: string, _options: unknown, command: Command) => {
      type Options = CommonOptions & { org: string; branch?: string; path?: string; write?: boolean };
      const options = command.optsWithGlobals<Options>();
      const { org, branch = null } = options;
      const url = plainUrl(given);
      const discover = plainFolder(options.path ?? '');
      const wanted = { org, url, branch, discover };
      // With the repository in it, so that its host is allowed.
      const follow = (config: Config) => withRepositories(config, org, [{ url }]);
      const read = (registry: OpenRegistry) =>
        withProgress(`Reading ${given}`, async () => {
          const { discoverRepository } = await import('../sync/discover-repository.ts');
          const { repositories } = organizationIn(registry.config, org)!;
          const credential = repositories.find((each) => each.url === url)!.credential ?? null;
          return discoverRepository(registry, { ...wanted, credential }, new AbortController().signal);
        });
      const documents = await withRegistryToRead(command, read, follow);
      if (documents.plan.isRefused) process.exitCode = 1;
      const wrote = options.write && !documents.plan.isRefused ? write(documents, url, discover) : null;
      if (options.json) return printJson({ ...describe(documents), wrote });
      printDiscovered(documents);
      if (wrote !== null) complain(`Wrote ${wrote}. Once it is committed, Stele publishes only what it lists.`);
    });
}

function describe({ commit, plan }: Discovered): object {
  const documents = plan.documents.map(({ path, coordinate, name }) => ({
    path,
    coordinate: formatCoordinate(coordinate),
    name,
    version: plan.versions.get(path) ?? null,
  }));
  const { skipped, unread, settings } = plan;
  return { commit, documents, skipped, problems: [...settings.report.problems, ...unread], others: othersIn(plan) };
}

function othersIn({ documents, searched, skipped, unread }: Discovered['plan']): number {
  const listed = [...documents, ...skipped, ...unread.map(({ file }) => ({ path: file }))];
  return searched.size - new Set(listed.map(({ path }) => path).filter((path) => searched.has(path))).size;
}

function printDiscovered({ plan }: Discovered): void {
  const { documents, versions, skipped, unread, settings } = plan;
  for (const { path, coordinate } of documents)
    print(['publish', path, formatCoordinate(coordinate), versions.get(path) ?? '-'].join('\t'));
  for (const [reason, paths] of Map.groupBy(skipped, (each) => each.reason)) {
    for (const { path } of paths.slice(0, maxListed)) print(['skip', path, reason].join('\t'));
    if (paths.length > maxListed) print(['skip', `${paths.length - maxListed} more files`, reason].join('\t'));
  }
  for (const problem of [...settings.report.problems, ...unread]) complain(formatProblem(problem));
  const others = othersIn(plan);
  const rest = others === 1 ? '1 other file is not a document' : `${others} other files are not documents`;
  complain(`${documents.length} to publish, ${skipped.length} skipped; ${rest}`);
}

/**
 * Writes a `stele.yaml`: into a local work tree, else into the current folder. Replaces nothing.
 * Returns its path.
 */
function write({ plan }: Discovered, url: string, folder: string): string {
  if (plan.documents.length === 0) throw refused('No documents were found, so a stele.yaml would list none.');
  const isWorkTree = isLocalUrl(url) && existsSync(join(url, '.git')) && gitDirectory(url) !== null;
  const path = isWorkTree ? join(url, folder, 'stele.yaml') : 'stele.yaml';
  try {
    writeFileSync(path, formatSettings(plan.documents, folder), { flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    throw conflict(`${path} exists already. Remove it first, or edit it.`, { cause: error });
  }
  return path;
}

/**
 * Returns a `stele.yaml` that publishes these documents under the same names. `folder`: the folder
 * of the `stele.yaml` in the repository. A path with a star cannot be listed and becomes a comment.
 */
export function formatSettings(documents: readonly { path: string; coordinate: Coordinate }[], folder: string): string {
  const entries = documents.map(({ path, coordinate }) => {
    const relative = folder === '' ? path : path.slice(folder.length + 1);
    const lines = [
      `  - path: ${scalar(relative)}`,
      `    type: ${coordinate.type}`,
      `    slug: ${scalar(coordinate.slug)}`,
    ];
    return isPathGlob(relative)
      ? ['  # A path with a star cannot be listed.', ...lines.map((line) => `  # ${line.slice(2)}`)]
      : lines;
  });
  return ['resources:', ...entries.flat(), ''].join('\n');
}

/** A YAML scalar: as it is where that is safe, else as a JSON string, which YAML reads too. */
function scalar(text: string): string {
  return /^[a-z][a-z0-9._/-]*[a-z0-9]$/i.test(text) && !/^(?:true|false|null|yes|no|on|off|y|n)$/i.test(text)
    ? text
    : JSON.stringify(text);
}
