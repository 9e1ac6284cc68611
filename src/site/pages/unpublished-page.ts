import { types } from '../../model/kinds.ts';
import type { Principal } from '../../model/access.ts';
import { publicDetail, connectionState } from '../../model/connection.ts';
import { coordinateOf, isPublished, nameOf, type Resource } from '../../model/resource.ts';
import { readConnection } from '../../sync/connect.ts';
import type { Digest } from '../../model/digest.ts';
import type { Report } from '../../model/problem.ts';
import { showReport } from '../../registry/gate/show-report.ts';
import { readJson } from '../../registry/stored.ts';
import type { Granted } from '../../registry/read.ts';
import { mayRead } from '../../registry/readable.ts';
import { docPath } from '../docs/docs.ts';
import { commitLinks } from './describe-version.ts';
import { crumbsOf } from './crumbs.ts';
import { describeReport } from './version-pages.ts';
import { versionsOf } from './resource-page.ts';
import type { Site } from '../site.ts';
import { labelsOf } from './listings.ts';

/**
 * The page of a resource without a latest version. Lists its other versions and the withdrawn ones.
 * Says why nothing was published only to readers who may read private resources there.
 */
export async function unpublishedPage(
  site: Site,
  { resource }: Pick<Granted, 'resource'>,
  reader: Principal,
): Promise<string> {
  const { org, type, slug } = resource;
  const isMember = mayRead(reader, { org, type, slug, visibility: 'private' });
  const why = isMember && resource.versions.length === 0 ? await whyNothing(site, resource) : null;
  const digest = why?.report ?? null;
  const report = digest && (await showReport(site.registry, reader, await readJson<Report>(site.registry, digest)));
  const { repository } = resource.connection ?? {};
  const pages = repository === undefined ? null : commitLinks(repository, why?.commit ?? null);
  return site.page('unpublished', {
    org: resource.org,
    title: resource.name,
    crumbs: crumbsOf(site, resource),
    hidden: true,
    resource: {
      name: resource.name,
      coordinate: nameOf(coordinateOf(resource)),
      type,
      typeTitle: types[type].many,
      description: resource.description,
      isPrivate: resource.visibility === 'private',
      ...labelsOf(site, resource),
    },
    state: stateOf(resource),
    why,
    report: report && describeReport(report, pages),
    hiddenCount: report?.hidden ?? 0,
    help: isMember ? site.links.path(docPath('first-steps')) : null,
    versions: versionsOf(site, resource, null),
    withdrawn: resource.versions.flatMap(({ label, status }) =>
      status.state === 'withdrawn' ? [{ label, reason: status.reason }] : [],
    ),
  });
}

/** One sentence that says why there is no latest version. */
function stateOf(resource: Resource): string {
  if (resource.versions.length === 0) return 'No version has been published yet.';
  if (!isPublished(resource)) return 'All versions were withdrawn.';
  return 'No version is marked as latest. Choose one from the list.';
}

/** `report`: that of a rejected document, found in `commit`. */
interface Why {
  text: string;
  detail: string | null;
  report?: Digest | null;
  commit?: string | null;
}

/**
 * Explains why a resource has no version: the result of its last sync, or that it has no
 * connection.
 */
async function whyNothing({ registry }: Site, resource: Resource): Promise<Why> {
  const { connection } = resource;
  if (connection === null)
    return { text: 'The resource is not connected to a repository, and no version was uploaded.', detail: null };
  const { repository, document } = await readConnection(registry, { ...resource, connection });
  const { state, detail } = connectionState(repository?.value ?? null, document);
  const shownDetail = publicDetail(connection.repository, detail);
  if (document?.outcome === 'rejected' || document?.outcome === 'conflict')
    return {
      text: 'The document was rejected.',
      detail: shownDetail,
      report: document.report,
      commit: repository?.value.commit ?? null,
    };
  if (state === 'failed') return { text: 'The last sync failed.', detail: shownDetail };
  if (state === 'detached')
    return { text: 'The file, branch or repository no longer exists, or was replaced.', detail: shownDetail };
  if (repository === null || repository.value.commit === null)
    return { text: 'The repository has not been synced yet.', detail: null };
  return { text: `The last sync found no document at ${connection.path}.`, detail: shownDetail };
}
