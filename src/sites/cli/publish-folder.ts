import { digestOf } from '../../model/digest.ts';
import { insteadOf, isRegistryError, type ErrorCode } from '../../model/errors.ts';
import { createReport, isBlocking, problemAtFile, type Problem, type Report } from '../../model/problem.ts';
import { settingsOf, type SiteName } from '../model/documentation-site.ts';
import type { Registry } from '../../registry/registry.ts';
import { someAtOnce } from '../../scheduling/turns.ts';
import type { NewFile } from '../registry/drafts.ts';
import type { Client } from '../../cli/registry-client.ts';

/** The result of `stele sites publish`, as `--json` prints it. */
export interface PublishedFolder {
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

export interface FolderOptions {
  title?: string;
  public?: boolean;
}

/** What was read of a folder. `maxBytes`: of a file. */
export interface ReadFolder {
  files: readonly NewFile[];
  problems: readonly Problem[];
  maxBytes: number;
}

/** Renders and checks the files, and stores nothing. References are looked up in the registry. */
export async function checkFolder(
  registry: Registry,
  site: SiteName,
  { files, problems: unread, maxBytes }: ReadFolder,
): Promise<PublishedFolder> {
  const { makeDeployment } = await import('../registry/make-deployment.ts');
  const { findSite } = await import('../../registry/lives.ts');
  const stored = (await findSite(registry, site))?.value ?? null;
  const { fit, problems } = await sortFiles(files, maxBytes);
  const bytes = new Map(fit.map((file) => [file.path, file.bytes]));
  const { report, rendered } = await makeDeployment(registry, {
    org: site.org,
    settings: settingsOf(stored ?? { title: site.slug }),
    blockOn: stored?.blockOn ?? 'error',
    previous: null,
    reader: { kind: 'operator', id: 'cli' },
    files: fit.map((file) => ({ path: file.path, source: digestOf(file.bytes) })),
    read: async (paths) => paths.map((path) => bytes.get(path)!),
  });
  const outcome = isBlocking(report) ? 'rejected' : 'checked';
  const whole = withProblems(report, [...unread, ...problems]);
  return { outcome, deployment: null, url: null, created: false, rendered, report: whole };
}

/** The files that sites can have, and what is wrong with the others. */
async function sortFiles(
  files: readonly NewFile[],
  maxBytes: number,
): Promise<{ fit: NewFile[]; problems: Problem[] }> {
  const { fileFault } = await import('../registry/drafts.ts');
  const problems: Problem[] = [];
  const fit = files.filter(({ path, bytes }) => {
    const fault = fileFault(path, bytes, maxBytes);
    if (fault !== null) problems.push(problemAtFile('site-file', path, fault, 'warning'));
    return fault === null;
  });
  return { fit, problems };
}

/** Files that are sent at once. A log joins them into a few entries. */
const atOnce = 64;

/**
 * Sends the files of a folder: those that changed, and removes the others. Creates the site if it is
 * not there. `maxBytes`: of a file. Returns what is wrong with those that a site cannot have.
 */
export async function sendFolder(
  { demand, demandAll }: Client,
  { slug }: SiteName,
  files: readonly NewFile[],
  maxBytes: number,
  { title, public: isPublic }: FolderOptions,
): Promise<{ url: string; created: boolean; problems: Problem[] }> {
  const path = `/v1/sites/${slug}`;
  const { fit, problems } = await sortFiles(files, maxBytes);
  const before = await demand('GET', path).catch(insteadOf('not_found', null));
  const given = { slug, title: title ?? slug, ...(isPublic && { visibility: 'public' }) };
  const { url } =
    before === null
      ? await demand('POST', '/v1/sites', given)
      : title === undefined
        ? before
        : await demand('PATCH', path, { title });
  const there = new Map<string, string>();
  for await (const file of demandAll<{ path: string; digest: string }>(`${path}/files?`))
    there.set(file.path, file.digest);
  const send = async ({ path: name, bytes }: NewFile): Promise<void> => {
    const place = `${path}/files/${name.split('/').map(encodeURIComponent).join('/')}`;
    await demand('PUT', place, bytes).catch((error: unknown) => {
      if (!isRegistryError(error) || !unfit.includes(error.code)) throw error;
      problems.push(problemAtFile('site-file', name, error.message, 'warning'));
    });
  };
  const changed = fit.filter((file) => there.get(file.path) !== digestOf(file.bytes));
  await Array.fromAsync(someAtOnce(changed, atOnce, send));
  for (const { path: name } of fit) there.delete(name);
  for (const name of there.keys()) await demand('DELETE', `${path}/files/${name}`);
  return { url: String(url), created: before === null, problems };
}

/** What a registry says of a file that it does not take. */
const unfit: readonly ErrorCode[] = ['malformed', 'not_found', 'too_large', 'unsupported_media_type'];

/** Makes the files all files of a site, and publishes it. Creates the site if it is not there. */
export async function publishFolder(
  client: Client,
  site: SiteName,
  { files, problems: unread, maxBytes }: ReadFolder,
  options: FolderOptions,
): Promise<PublishedFolder> {
  const { problems: unsent, url, created } = await sendFolder(client, site, files, maxBytes, options);
  // Of a registry whose configuration says no address, only the path is known.
  const common = { created, url: url.startsWith('/') ? null : url };
  const problems = [...unread, ...unsent];
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
    return { outcome, deployment: deployment.id, rendered, ...common, report: withProblems(report, problems) };
  } catch (error) {
    if (!isRegistryError(error, 'refused') || error.problems.length === 0) throw error;
    const report = withProblems(createReport([...error.problems]), problems);
    return { outcome: 'rejected', deployment: null, rendered: 0, ...common, report };
  }
}

export function withProblems(report: Report, more: readonly Problem[]): Report {
  return more.length === 0 ? report : { ...report, ...createReport([...report.problems, ...more]) };
}
