import type { Principal } from '../model/access.ts';
import type { Check } from '../model/check.ts';
import type { Repository } from '../model/connection.ts';
import { countText, isBlocking, type Report } from '../model/problem.ts';
import {
  type DeploymentContents,
  currentOf,
  formatSite,
  settingsOf,
  siteAddress,
} from '../sites/model/documentation-site.ts';
import type { SettingsSite } from '../compile/sandboxes.ts';
import { settingsPath } from '../plan/settings-of.ts';
import type { Registry } from '../registry/registry.ts';
import { readContents } from '../sites/registry/bundles.ts';
import { makeDeployment, type MadeDeployment } from '../sites/registry/make-deployment.ts';
import { partsOf, type SitePreview } from '../sites/registry/site-preview.ts';
import { newSite } from '../sites/registry/site-record.ts';
import { findSite } from '../registry/lives.ts';
import type { Snapshot } from '../source/snapshot.ts';
import { annotationsOf, checkName, code, plain, checkTitle } from '../sync/checks.ts';
import { refusable } from '../sync/publish-document.ts';
import { filesIn, type FoundSite } from '../sites/sync/sync-sites.ts';

/**
 * Those of the sites in the merged tree that a pull request touches: their folder, or what `stele.yaml` says of them. `changed`: paths that
 * it changes; `before`: the sites that `stele.yaml` names in the target branch, null: the same.
 */
export function touchedSites(
  sites: readonly FoundSite[],
  changed: ReadonlySet<string>,
  before: readonly SettingsSite[] | null,
): FoundSite[] {
  const isNew = (settings: SettingsSite) =>
    before !== null && !before.some((one) => JSON.stringify(one) === JSON.stringify(settings));
  return sites.filter(
    ({ folder, settings }) =>
      (settings !== null && isNew(settings)) ||
      [...changed].some((path) => folder === '' || path.startsWith(`${folder}/`)),
  );
}

const maxNames = 20;

/**
 * The check of one site: what merging would publish of it, and its preview; null: there is nothing to show. `view`: as the merge would leave the
 * registry; `registry`: as it is, which is what a preview of the site can embed.
 */
export async function checkOfSite(
  registry: Registry,
  view: Registry,
  repository: Repository,
  snapshot: Snapshot,
  { name: site, path, folder, settings: given }: FoundSite,
  commit: string,
): Promise<{ check: Check; preview: SitePreview | null }> {
  const { org, url, branch, visibility } = repository;
  const name = formatSite(site);
  const { config } = registry;
  const about = { commit, name: checkName(name), url: config.url && `${config.url}${siteAddress(site)}/` };
  const where = `${code(path)} → ${code(name)}`;
  const stored = (await findSite(registry, site))?.value ?? null;
  // A site of another repository looks absent.
  const connected = stored?.connection?.repository === url ? stored : null;
  const current = connected && currentOf(connected);
  const previous = current && (await readContents(registry, current.manifest));
  const reader: Principal = { kind: 'key', id: 'pull', org, scopes: ['read'], resources: null };
  const settings = settingsOf(given ?? connected!);
  const input = {
    org,
    settings,
    blockOn: given?.blockOn ?? connected?.blockOn ?? 'error',
    reader,
    ...filesIn(snapshot, await snapshot.entries(), folder),
  };
  const deployment = await refusable(() => makeDeployment(view, { ...input, previous }));
  if ('refusal' in deployment) {
    const summary = `${where}\n\n${plain(deployment.refusal)}`;
    const title = checkTitle(null, deployment.refusal);
    return { check: { ...about, state: 'failure', title, summary, annotations: [] }, preview: null };
  }
  const report = inRepository(deployment.report, folder, settingsPath(repository));
  const { error, warning } = report.counts;
  const isBad = isBlocking(deployment.report);
  const isSame = current?.manifest === deployment.built.digest;
  const title = isBad ? checkTitle(report, null) : isSame ? 'Same as published' : 'Would be published';
  const counts = `${countText(Object.keys(deployment.contents.pages).length, 'page')}, ${countText(error, 'error')}, ${countText(warning, 'warning')}.`;
  const summary = [
    where,
    `${isBad ? 'Would be rejected' : title}: ${counts}`,
    changesOf(previous, deployment.contents),
  ];
  const check: Check = {
    ...about,
    state: isBad ? 'failure' : 'success',
    title,
    summary: summary.filter((part) => part !== '').join('\n\n'),
    annotations: annotationsOf(report),
  };
  if (isSame || Object.keys(deployment.contents.pages).length === 0) return { check, preview: null };
  // Readers of the preview do not see what else the request would publish.
  const shown = await makeDeployment(registry, { ...input, previous: deployment.contents });
  const whole: MadeDeployment = { ...shown, bundles: deployment.bundles };
  const parts = await partsOf(registry, whole, previous);
  const connection = { repository: url, branch, folder: given?.path ?? '' };
  const preview: SitePreview = {
    site,
    id: connected?.id,
    origin: { repository: url, commit, folder },
    by: `sync:${org}`,
    manifest: shown.built.digest,
    parts,
    ...(connected === null && {
      fresh: { from: url, record: { ...newSite(registry, site, given!, visibility), connection } },
    }),
  };
  return { check, preview };
}

function inRepository(report: Report, folder: string, settings: string): Report {
  const pathInFolder = (file: string) =>
    file === 'site settings' ? settings : folder === '' ? file : `${folder}/${file}`;
  return { ...report, problems: report.problems.map((problem) => ({ ...problem, file: pathInFolder(problem.file) })) };
}

/** The pages that differ, as Markdown. */
function changesOf(before: DeploymentContents | null, { pages }: DeploymentContents): string {
  if (before === null) return '';
  const old = new Map(Object.entries(before.pages));
  const lines = Object.entries(pages).flatMap(([path, { source, facts }]) => {
    const was = old.get(path);
    old.delete(path);
    if (was?.source === source) return [];
    return [`- ${was === undefined ? 'New' : 'Changed'}: ${code(path)} ${plain(facts.title)}`];
  });
  lines.push(...[...old].map(([path]) => `- Removed: ${code(path)}`));
  const rest = lines.length > maxNames ? [`- … and ${lines.length - maxNames} more`] : [];
  return [...lines.slice(0, maxNames), ...rest].join('\n');
}
