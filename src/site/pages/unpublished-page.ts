import { types } from '../../model/kinds.ts';
import type { Principal } from '../../model/access.ts';
import { connectionState, publicDetail } from '../../model/connection.ts';
import { coordinateOf, isPublished, nameOf, type Resource } from '../../model/resource.ts';
import { readConnection } from '../../sync/connect.ts';
import type { Granted } from '../../registry/read.ts';
import { mayRead } from '../../registry/readable.ts';
import { docPath } from '../docs/docs.ts';
import { crumbsOf, versionsOf } from './resource-page.ts';
import type { Site } from '../site.ts';

/**
 * The page of a resource that has no latest version. It says that there is none, and lists the versions that are not offered or were withdrawn.
 * Why nothing was published it tells only to a reader who may read more than what is public there.
 */
export async function unpublishedPage(site: Site, { resource }: Granted, reader: Principal): Promise<string> {
  const { org, type, slug } = resource;
  const isMember = mayRead(reader, { org, type, slug, visibility: 'private' });
  return site.page('unpublished', {
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
    },
    state: stateOf(resource),
    why: isMember && resource.versions.length === 0 ? await whyNothing(site, resource) : null,
    help: isMember ? site.links.path(docPath('first-steps')) : null,
    versions: versionsOf(site, resource, null),
    withdrawn: resource.versions.flatMap(({ label, status }) =>
      status.state === 'withdrawn' ? [{ label, reason: status.reason }] : [],
    ),
  });
}

/** What there is in place of a latest version, in one sentence. */
function stateOf(resource: Resource): string {
  if (resource.versions.length === 0) return 'No version has been published yet.';
  if (!isPublished(resource)) return 'All versions were withdrawn.';
  return 'No version is offered as latest. Name one of its versions.';
}

/** Why a resource has no version at all: what became of its last sync, or that nothing leads to one. */
async function whyNothing({ registry }: Site, resource: Resource): Promise<{ text: string; detail: string | null }> {
  const { connection } = resource;
  if (connection === null)
    return { text: 'It is not connected to a repository, and nothing was uploaded.', detail: null };
  const { repository, document } = await readConnection(registry, { ...resource, connection });
  const { state, detail } = connectionState(repository?.value ?? null, document);
  const told = publicDetail(connection.repository, detail);
  if (document?.outcome === 'rejected' || document?.outcome === 'conflict')
    return { text: 'The document was refused.', detail: told };
  if (state === 'failed') return { text: 'The last sync failed.', detail: told };
  if (state === 'detached') return { text: 'The file, branch or repository is gone.', detail: told };
  if (repository === null || repository.value.commit === null)
    return { text: 'The repository has not been synced yet.', detail: null };
  return { text: `The sync found nothing to publish at ${connection.path}.`, detail: told };
}
