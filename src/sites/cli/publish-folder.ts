import type { Principal, Visibility } from '../../model/access.ts';
import { digestOf } from '../../model/digest.ts';
import { createReport, isBlocking, type Problem, type Report } from '../../model/problem.ts';
import { settingsOf, siteAddress, type Deployment, type SiteName } from '../model/documentation-site.ts';
import type { Registry } from '../../registry/registry.ts';
import type { NewFile } from '../registry/drafts.ts';
import { operator } from '../../cli/command-context.ts';
import { refusalIn, type RegistryClient } from '../../cli/registry-client.ts';

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

export const reader: Principal = { kind: 'operator', id: 'cli' };

/** Makes the files all files of a site, and publishes it. Creates the site if it is not there. */
export async function publishHere(
  registry: Registry,
  site: SiteName,
  files: readonly NewFile[],
  unread: readonly Problem[],
  { title, public: isPublic }: FolderOptions,
): Promise<PublishedFolder> {
  const { createSiteRecord, changeSite } = await import('../registry/site-record.ts');
  const { findSite } = await import('../../registry/lives.ts');
  const { replaceDrafts } = await import('../registry/drafts.ts');
  const { publishSite, storedFiles } = await import('../registry/publish-site.ts');
  const author = operator;
  const stored = await findSite(registry, site);
  const visibility: Visibility | undefined = isPublic ? 'public' : undefined;
  if (stored === null)
    await createSiteRecord(registry, site, { title: title ?? site.slug, ...(visibility && { visibility }) }, author);
  else if (title !== undefined) await changeSite(registry, site, { title }, author);
  const replaced = await replaceDrafts(registry, site, files, author);
  const result = await publishSite(registry, {
    site,
    files: storedFiles(replaced.files),
    read: readerOf(files),
    origin: null,
    reader,
    author,
  });
  const report = withProblems(result.report, [...unread, ...replaced.problems]);
  const { url } = registry.config;
  const common = { created: stored === null, url: url && `${url}${siteAddress(site)}/`, report };
  if (result.outcome === 'rejected' || result.outcome === 'checked')
    return { outcome: 'rejected', deployment: null, rendered: 0, ...common };
  return { outcome: result.outcome, deployment: result.deployment.label, rendered: result.rendered, ...common };
}

function readerOf(files: readonly NewFile[]): (paths: readonly string[]) => Promise<Uint8Array[]> {
  const bytes = new Map(files.map((file) => [file.path, file.bytes]));
  return async (paths) => paths.map((path) => bytes.get(path)!);
}

/** What a deployment is made from: the files that a site may have, and what is wrong with the others. */
export async function inputOf(files: readonly NewFile[], maxBytes: number) {
  const { sortFiles } = await import('../registry/drafts.ts');
  const { accepted, problems } = sortFiles(files, maxBytes);
  const sources = accepted.map((file) => ({ path: file.path, source: digestOf(file.bytes) }));
  return { files: sources, read: readerOf(accepted), problems };
}

/** Renders and checks the files, and stores nothing. References are looked up in the registry. */
export async function checkHere(
  registry: Registry,
  site: SiteName,
  files: readonly NewFile[],
  unread: readonly Problem[],
): Promise<PublishedFolder> {
  const { makeDeployment } = await import('../registry/make-deployment.ts');
  const { findSite } = await import('../../registry/lives.ts');
  const stored = (await findSite(registry, site))?.value ?? null;
  const none = { title: site.slug, description: '', theme: {}, navigation: null, redirects: {}, versions: [] };
  const { problems, ...input } = await inputOf(files, registry.config.limits.fileBytes);
  const { report, rendered } = await makeDeployment(registry, {
    org: site.org,
    settings: stored === null ? none : settingsOf(stored),
    blockOn: stored?.blockOn ?? 'error',
    previous: null,
    reader,
    ...input,
  });
  const outcome = isBlocking(report) ? 'rejected' : 'checked';
  const whole = withProblems(report, [...unread, ...problems]);
  return { outcome, deployment: null, url: null, created: false, rendered, report: whole };
}

/**
 * Sends the files of a folder to a running registry: those that changed, and removes the others.
 * Creates the site if it is not there.
 */
export async function sendFolder(
  registry: RegistryClient,
  { slug }: SiteName,
  files: readonly NewFile[],
  { title, public: isPublic }: FolderOptions,
): Promise<{ url: string; created: boolean; problems: Problem[] }> {
  const path = `/v1/sites/${slug}`;
  const remote = await registry.ask('GET', path);
  const isNew = remote.status === 404;
  if (!isNew && remote.status >= 400) throw refusalIn(remote);
  const given = { slug, title: title ?? slug, ...(isPublic && { visibility: 'public' }) };
  const { url } = isNew
    ? await registry.demand('POST', '/v1/sites', given)
    : title === undefined
      ? remote.body
      : await registry.demand('PATCH', path, { title });
  const there = new Map<string, string>();
  for await (const file of registry.demandAll<{ path: string; digest: string }>(`${path}/files?`))
    there.set(file.path, file.digest);
  const problems: Problem[] = [];
  for (const { path: name, bytes } of files) {
    const digest = there.get(name);
    there.delete(name);
    if (digest === digestOf(bytes)) continue;
    const problem = await registry.sendFile(`${path}/files/`, name, bytes);
    if (problem !== null) problems.push(problem);
  }
  for (const name of there.keys()) await registry.demand('DELETE', `${path}/files/${name}`);
  return { url: String(url), created: isNew, problems };
}

/** As `publishHere`, over HTTP. */
export async function publishThere(
  registry: RegistryClient,
  site: SiteName,
  files: readonly NewFile[],
  unread: readonly Problem[],
  options: FolderOptions,
): Promise<PublishedFolder> {
  const { problems: unsent, ...common } = await sendFolder(registry, site, files, options);
  const problems = [...unread, ...unsent];
  const path = `/v1/sites/${site.slug}`;
  const answer = await registry.ask('POST', `${path}/publish`, {});
  if (answer.status === 422 && answer.body['problems'] !== undefined) {
    const report = createReport(answer.body['problems'] as Problem[]);
    return { outcome: 'rejected', deployment: null, rendered: 0, ...common, report: withProblems(report, problems) };
  }
  if (answer.status >= 400) throw refusalIn(answer);
  const { outcome, deployment, rendered, report } = answer.body as unknown as {
    outcome: 'published' | 'unchanged';
    deployment: Pick<Deployment, 'label'> & { id: string };
    rendered: number;
    report: Report;
  };
  return { outcome, deployment: deployment.id, rendered, ...common, report: withProblems(report, problems) };
}

export function withProblems(report: Report, more: readonly Problem[]): Report {
  return more.length === 0 ? report : { ...report, ...createReport([...report.problems, ...more]) };
}
