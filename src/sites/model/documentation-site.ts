import type { Visibility } from '../../model/access.ts';
import { isSlug } from '../../model/address.ts';
import type { Digest } from '../../model/digest.ts';
import type { BlockOn, Problem } from '../../model/problem.ts';
import type { Theme } from './theme.ts';
import type { PageFacts } from './source-page.ts';

/** An entry of a site's navigation: a page, a link to elsewhere, or a group of entries. */
export interface NavigationItem {
  /** Default: the page's title. */
  title?: string;
  /** Path of a page. */
  page?: string;
  /** URL of another site. */
  href?: string;
  items?: NavigationItem[];
}

/** One of several states of the documentation that readers switch between. */
export interface SiteVersion {
  title: string;
  /** Folder of this site, with a slash at its end, or the slug of another site of the organization. */
  folder?: string;
  site?: string;
}

/** The settings of a site. A deployment keeps those that it was published with. */
export interface SiteSettings {
  title: string;
  description: string;
  theme: Theme;
  /** Null: made from the pages. */
  navigation: NavigationItem[] | null;
  /** Paths in the site that moved, with the path or web address where they are now. */
  redirects: Readonly<Record<string, string>>;
  versions: SiteVersion[];
}

/** Where a deployment's files came from. Null: files that were sent. */
export interface SiteOrigin {
  repository: string;
  commit: string;
  folder: string;
}

/** One immutable published state of a site. */
export interface Deployment {
  /** Its number: `1` for the first. */
  label: string;
  /** Id of its site. Absent: made before sites had ids. */
  site?: string;
  manifest: Digest;
  /** Bytes that are new in it. Absent: none, or it was published before they were counted. */
  bytes?: number;
  /** ISO 8601, UTC. */
  publishedAt: string;
  /** Who published it: a principal or a part of Stele. */
  by: string;
  origin: SiteOrigin | null;
  /** The earlier deployment that it publishes again. */
  again?: string;
  /** Why Stele published it by itself: an API that it embeds has a new version. */
  followed?: string;
}

/** The folder of a repository that a site is published from. */
export interface SiteConnection {
  repository: string;
  branch: string | null;
  /** Empty: the whole repository. */
  folder: string;
  /** Set when a person connected it: its settings are those of the site. Absent: `stele.yaml` names both. */
  byHand?: true;
  /** Name of a credential in the configuration. */
  credential?: string | null;
}

/** A documentation site: the value of one record. */
export interface DocumentationSite extends SiteSettings {
  /** Tells it from deleted sites that had its name. Absent: made before sites had ids. */
  id?: string;
  org: string;
  slug: string;
  visibility: Visibility;
  /** Which findings keep it from being published: errors alone, warnings too (such as broken links), or none. */
  blockOn: BlockOn;
  connection: SiteConnection | null;
  /** Oldest first, after those of deleted sites that had the name: read them with `deploymentsOf`. */
  deployments: Deployment[];
  /** Label of the deployment that is served; null: none. */
  current: string | null;
  createdAt: string;
  deletedAt: string | null;
}

/** Names a site: `@org/sites/slug`. */
export interface SiteName {
  org: string;
  slug: string;
}

/** The same beside resources, whose coordinates have another type. */
export type SiteCoordinate = SiteName & { type: 'sites' };

export function siteCoordinate({ org, slug }: SiteName): SiteCoordinate {
  return { org, type: 'sites', slug };
}

/** The name of the record that holds a site. */
export function siteRef({ org, slug }: SiteName): string {
  return `sites/${org}/${slug}`;
}

/** Parses the name of a site's record. Null for any other. */
export function parseSiteRef(name: string): SiteName | null {
  const [kind, org, slug] = name.split('/');
  return kind === 'sites' ? { org: org!, slug: slug! } : null;
}

/** A site as text: `@org/sites/slug`. */
export function formatSite({ org, slug }: SiteName): string {
  return `@${org}/sites/${slug}`;
}

/** The path of a site below the registry's address, without a slash at its end. */
export function siteAddress({ org, slug }: SiteName): string {
  return `/sites/${org}/${slug}`;
}

/** Parses a site as text. Null for any other. */
export function parseSite(text: string): SiteName | null {
  const [, org, slug] = /^@([^/]+)\/sites\/([^/]+)$/.exec(text) ?? [];
  return org !== undefined && slug !== undefined && isSlug(org) && isSlug(slug) ? { org, slug } : null;
}

/**
 * Whether something was made for a site, and not for a deleted one that had its name. What has no id
 * was written before sites had ids; its date says which site it belongs to.
 */
export function isMadeFor(
  { id, createdAt }: Pick<DocumentationSite, 'id' | 'createdAt'>,
  record: { site?: string; at: string },
): boolean {
  if (record.site !== undefined) return record.site === id;
  return id === undefined ? record.at >= createdAt : record.at > createdAt;
}

/** The deployments of a site, oldest first. */
export function deploymentsOf(site: DocumentationSite): Deployment[] {
  return site.deployments.filter((each) => isMadeFor(site, { ...each, at: each.publishedAt }));
}

/** The deployment that is served, or null. */
export function currentOf(site: DocumentationSite): Deployment | null {
  return deploymentsOf(site).find(({ label }) => label === site.current) ?? null;
}

/** The settings alone, with defaults for those that are absent. */
export function settingsOf({
  title,
  description = '',
  theme = {},
  navigation = null,
  redirects = {},
  versions = [],
}: Partial<SiteSettings> & Pick<SiteSettings, 'title'>): SiteSettings {
  return { title, description, theme, navigation, redirects, versions };
}

/** A file that was sent for a site and is published with the next deployment: the value of one record. */
export interface Draft {
  /** Id of its site. Absent: sent before sites had ids. */
  site?: string;
  /** Null: the file was deleted. */
  file: DraftFile | null;
}

export interface DraftFile extends BundlePlace {
  digest: Digest;
  mediaType: string;
  /** Of a page that was sent as its parts; null: the file is as it was sent. */
  page: { title: string; api: string | null } | null;
}

/** Where bytes are stored: a part of an object. */
export interface BundlePlace {
  bundle: Digest;
  at: number;
  size: number;
}

/** The name of the record that holds a file of a site. */
export function draftRef(site: SiteName, path: string): string {
  return `site-files/${site.org}/${site.slug}/${path}`;
}

/** Whether a record is a file of a site. */
export function isDraftRef(name: string): boolean {
  return name.startsWith('site-files/');
}

/** A page of a deployment. The place is that of its content. */
export interface DeployedPage extends BundlePlace {
  /** Identifies the bytes of its file: a digest, or the id of a blob. */
  source: string;
  facts: PageFacts;
  /**
   * The time of the commit that changed its file last. `isEarlier`: that or an earlier one did, since the first deployment
   * from git had it already. Absent: it was sent, or deployed before this was kept.
   */
  lastChange?: { at: string; isEarlier?: true };
  /** Problems that rendering found. Absent: none. */
  problems?: Problem[];
}

/** Another file of a deployment. */
export interface DeployedFile extends BundlePlace {
  source: string;
  digest: Digest;
  mediaType: string;
}

/** The version that an embedded reference meant when the site was published. */
export interface EmbeddedVersion {
  manifest: Digest;
  label: string;
  /** Whether the page asks for the newest one, so that a new version publishes the site again. */
  follows: boolean;
}

/**
 * Everything that a deployment consists of: the `config` object of its manifest. Contains no time but
 * those of commits: the same files and settings again give the same digest.
 */
export interface DeploymentContents {
  format: 1;
  /** The code that rendered the pages. */
  renderer: string;
  settings: SiteSettings;
  /** By path, in order. */
  pages: Readonly<Record<string, DeployedPage>>;
  files: Readonly<Record<string, DeployedFile>>;
  /** By coordinate as written. Those that the publisher could not read are missing. */
  embeds: Readonly<Record<string, EmbeddedVersion>>;
  /** The report of its publication. */
  report: Digest;
}

/** `artifactType` of a deployment's manifest. */
export const siteArtifactType = 'application/vnd.stele.site.v1';

/** The pages that lists, feeds and search show. */
export function listedPages({ pages }: DeploymentContents): [string, DeployedPage][] {
  return Object.entries(pages).filter(([, { facts }]) => !facts.hidden);
}
