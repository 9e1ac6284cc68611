import type { Principal } from '../../model/access.ts';
import { digestOf, type Digest } from '../../model/digest.ts';
import { tooLarge, refused, forbidden } from '../../model/errors.ts';
import { encodeJson, parseJson } from '../../model/json.ts';
import type { Report } from '../../model/problem.ts';
import {
  type DeploymentContents,
  siteRef,
  type Deployment,
  type DocumentationSite,
  type SiteName,
  type SiteOrigin,
} from '../model/documentation-site.ts';
import { findPreview, keepPreview, sweepPreviews, trimPreviews } from '../../store/previews.ts';
import { viewWith } from '../../registry/preview.ts';
import type { Registry } from '../../registry/registry.ts';
import { readObject } from '../../registry/stored.ts';
import type { MadeDeployment, SiteFiles } from './make-deployment.ts';
import { deploymentFor, type PublishSite } from './publish-site.ts';
import { grantPreview, type GrantedSite } from './read-site.ts';

/** A state of a site to show to whoever has its address. */
export interface PreviewSite extends SiteFiles, Pick<PublishSite, 'site' | 'settings' | 'origin' | 'reader'> {
  /** Recorded as who made it. */
  by: string;
}

/** A preview as it is stored, with the objects of its deployment as its parts. */
interface Stored {
  site: SiteName;
  deployment: Deployment;
  parts: Digest[];
  /** The site as a pull request would make it, if the check saw no such site. */
  fresh?: FreshSite;
}

/**
 * A site that a pull request would make. A private one may have the name: it must not show by hiding
 * the preview.
 */
export interface FreshSite {
  /** The repository of the request. */
  from: string;
  record: DocumentationSite;
}

const maxBytes = 128 * 2 ** 20;

/**
 * Renders a state of a site and stores it for `sites.previewDays` days, outside of what is
 * published. Findings that would keep it from being published do not: they are what a preview is
 * for. Throws `forbidden` if previews are turned off, `refused` if there is nothing to show, and
 * `too_large`.
 */
export async function previewSite(
  registry: Registry,
  request: PreviewSite,
): Promise<{ token: string; expiresAt: string; rendered: number; report: Report }> {
  const { site, origin, by } = request;
  const { previewDays } = registry.config.sites;
  if (previewDays === 0) throw forbidden('The configuration turns previews of sites off.');
  const { deployment, site: record, previous } = await deploymentFor(registry, request);
  const { report, rendered } = deployment;
  const fatal = report.problems.find(({ rule }) => rule === 'site-empty' || rule === 'site-limit');
  if (fatal) throw refused(fatal.message, { problems: report.problems });
  const parts = await partsOf(registry, deployment, previous);
  await sweepPreviews(registry);
  const preview = { site, id: record.id, origin, by, manifest: deployment.built.digest, parts };
  const saved = await storeSitePreview(registry, preview, previewDays);
  await trimPreviews(registry, site.org);
  return { ...saved, rendered, report };
}

/** A state of a site that can be stored as a preview. */
export interface SitePreview {
  site: SiteName;
  /** Id of the site, where it has one. */
  id: string | undefined;
  origin: SiteOrigin | null;
  /** Recorded as who made it. */
  by: string;
  manifest: Digest;
  /** All that it needs besides what is published. */
  parts: ReadonlyMap<Digest, Uint8Array>;
  fresh?: FreshSite;
}

/** Stores a preview of a site for some days. */
export async function storeSitePreview(
  registry: Registry,
  { site, id, origin, by, manifest, parts, fresh }: SitePreview,
  days: number,
): Promise<{ token: string; expiresAt: string }> {
  const publishedAt = registry.now().toISOString();
  const ofSite = id === undefined ? {} : { site: id };
  const deployment: Deployment = { label: 'preview', ...ofSite, manifest, publishedAt, by, origin };
  const stored: Stored = { site, deployment, parts: [...parts.keys()], ...(fresh && { fresh }) };
  return keepPreview(registry, site.org, days, encodeJson(stored), parts);
}

/**
 * The objects of a deployment besides those of the one that is published, which are kept anyway:
 * those of drafts are not, once a draft changes.
 */
export async function partsOf(
  registry: Registry,
  { built, bundles, contents }: MadeDeployment,
  previous: DeploymentContents | null,
): Promise<Map<Digest, Uint8Array>> {
  const bundlesOf = ({ pages, files }: DeploymentContents) =>
    [...Object.values(pages), ...Object.values(files)].map(({ bundle }) => bundle);
  const byDigest = new Map([built.manifest, ...built.pieces, ...bundles].map((bytes) => [digestOf(bytes), bytes]));
  const published = new Set(previous && bundlesOf(previous));
  let room = maxBytes;
  for (const { byteLength } of byDigest.values()) room -= byteLength;
  for (const bundle of new Set(bundlesOf(contents))) {
    if (room < 0) throw tooLarge(`The preview has more than ${maxBytes} bytes. Publish the site instead.`);
    if (byDigest.has(bundle) || published.has(bundle)) continue;
    const bytes = await readObject(registry, bundle);
    room -= bytes.byteLength;
    byDigest.set(bundle, bytes);
  }
  return byDigest;
}

/**
 * Opens a preview. `registry` is a view that has its bytes. Null when there is none with this token, or it has expired, or the principal may
 * not read its site: the token opens previews of public sites only; for a private one, its readers
 * need both.
 */
export async function openSitePreview(
  registry: Registry,
  principal: Principal,
  token: string,
): Promise<{ registry: Registry; granted: GrantedSite; expiresAt: string } | null> {
  const preview = await findPreview(registry, token);
  const stored = preview && (parseJson(preview.bytes) as Partial<Stored> | undefined);
  // That of a document has no site.
  if (!preview || !stored?.site) return null;
  const { site, deployment, parts, fresh } = stored as Stored;
  const partKeys = new Set(parts);
  const record = fresh && { name: siteRef(site), value: await asPublished(registry, site, fresh) };
  const view = viewWith(registry, record ?? null, async (digest) =>
    partKeys.has(digest) ? preview.part(digest) : null,
  );
  const granted = await grantPreview(view, principal, site, deployment);
  return granted && { registry: view, granted, expiresAt: preview.expiresAt };
}

/**
 * A site that is not there yet. If its repository has made it meanwhile, the preview is as hidden as that, or as it was
 * itself.
 */
async function asPublished(
  registry: Registry,
  site: SiteName,
  { from, record }: FreshSite,
): Promise<DocumentationSite> {
  const named = (await registry.refs.read<DocumentationSite>(siteRef(site)))?.value;
  const connected = named?.connection?.repository === from ? named : null;
  const visibility = connected?.visibility === 'private' ? 'private' : record.visibility;
  return { ...record, visibility, deletedAt: connected?.deletedAt ?? null };
}
