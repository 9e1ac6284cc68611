import { changesOf } from '../../model/compared-with.ts';
import { kinds, types } from '../../model/kinds.ts';
import type { ArtifactConfig } from '../../model/artifact.ts';
import { whyLatest } from '../../model/latest.ts';
import { aboutOf, nameOf, neighbours, type Resource, type Version, isPublished } from '../../model/resource.ts';
import type { Rendered } from '../../compile/sandboxes.ts';
import { renderedOf, renderedPart, wholePart } from '../../registry/derived.ts';
import { withoutFindings, showReport } from '../../registry/gate/show-report.ts';
import { readConfig, readReport, type GrantedVersion, type Granted } from '../../registry/read.ts';
import {
  crumbsOf,
  organizationTitle,
  dayOf,
  commitLinks,
  fileLinks,
  provenanceOf,
  specificationOf,
} from './describe-version.ts';
import { subscriptionOf, feedLink } from '../feeds.ts';
import { canonicalOf, replacementOf } from '../links.ts';
import { excerpt, labelsOf, type Related } from './listings.ts';
import { showImages } from './show-images.ts';
import { describeReport } from './version-pages.ts';
import type { Site } from '../site.ts';
import { describeChanges } from './diff-page.ts';
import type { Pages } from '../../model/outline.ts';
import type { Config } from '../../config.ts';
import { organizationIn } from '../../config/organization-config.ts';
import { escapeHtml } from '../../model/escape.ts';
import type { Principal } from '../../model/access.ts';
import { publicDetail, connectionState } from '../../model/connection.ts';
import { readConnection } from '../../sync/connect.ts';
import type { Digest } from '../../model/digest.ts';
import type { Report } from '../../model/problem.ts';
import { readJson } from '../../registry/stored.ts';
import { mayRead } from '../../registry/readable.ts';
import { docPath } from '../docs/docs.ts';

/**
 * The number of versions that the list shows folded and unfolded. The others are at `…/versions`.
 */
const versionsShown = { first: 6, all: 500 };

/**
 * A page or its Markdown. `isWhole`: false if a part could not be rendered, for example because a
 * sandbox died.
 */
export interface ResourcePage {
  text: string;
  isWhole: boolean;
}

/**
 * The page of one version of a resource, the same for latest and for its label. That of a preview
 * has no links to the version, since it has no URL yet.
 */
export async function resourcePage(
  site: Site,
  granted: GrantedVersion,
  related: Related,
  preview: { expires: ReturnType<typeof dayOf> } | null = null,
): Promise<ResourcePage> {
  const { registry, links } = site;
  const { resource, version } = granted;
  const [config, report, rendered, changes] = await Promise.all([
    readConfig(registry, granted),
    readReport(registry, granted),
    renderedOf(registry, granted),
    describeChanges(site, granted),
  ]);
  const pinned = (format: 'json' | 'yaml') => links.url(resource, { label: version.label, format });
  const isLatest = resource.latest === version.label;
  const reference = rendered && (await referenceOf(site, granted, rendered, preview !== null));
  const isFirst = neighbours(resource, version).predecessor === null;
  const text = site.page('resource', {
    org: resource.org,
    title: `${resource.name} ${version.label}`,
    description: excerpt(aboutOf(resource)),
    crumbs: crumbsOf(site, resource),
    ...(preview === null && { canonical: links.whole(canonicalOf(links, resource, version)) }),
    hidden: preview !== null || resource.visibility === 'private',
    ...(preview === null && resource.visibility === 'public' && { structured: structuredOf(site, granted) }),
    preview,
    alternates:
      preview !== null
        ? []
        : [
            { href: pinned('json'), type: 'application/json', title: 'JSON' },
            { href: pinned('yaml'), type: 'application/yaml', title: 'YAML' },
            {
              href: links.url(resource, { label: version.label, view: 'markdown' }),
              type: 'text/markdown',
              title: 'Markdown',
            },
            feedLink(site, { kind: 'resource', coordinate: resource }),
          ],
    resource: {
      name: resource.name,
      coordinate: nameOf(resource),
      type: resource.type,
      typeTitle: types[resource.type].many,
      description: resource.description,
      isPrivate: resource.visibility === 'private',
      ...labelsOf(site, resource),
      ruleset: related.ruleset,
    },
    version: {
      label: version.label,
      original: version.original ?? null,
      isLatest,
      manifest: version.manifest,
      commit: version.commit ?? null,
      published: dayOf(version.publishedAt),
      created: version.createdAt === undefined ? null : dayOf(version.createdAt),
      specification: specificationOf(config),
      state: version.status.state,
    },
    banner: bannerOf(site, resource, version),
    newest: isLatest || resource.latest === null ? null : { label: resource.latest, href: links.to(resource) },
    urls:
      preview !== null
        ? []
        : [
            { name: 'JSON', url: pinned('json') },
            { name: 'YAML', url: pinned('yaml') },
          ],
    versions: versionsOf(site, resource, version),
    changes,
    report: describeReport(related.areFindingsShown ? report : withoutFindings(report), fileLinks(config)),
    reportHref: links.to(resource, { label: version.label, view: 'report' }),
    provenance: provenanceOf(config),
    issueHref: commitLinks(config.provenance.repository, config.provenance.commit)?.issue(
      `${nameOf(resource)} ${version.label}: `,
    ),
    subscription: preview === null ? subscriptionOf(site, resource) : null,
    provenanceHref: links.to(resource, { label: version.label, view: 'provenance' }),
    embed: preview === null ? embedSnippet(site, granted) : null,
    reference,
    tryHref:
      kinds[config.kind].isTryable && preview === null
        ? links.to(resource, { label: version.label, view: 'try' })
        : null,
    validator:
      resource.type === 'schemas' && preview === null
        ? validatorOf(site, config, links.to(resource, { label: version.label, format: 'json' }))
        : null,
    users: related.users,
    dependantsHref: preview === null ? links.to(resource, { view: 'dependants' }) : null,
    scripts: ['reference.js', ...(resource.type === 'schemas' && preview === null ? ['validate.js'] : [])],
  });
  return { text, isWhole: rendered !== null && (isFirst || changes !== null) };
}

/**
 * The reference on the page. Of a long document only the overview, whose links lead to its parts; a
 * preview has no parts and no images, since they would need URLs.
 */
async function referenceOf(
  site: Site,
  granted: GrantedVersion,
  { html, navigation, truncated, pages }: Rendered,
  isPreview: boolean,
): Promise<object | null> {
  const shown = (text: string) =>
    showImages(site, granted.resource, text, { hrefOf: isPreview ? null : imageHref(site, granted) });
  if (pages === null) return { html: shown(html), navigation, truncated, whole: null };
  if (isPreview) {
    const whole = await renderedPart(site.registry, granted, wholePart);
    return whole === null ? null : { html: shown(whole), navigation, truncated, whole: null };
  }
  const to = (part: string | null) => partHref(site, granted, part);
  const linked = (text: string) => linkParts(text, pages, null, to);
  return { html: shown(linked(pages.overview)), navigation: linked(navigation), truncated, whole: to(wholePart) };
}

/** The path of an image of a version, by its name. */
export function imageHref({ links }: Site, { resource, version }: GrantedVersion): (name: string) => string {
  return (name) => links.to(resource, { label: version.label, view: 'image', part: name });
}

/** The path of a part of a version's page; null: the page with the overview. */
export function partHref({ links }: Site, { resource, version }: GrantedVersion, part: string | null): string {
  const { label } = version;
  return links.to(resource, part === null ? { label } : { label, view: 'part', part });
}

/** What search engines read of a version. */
function structuredOf(site: Site, { resource, version }: GrantedVersion): object {
  const url = site.links.whole(canonicalOf(site.links, resource, version));
  return {
    '@type': resource.type === 'apis' ? 'WebAPI' : 'TechArticle',
    name: resource.name,
    description: excerpt(aboutOf(resource)),
    version: version.label,
    url,
    ...(resource.type === 'apis' && { documentation: url }),
    dateModified: version.publishedAt,
    provider: { '@type': 'Organization', name: organizationTitle(site, resource.org) },
  };
}

function bannerOf(site: Site, resource: Resource, version: Version): object | null {
  const { status } = version;
  if (status.state === 'active' || status.state === 'withdrawn') return null;
  const href = replacementOf(site.links, resource, version);
  const deprecated = status.state === 'deprecated' ? status : null;
  return {
    state: status.state,
    reason: status.reason,
    since: dayOf(status.since),
    sunset: deprecated?.sunset === undefined ? null : dayOf(deprecated.sunset),
    replacement: href === null || deprecated === null ? null : { href, text: deprecated.replacement },
  };
}

/**
 * The versions of a resource for its pages, newest first. `current`: the version that the page
 * shows.
 */
export function versionsOf(site: Site, resource: Resource, current: Version | null): object {
  const all = resource.versions
    .toReversed()
    .slice(0, versionsShown.all)
    .map((version) => ({
      label: version.label,
      href: version.status.state === 'withdrawn' ? null : site.links.to(resource, { label: version.label }),
      date: dayOf(version.createdAt ?? version.publishedAt),
      state: version.status.state,
      isLatest: version.label === resource.latest,
      isBreaking: changesOf(resource, version)?.verdict === 'breaking',
      isCurrent: version.label === current?.label,
    }));
  return {
    count: resource.versions.length,
    whyLatest: whyLatest(resource),
    first: all.slice(0, versionsShown.first),
    folded: all.slice(versionsShown.first),
    more: resource.versions.length - all.length,
    href: site.links.to(resource, { view: 'versions' }),
  };
}

/** The data for `validate.js`: the schema, the validator's modules, and the validator's name for the draft. */
function validatorOf(site: Site, { specification }: ArtifactConfig, schema: string): object {
  const drafts: Record<string, string> = { 'draft-04': '4', '2019-09': '2019-09', '2020-12': '2020-12' };
  return {
    schema,
    draft: drafts[specification] ?? '7',
    worker: site.links.path(site.assets.path('validate-worker.js')),
    module: site.links.path(site.assets.path('json-schema/index.js')),
  };
}

/**
 * Points links to anchors at the page of a long document that has them. `current`: the part that
 * the links are on; null: the overview. `hrefOf`: the page of a part, or of the overview.
 */
export function linkParts(
  html: string,
  { parts }: Pages,
  current: string | null,
  hrefOf: (part: string | null) => string,
): string {
  const places = new Map(parts.flatMap(({ name, anchors }) => anchors.map((anchor) => [anchor, name] as const)));
  // Text is escaped, so this is an element. Rendered links have no other attribute before.
  return html.replace(/<a href="#([A-Za-z0-9._/-]+)"/g, (link, anchor: string) => {
    const part = places.get(anchor) ?? null;
    return part === current ? link : `<a href="${hrefOf(part)}#${anchor}"`;
  });
}

/** The origins whose pages may frame embeds of an organization, besides the registry itself. */
export function embedOrigins(config: Pick<Config, 'organizations' | 'embedOrigins'>, org: string): readonly string[] {
  return organizationIn(config, org)?.embedOrigins ?? config.embedOrigins;
}

/** The HTML that readers of a version's page may copy to embed it. Null: nobody may frame it. */
function embedSnippet(site: Site, { resource, version }: GrantedVersion): string | null {
  const { links, registry } = site;
  if (site.isStatic || resource.visibility !== 'public') return null;
  if (embedOrigins(registry.config, resource.org).length === 0) return null;
  const url = links.url(resource, { label: version.label, view: 'embed' });
  const id = `stele-${resource.slug}`;
  return `<iframe id="${id}" title="${escapeHtml(resource.name)}" src="${url}" width="100%" height="600" style="border: 0" loading="lazy"></iframe>
<script>
  addEventListener('message', ({ source, data }) => {
    const frame = document.getElementById('${id}');
    if (source === frame.contentWindow && data.stele === 'height') frame.height = data.height;
  });
</script>`;
}

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
      coordinate: nameOf(resource),
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
    return { text: 'The repository has not been synced yet.', detail: shownDetail };
  return { text: `The last sync found no document at ${connection.path}.`, detail: shownDetail };
}
