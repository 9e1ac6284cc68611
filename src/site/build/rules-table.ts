import { nameOf, selectVersion, type Resource, type Version } from '../../model/resource.ts';
import type { Digest } from '../../model/digest.ts';
import { parseSemanticVersion } from '../../model/label.ts';
import type { PublicSnapshot } from '../../registry/public-snapshot.ts';
import { isServed, latestBases } from './build-items.ts';
import type { BuildManifest, Fields } from './build-manifest.ts';
import { statusHeaders, versionLinks } from '../links.ts';
import type { Site } from '../site.ts';

/** What a build came to, for those who make rules of it. */
export interface Written {
  site: Site;
  snapshot: PublicSnapshot;
  /** What the server sends with files of each kind. */
  headers: BuildManifest['headers'];
  units: BuildManifest['units'];
}

/** What must be told to a web server about a version, beside what holds for every file of a kind. */
export interface VersionRules {
  /** Path of its page and its documents, without an ending: `/@acme/apis/pay@1.4.0`. */
  path: string;
  /** Own header fields: `link`, `deprecation`, `sunset`. */
  headers: Fields;
  /** `Content-Security-Policy` of the page for trying it. */
  policy: string | null;
  /** Digests of the documents by the file's ending: `.json.br`. */
  digests: [string, Digest][];
}

/** All that a web server is told, whichever it is. Each host's rules are written from this and nothing else. */
export interface RulesTable {
  /** Path that all is under, without a slash at its end. */
  base: string;
  headers: Written['headers'];
  versions: VersionRules[];
  /** Paths under which a version stands too: latest, its digest. */
  aliases: [string, string][];
  /** Ranges, and the versions that they mean now. */
  ranges: [string, string][];
  /** Paths of withdrawn versions, and of deleted resources with all their versions. */
  gone: { path: string; isWhole: boolean }[];
}

/** Puts the table together. */
export function rulesTable({ site, snapshot, headers, units }: Written): RulesTable {
  const table: RulesTable = {
    base: new URL(site.url).pathname.replace(/\/$/, ''),
    headers,
    versions: [],
    aliases: [],
    ranges: [],
    gone: snapshot.deleted.map((coordinate) => ({ path: `/${nameOf(coordinate)}`, isWhole: true })),
  };
  for (const resource of snapshot.resources) addResource(table, site, resource, units[nameOf(resource)]!.files);
  return table;
}

function addResource(
  table: RulesTable,
  site: Site,
  resource: Resource,
  files: BuildManifest['units'][string]['files'],
): void {
  const base = `/${nameOf(resource)}`;
  const byPath = new Map(files.map((file) => [`/${file.path}`, file]));
  for (const version of resource.versions) {
    const path = `${base}@${version.label}`;
    if (!isServed(version)) {
      table.gone.push({ path, isWhole: false });
      continue;
    }
    const endings = ['.json', '.yaml'].flatMap((format) => ['', '.gz', '.br', '.zst'].map((coding) => format + coding));
    const digests = endings.flatMap((ending): [string, Digest][] => {
      const digest = byPath.get(`${path}${ending}`)?.digest;
      return digest === undefined ? [] : [[ending, digest]];
    });
    const policy = byPath.get(`${path}/try/index.html`)?.policy ?? null;
    table.versions.push({ path, headers: ownHeaders(site, resource, version), policy, digests });
  }
  const latest = latestBases(resource);
  if (latest !== null) table.aliases.push([base, `/${latest.from}`], [`${base}@latest`, `/${latest.from}`]);
  for (const digest of new Set(resource.versions.map(({ manifest }) => manifest))) {
    const { version } = selectVersion(resource, { kind: 'digest', digest })!;
    if (isServed(version)) table.aliases.push([`${base}@${digest}`, `${base}@${version.label}`]);
    else table.gone.push({ path: `${base}@${digest}`, isWhole: false });
  }
  for (const [range, label] of rangesOf(resource)) table.ranges.push([`${base}@${range}`, `${base}@${label}`]);
}

function ownHeaders(site: Site, resource: Resource, version: Version): Fields {
  const [, deprecation, , sunset] = statusHeaders(version);
  return {
    link: versionLinks(site.links, resource, version),
    ...(deprecation !== undefined && { deprecation }),
    ...(sunset !== undefined && { sunset }),
  };
}

/**
 * The ranges that a version's own numbers can be asked for by (`1`, `1.4`, `^1`, `^1.4`, `^1.4.0`, `~1`, …), each with the label that it means
 * now. Those that begin between two versions are endless, and only a server can answer them.
 */
export function rangesOf(resource: Pick<Resource, 'versions'>): Map<string, string> {
  const found = new Map<string, string>();
  for (const { label } of resource.versions) {
    const parsed = parseSemanticVersion(label);
    if (parsed === null || parsed.prerelease.length > 0) continue;
    const [major, minor, patch] = parsed.core;
    const starts = [`${major}`, `${major}.${minor}`, `${major}.${minor}.${patch}`];
    const ranges = [
      ...starts.slice(0, 2),
      ...starts.map((start) => `^${start}`),
      ...starts.map((start) => `~${start}`),
    ];
    for (const range of ranges) {
      if (found.has(range)) continue;
      const selected = selectVersion(resource as Resource, { kind: 'version', version: range });
      if (selected !== null && !selected.exact && isServed(selected.version)) found.set(range, selected.version.label);
    }
  }
  return found;
}
