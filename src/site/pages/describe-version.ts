import { viewInWords, type ArtifactConfig } from '../../model/artifact.ts';
import { hostKinds, productOf } from '../../hosts/host.ts';
import { formatJob } from '../../model/access.ts';
import { kinds, types } from '../../model/kinds.ts';
import { formatAddress } from '../../model/address.ts';
import { nameOf, type Resource } from '../../model/resource.ts';
import type { Crumb, Site } from '../site.ts';
import { organizationIn } from '../../config/organization-config.ts';

/** The pages of a git host for one commit and its files. */
export type CommitLinks = NonNullable<ReturnType<typeof commitLinks>>;

/** What the pages of public git hosts begin with, by the name of the host. */
const hosts = new Map(
  hostKinds
    .map(productOf)
    .flatMap(({ publicUrl, pages }) => (publicUrl && pages ? [[new URL(publicUrl).hostname, pages]] : [])),
);

/** Returns the pages of a commit, or null if the host is not known. */
export function commitLinks(repository: string | null, commit: string | null) {
  const url = repository === null ? null : URL.parse(repository);
  if (url === null || commit === null || url.protocol !== 'https:' || url.username !== '' || url.port !== '')
    return null;
  const host = hosts.get(url.hostname);
  if (host === undefined || !/^[0-9a-f]{40,64}$/.test(commit)) return null;
  const base = `${url.origin}${url.pathname.replace(/\/$/, '').replace(/\.git$/, '')}`;
  const encoded = (path: string) => path.split('/').map(encodeURIComponent).join('/');
  return {
    repository: base,
    commit: `${base}${host.commit}${commit}`,
    /** The page of a file, at a line number. */
    file(path: string, line?: number): string {
      const place = line === undefined ? '' : `${host.line ?? '#L'}${line}`;
      return `${base}${host.file}${commit}/${encoded(path)}${place}`;
    },
    /** The page of a file as it is now on a branch, where people change it. */
    latest: (path: string, branch: string): string =>
      `${base}${host.file.replace('/commit/', '/branch/')}${encoded(branch)}/${encoded(path)}`,
    /** The form for a new issue, with its title filled in. */
    issue: (title: string): string => `${base}${host.issue}${encodeURIComponent(title)}`,
  };
}

/** `OpenAPI 3.1.0`. */
export function specificationOf({ kind, specification }: ArtifactConfig): string {
  const { title, isVersioned } = kinds[kind];
  return isVersioned ? `${title} ${specification}` : title;
}

/** Links to the commit. Null if the document does not come from one. */
export function fileLinks({ provenance: { repository, commit, job } }: ArtifactConfig): ReturnType<typeof commitLinks> {
  return job ? null : commitLinks(repository, commit);
}

/** Where a version came from, for pages. */
export function provenanceOf(config: ArtifactConfig): object {
  const { provenance, compiler, view } = config;
  const { repository, commit, path, job, signer } = provenance;
  const pages = commitLinks(repository, commit);
  return {
    repository: pages?.repository.replace('https://', '') ?? repository,
    repositoryHref: pages?.repository ?? null,
    commit,
    commitHref: pages?.commit ?? null,
    path,
    fileHref: fileLinks(config)?.file(path) ?? null,
    signer: signer ?? null,
    job: job ? formatJob(job) : null,
    jobHref: job?.run?.startsWith('https://') ? job.run : null,
    view: view ? viewInWords(view) : null,
    compiler,
  };
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** Formats a time (ISO 8601) as its day in UTC: `1 Mar 2026`. Independent of the locale. */
export function dayOf(iso: string): { iso: string; text: string } {
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return { iso, text: iso };
  return { iso, text: `${date.getUTCDate()} ${months[date.getUTCMonth()]} ${date.getUTCFullYear()}` };
}

/** The breadcrumbs of a resource, from its organization. */
export function crumbsOf(site: Site, { org, type, name }: Resource): Crumb[] {
  const path = (address: Parameters<typeof formatAddress>[0]) => site.links.path(formatAddress(address));
  return [
    { text: organizationTitle(site, org), href: path({ kind: 'organization', org }) },
    { text: types[type].many, href: path({ kind: 'type', org, type }) },
    { text: name },
  ];
}

/** The breadcrumbs of a page below that of a resource, or of one of its versions. */
export function crumbsWithin(site: Site, resource: Resource, title: string, label?: string): Crumb[] {
  const [org, type, own] = crumbsOf(site, resource);
  const at = { href: site.links.to(resource, label === undefined ? {} : { label }) };
  const text = label === undefined ? own!.text : `${own!.text} ${label}`;
  return [org!, type!, { text, ...at }, { text: title }];
}

/** What a page below that of a resource, or of one of its versions, says of it. */
export function pageWithin(site: Site, resource: Resource, title: string, label?: string) {
  const href = site.links.to(resource, label === undefined ? {} : { label });
  return {
    org: resource.org,
    crumbs: crumbsWithin(site, resource, title, label),
    hidden: true,
    resource: { name: resource.name, coordinate: nameOf(resource), href },
    ...(label !== undefined && { label }),
  };
}

/** The display name of an organization: from the configuration, or its name in URLs. */
export function organizationTitle(site: Site, org: string): string {
  return organizationIn(site.registry.config, org)?.name ?? org;
}
