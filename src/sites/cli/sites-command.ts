import { Command } from 'commander';
import { RegistryError } from '../../model/errors.ts';
import { currentOf, formatSite, parseSite, type SiteName } from '../model/documentation-site.ts';
import {
  operator,
  readConfig,
  withRegistry,
  withRegistryToRead,
  type CommonOptions,
} from '../../cli/command-context.ts';
import { complain, formatReport, print, printJson, withProgress } from '../../cli/output.ts';
import { openRegistryAt } from '../../cli/registry-client.ts';
import { checkHere, publishHere, publishThere, type FolderOptions, type PublishedFolder } from './publish-folder.ts';
import { previewFolder } from './preview-folder.ts';
import { readFolder } from './read-folder.ts';

interface SitesOptions extends CommonOptions, FolderOptions {
  org?: string;
  registry?: string;
  check?: boolean;
}

const remoteHelp = 'use the running registry at this URL, with the key in STELE_KEY';

/** `stele sites publish|preview|list|rollback`: documentation sites, on the data folder or a running registry. */
export function sitesCommand(): Command {
  const sites = new Command('sites').description('Publish, list and roll back documentation sites.');
  sites
    .command('publish')
    .description('Publish a folder of Markdown as a documentation site.')
    .argument('<site>', '@org/sites/slug; the site is created if it does not exist')
    .argument('<folder>', 'folder with the pages and their files')
    .option('--title <text>', 'title of the site (default for a new site: its slug)')
    .option('--public', 'make the site public if it is new')
    .option('--check', 'only print the report, and write nothing')
    .option('--registry <url>', remoteHelp)
    .action(async (name: string, folder: string, _options: unknown, command: Command) => {
      const options = command.optsWithGlobals<SitesOptions>();
      const published = await publish(command, requireSite(name), folder, options);
      process.exitCode = printFolder(requireSite(name), published, options.json);
    });
  sites
    .command('preview')
    .description('Show a site that is not published, at an address that nobody can guess.')
    .argument('<site>', '@org/sites/slug')
    .argument('[folder]', 'folder with the pages and their files (default: the files sent for the site)')
    .option('--registry <url>', remoteHelp)
    .action(async (name: string, folder: string | undefined, _options: unknown, command: Command) => {
      const { registry, json } = command.optsWithGlobals<SitesOptions>();
      const preview = await previewFolder(command, requireSite(name), folder, registry);
      if (json) return printJson(preview);
      const problems = formatReport(preview.report);
      if (problems !== '') complain(problems);
      print(preview.url);
      complain(`Nothing is published. The preview expires on ${preview.expiresAt.slice(0, 10)}.`);
    });
  sites
    .command('list')
    .description('List documentation sites.')
    .option('--org <name>', 'only those of this organization')
    .option('--registry <url>', remoteHelp)
    .action(async (_options: unknown, command: Command) => {
      const options = command.optsWithGlobals<SitesOptions>();
      const all = await list(command, options);
      if (options.json) return printJson({ sites: all });
      if (all.length === 0)
        complain('There are no sites yet. To publish one, run: stele sites publish <site> <folder>');
      for (const { site, visibility, deployment, title } of all)
        print([site, visibility, deployment ?? '-', title].join('\t'));
    });
  sites
    .command('rollback')
    .description('Serve an earlier deployment of a site again.')
    .argument('<site>', '@org/sites/slug')
    .argument('<deployment>', 'number of the deployment')
    .option('--registry <url>', remoteHelp)
    .action(async (name: string, earlier: string, _options: unknown, command: Command) => {
      const { registry, json } = command.optsWithGlobals<SitesOptions>();
      const deployment = await rollBack(command, requireSite(name), earlier, registry);
      if (json) return printJson({ deployment, again: earlier });
      print(deployment);
      complain(`${name} shows what deployment ${earlier} was, as deployment ${deployment}.`);
    });
  return sites;
}

function requireSite(text: string): SiteName {
  const site = parseSite(text);
  if (site === null)
    throw new RegistryError('malformed', `${JSON.stringify(text)} is not a site. Use @org/sites/slug.`);
  return site;
}

async function publish(
  command: Command,
  site: SiteName,
  folder: string,
  { check, registry: there, ...options }: SitesOptions,
): Promise<PublishedFolder> {
  const { limits } = await readConfig(command);
  const { files, problems } = readFolder(folder, limits.fileBytes);
  const text = `Publishing ${files.length} files`;
  if (check)
    return withRegistryToRead(
      command,
      (config) => config,
      (registry) => checkHere(registry, site, files, problems),
    );
  if (there === undefined)
    return withRegistry(command, (registry) =>
      withProgress(text, () => publishHere(registry, site, files, problems, options)),
    );
  const registry = await openRegistryAt(there, site.org);
  return withProgress(text, () => publishThere(registry, site, files, problems, options));
}

/** Prints the report, then what became of the site. Returns the exit code. */
function printFolder(site: SiteName, published: PublishedFolder, json = false): number {
  const { outcome, deployment, url, report } = published;
  const code = outcome === 'rejected' ? 1 : 0;
  if (json) {
    printJson(published);
    return code;
  }
  const problems = formatReport(report);
  if (problems !== '') complain(problems);
  const name = formatSite(site);
  if (outcome === 'rejected') complain(`${name} was not published.`);
  if (outcome === 'checked') complain(`${name} could be published.`);
  if (deployment === null) return code;
  print(deployment);
  if (outcome === 'unchanged') complain('Already published; nothing changed.');
  complain(url ?? `stele serve returns it at /sites/${site.org}/${site.slug}/.`);
  return code;
}

interface Listed {
  site: string;
  title: string;
  visibility: string;
  /** Number of the deployment that is served; null: none. */
  deployment: string | null;
}

async function list(command: Command, { registry: there, org }: SitesOptions): Promise<Listed[]> {
  if (there !== undefined) {
    type Record = { coordinate: string; title: string; visibility: string; current: string | null };
    const all = await Array.fromAsync((await openRegistryAt(there, org ?? null)).demandAll<Record>('/v1/sites?'));
    return all.map(({ coordinate, title, visibility, current }) => ({
      site: coordinate,
      title,
      visibility,
      deployment: current,
    }));
  }
  return withRegistryToRead(
    command,
    (config) => config,
    async (registry) => {
      const { listReadableSites } = await import('../../registry/readable.ts');
      const sites = await listReadableSites(registry, { kind: 'operator', id: 'cli' }, org);
      return sites.map(({ value }) => ({
        site: formatSite(value),
        title: value.title,
        visibility: value.visibility,
        deployment: currentOf(value)?.label ?? null,
      }));
    },
  );
}

async function rollBack(command: Command, site: SiteName, earlier: string, there: string | undefined): Promise<string> {
  if (there === undefined)
    return withRegistry(command, async (registry) => {
      const { publishAgain } = await import('../registry/publish-site.ts');
      return (await publishAgain(registry, site, earlier, operator)).deployment.label;
    });
  const registry = await openRegistryAt(there, site.org);
  const { deployment } = await registry.demand('POST', `/v1/sites/${site.slug}/publish`, { deployment: earlier });
  return (deployment as { id: string }).id;
}
