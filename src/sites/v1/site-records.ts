import { repositoryName } from '../../model/connection.ts';
import { formatSite, type Deployment, type DocumentationSite } from '../model/documentation-site.ts';
import type { FoundDraft } from '../registry/drafts.ts';
import type { Generation } from '../../store/records.ts';

/** A documentation site as described in the API. */
export function siteRecord(url: string, { value: site, at }: Generation<DocumentationSite>): object {
  const { org, slug, title, description, visibility, blockOn, theme, navigation, redirects, versions } = site;
  const { connection, current, createdAt, deletedAt } = site;
  return {
    id: slug,
    organization: org,
    slug,
    title,
    description,
    visibility,
    blockOn,
    theme,
    navigation,
    redirects,
    versions,
    connection:
      deletedAt === null && connection !== null
        ? {
            repository: repositoryName(connection.repository),
            branch: connection.branch,
            folder: connection.folder,
          }
        : null,
    current,
    createdAt,
    updatedAt: at,
    coordinate: formatSite(site),
    url: `${url}/sites/${org}/${slug}/`,
    ...(deletedAt !== null && { deletedAt }),
  };
}

/** A file that the next deployment will have, as described in the API. */
export function fileRecord({ path, file, generation }: FoundDraft): object {
  const { mediaType, size, digest } = file;
  return { path, mediaType, size, digest, updatedAt: generation.at };
}

/** A deployment as described in the API. */
export function deploymentRecord({ current }: DocumentationSite, deployment: Deployment): object {
  const { label, manifest, publishedAt, by, origin, again = null, followed = null } = deployment;
  return {
    id: label,
    digest: manifest,
    publishedAt,
    by,
    origin: origin && { ...origin, repository: repositoryName(origin.repository) },
    again,
    followed,
    current: current === label,
  };
}
