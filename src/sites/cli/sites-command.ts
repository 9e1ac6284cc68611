import { Command } from 'commander';
import { insteadOf, isRegistryError, type ErrorCode, malformed } from '../../model/errors.ts';
import { currentOf, formatSite, parseSite, type SiteName, settingsOf } from '../model/documentation-site.ts';
import { readConfig, withRegistryToRead, type CommonOptions } from '../../cli/command-context.ts';
import { complain, formatReport, print, printJson, withProgress } from '../../cli/output.ts';
import { withClient } from '../../cli/manage/with-client.ts';
import { openRegistryAt, type Client } from '../../cli/registry-client.ts';
import type { components } from '../../server/v1/management.d.ts';
import {
  addProblems,
  createReport,
  isBlocking,
  problemAtFile,
  type Problem,
  type Report,
} from '../../model/problem.ts';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import type { NewFile } from '../registry/drafts.ts';
import { digestOf } from '../../model/digest.ts';
import type { Registry } from '../../registry/registry.ts';
import { someAtOnce } from '../../scheduling/turns.ts';

interface SitesOptions extends CommonOptions, FolderOptions {
  org?: string;
  registry?: string;
  check?: boolean;
}

const remoteHelp = 'use the running registry at this URL, with the key in STELE_KEY';

/** `stele sites publish|preview|list`: documentation sites, on the data folder or a running registry. */
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
      const { json } = command.optsWithGlobals<SitesOptions>();
      const preview = await previewFolder(command, requireSite(name), folder);
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
  return sites;
}

/** Throws `malformed`. */
export function requireSite(text: string): SiteName {
  const site = parseSite(text);
  if (site === null) throw malformed(`${JSON.stringify(text)} is not a site. Use @org/sites/slug.`);
  return site;
}

async function publish(
  command: Command,
  site: SiteName,
  folder: string,
  { check, registry: _there, ...options }: SitesOptions,
): Promise<PublishedFolder> {
  const read = await filesOf(command, folder);
  if (check) return withRegistryToRead(command, (registry) => checkFolder(registry, site, read));
  return withProgress(`Publishing ${read.files.length} files`, () =>
    withClient(command, site.org, (client) => publishFolder(client, site, read, options), { makesStore: true }),
  );
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
    const all = await Array.fromAsync(
      (await openRegistryAt(there, org ?? null)).demandAll<components['schemas']['Site']>('/v1/sites?'),
    );
    return all.map(({ coordinate, title, visibility, current }) => ({
      site: coordinate,
      title,
      visibility,
      deployment: current,
    }));
  }
  return withRegistryToRead(command, async (registry) => {
    const { listReadableSites } = await import('../../registry/readable.ts');
    const sites = await listReadableSites(registry, { kind: 'operator', id: 'cli' }, org);
    return sites.map(({ value }) => ({
      site: formatSite(value),
      title: value.title,
      visibility: value.visibility,
      deployment: currentOf(value)?.label ?? null,
    }));
  });
}

/** The result of `stele sites preview`, as `--json` prints it. `url`: only a path if the configuration does not say where the registry is. */
type PreviewedFolder = Pick<components['schemas']['SitePreview'], 'url' | 'expiresAt' | 'rendered'> & {
  report: Report;
};

/**
 * Previews a site: with the files of a folder, or those that were sent. Those of the folder are
 * what is published next.
 */
async function previewFolder(command: Command, site: SiteName, folder: string | undefined): Promise<PreviewedFolder> {
  const read = folder === undefined ? null : await filesOf(command, folder);
  return withProgress('Rendering', () =>
    withClient(command, site.org, async (client) => {
      const sent = read && (await sendFolder(client, site, read, {}));
      const preview = (await client.demand('POST', `/v1/sites/${site.slug}/previews`)) as unknown as PreviewedFolder;
      return { ...preview, report: addProblems(preview.report, sent?.problems ?? []) };
    }),
  );
}

/** The files of a folder that a site can have, and what is wrong with the others. */
interface ReadFolder {
  files: readonly NewFile[];
  problems: readonly Problem[];
}

async function filesOf(command: Command, folder: string): Promise<ReadFolder> {
  const { kindOfFile } = await import('../registry/drafts.ts');
  const { files, problems } = readFolder(folder, (await readConfig(command)).limits.fileBytes);
  const fit = files.filter(({ path, bytes }) => {
    const kind = kindOfFile(path, bytes);
    if ('fault' in kind) problems.push(fileProblem(path, kind.fault));
    return 'mediaType' in kind;
  });
  return { files: fit, problems };
}

function fileProblem(path: string, message: string): Problem {
  return problemAtFile('site-file', path, message, 'warning');
}

/**
 * Reads the files of a folder, with their paths in it. Leaves out what begins with a dot,
 * `node_modules` and symbolic links. A file over the limit is not read.
 * A command does nothing else meanwhile, and a thread for each file costs more than the file.
 */
export function readFolder(folder: string, maxBytes: number): { files: NewFile[]; problems: Problem[] } {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    throw malformed(`${folder} is not a folder. Name the folder with the pages.`);
  const files: NewFile[] = [];
  const problems: Problem[] = [];
  function read(at: string): void {
    const entries = readdirSync(at, { withFileTypes: true });
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      if (entry.name.startsWith('.') || entry.name === 'node_modules') continue;
      const place = join(at, entry.name);
      if (entry.isDirectory()) read(place);
      if (!entry.isFile()) continue;
      const path = relative(folder, place).split(sep).join('/');
      const { size } = statSync(place);
      if (size <= maxBytes) files.push({ path, bytes: readFileSync(place) });
      else problems.push(fileProblem(path, `The file has ${size} bytes; the limit is ${maxBytes}.`));
    }
  }
  read(folder);
  return { files, problems };
}

/** The result of `stele sites publish`, as `--json` prints it. */
interface PublishedFolder {
  outcome: 'published' | 'unchanged' | 'rejected' | 'checked';
  /** Number of the deployment; null: none was made. */
  deployment: string | null;
  /** Null if nobody says where the registry is. */
  url: string | null;
  created: boolean;
  /** How many pages had to be rendered. */
  rendered: number;
  report: Report;
}

interface FolderOptions {
  title?: string;
  public?: boolean;
}

/** Renders and checks the files, and stores nothing. References are looked up in the registry. */
async function checkFolder(
  registry: Registry,
  site: SiteName,
  { files, problems }: ReadFolder,
): Promise<PublishedFolder> {
  const { makeDeployment } = await import('../registry/make-deployment.ts');
  const { findSite } = await import('../../registry/lives.ts');
  const stored = (await findSite(registry, site))?.value ?? null;
  const bytes = new Map(files.map((file) => [file.path, file.bytes]));
  const { report, rendered } = await makeDeployment(registry, {
    org: site.org,
    settings: settingsOf(stored ?? { title: site.slug }),
    blockOn: stored?.blockOn ?? 'error',
    previous: null,
    reader: { kind: 'operator', id: 'cli' },
    files: files.map((file) => ({ path: file.path, source: digestOf(file.bytes) })),
    read: async (paths) => paths.map((path) => bytes.get(path)!),
  });
  const outcome = isBlocking(report) ? 'rejected' : 'checked';
  return { outcome, deployment: null, url: null, created: false, rendered, report: addProblems(report, problems) };
}

/** Files that are sent at once. A log joins them into a few entries. */
const atOnce = 64;

/**
 * Sends the files of a folder: those that changed, and removes the others. Creates the site if it is
 * not there. Returns what is wrong with those that it did not take, too.
 */
async function sendFolder(
  { demand, demandAll }: Client,
  { slug }: SiteName,
  { files, problems: unfit }: ReadFolder,
  { title, public: isPublic }: FolderOptions,
): Promise<{ url: string; created: boolean; problems: Problem[] }> {
  const path = `/v1/sites/${slug}`;
  const problems = [...unfit];
  const before = await demand('GET', path).catch(insteadOf('not_found', null));
  const given = { slug, title: title ?? slug, ...(isPublic && { visibility: 'public' }) };
  const { url } =
    before === null
      ? await demand('POST', '/v1/sites', given)
      : title === undefined
        ? before
        : await demand('PATCH', path, { title });
  const there = new Map<string, string>();
  // A new site has none, and another node may not know it yet.
  if (before !== null)
    for await (const file of demandAll<{ path: string; digest: string }>(`${path}/files?`))
      there.set(file.path, file.digest);
  const send = async ({ path: name, bytes }: NewFile): Promise<void> => {
    const place = `${path}/files/${name.split('/').map(encodeURIComponent).join('/')}`;
    await demand('PUT', place, bytes).catch((error: unknown) => {
      if (!isRegistryError(error) || !untaken.includes(error.code)) throw error;
      problems.push(fileProblem(name, error.message));
    });
  };
  const changed = files.filter((file) => there.get(file.path) !== digestOf(file.bytes));
  await Array.fromAsync(someAtOnce(changed, atOnce, send));
  for (const { path: name } of files) there.delete(name);
  for (const name of there.keys()) await demand('DELETE', `${path}/files/${name}`);
  return { url: String(url), created: before === null, problems };
}

/** What a registry says of a file that it does not take. */
const untaken: readonly ErrorCode[] = ['malformed', 'not_found', 'too_large', 'unsupported_media_type'];

/** Makes the files all files of a site, and publishes it. Creates the site if it is not there. */
async function publishFolder(
  client: Client,
  site: SiteName,
  read: ReadFolder,
  options: FolderOptions,
): Promise<PublishedFolder> {
  const { problems, url, created } = await sendFolder(client, site, read, options);
  // Of a registry whose configuration says no address, only the path is known.
  const common = { created, url: url.startsWith('/') ? null : url };
  try {
    const { outcome, deployment, rendered, report } = (await client.demand(
      'POST',
      `/v1/sites/${site.slug}/publish`,
      {},
    )) as unknown as {
      outcome: 'published' | 'unchanged';
      deployment: { id: string };
      rendered: number;
      report: Report;
    };
    return { outcome, deployment: deployment.id, rendered, ...common, report: addProblems(report, problems) };
  } catch (error) {
    if (!isRegistryError(error, 'refused') || error.problems.length === 0) throw error;
    const report = addProblems(createReport(error.problems), problems);
    return { outcome: 'rejected', deployment: null, rendered: 0, ...common, report };
  }
}
