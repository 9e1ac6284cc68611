import { nameOf, selectVersion, type Resource, type Version } from '../../model/resource.ts';
import { readerOf } from '../../model/label.ts';
import type { Digest } from '../../model/digest.ts';
import type { PublicSnapshot } from '../../registry/public-snapshot.ts';
import { isServed, latestBases } from './build-items.ts';
import type { BuildManifest, BuiltFile, Fields } from './build-folder.ts';
import { statusHeaders, versionLinks } from '../links.ts';
import type { ProblemKind } from '../pages/message-pages.ts';
import type { Site } from '../site.ts';

/** The result of a build, for the generators of rules. */
export interface RuleFile {
  site: Site;
  snapshot: PublicSnapshot;
  /** The codings of each file besides the plain one. */
  codings: readonly string[];
  /** The header fields for each kind of file. */
  headers: BuildManifest['headers'];
  units: BuildManifest['units'];
  /** The kinds of problems, as `/problems` lists them. */
  problems: readonly ProblemKind[];
  moved: RulesTable['moved'];
}

/** What a web server must know about a version, besides the fields of its kinds of files. */
export interface VersionRules {
  /** Path of its page and documents, without extension: `/@acme/apis/pay@1.4.0`. */
  path: string;
  /** Own header fields: `link`, `deprecation`, `sunset`. */
  headers: Fields;
  /** `Content-Security-Policy` of its page for trying requests. */
  policy: string | null;
  /** That of its other pages, where they show images of other hosts. */
  pagePolicy: string | null;
  /** Digests of the documents by file extension: `.json.br`. */
  digests: [string, Digest][];
  /** Sizes of the plain documents in bytes, by file extension. */
  sizes: [string, number][];
}

/**
 * Everything that a web server must know. The rules of each web server are generated from this
 * alone.
 */
export interface RulesTable {
  /** Base path without a trailing slash. */
  base: string;
  /** Public base URL without a trailing slash. */
  url: string;
  /** Problem documents by code. */
  problems: readonly ProblemKind[];
  headers: RuleFile['headers'];
  codings: RuleFile['codings'];
  versions: VersionRules[];
  /** Further paths of versions: latest, and the digest. */
  aliases: [string, string][];
  /** Ranges and the versions that they currently resolve to. */
  ranges: [string, string][];
  /** Paths of documentation sites that lead elsewhere for good, each with where. */
  moved: readonly [string, string][];
  /** Paths of resources without a latest version, which have only a page. */
  unpublished: string[];
  /** Paths of withdrawn versions, and of deleted resources and their versions. */
  gone: { path: string; isWhole: boolean }[];
}

/** Creates the table. */
export function rulesTable({ site, snapshot, codings, headers, units, problems, moved }: RuleFile): RulesTable {
  const table: RulesTable = {
    base: new URL(site.url).pathname.replace(/\/$/, ''),
    url: site.url,
    problems,
    headers,
    codings,
    versions: [],
    aliases: [],
    ranges: [],
    moved,
    unpublished: snapshot.resources.filter(({ latest }) => latest === null).map((resource) => `/${nameOf(resource)}`),
    gone: snapshot.deleted.map((coordinate) => ({ path: `/${nameOf(coordinate)}`, isWhole: true })),
  };
  for (const resource of snapshot.resources) addResource(table, site, resource, units[nameOf(resource)]!.files);
  return table;
}

function addResource(table: RulesTable, site: Site, resource: Resource, files: readonly BuiltFile[]): void {
  const base = `/${nameOf(resource)}`;
  const byPath = new Map(files.map((file) => [`/${file.path}`, file]));
  for (const version of resource.versions) {
    const path = `${base}@${version.label}`;
    if (!isServed(version)) {
      table.gone.push({ path, isWhole: false });
      continue;
    }
    const plain = ['.json', '.yaml'];
    const endings = plain.flatMap((format) => ['', '.gz', '.br', '.zst'].map((coding) => format + coding));
    const valuesOf = <T>(some: readonly string[], of: (file: BuiltFile) => T | undefined) =>
      some.flatMap((ending): [string, T][] => {
        const file = byPath.get(`${path}${ending}`);
        const value = file && of(file);
        return value === undefined ? [] : [[ending, value]];
      });
    const policy = byPath.get(`${path}/try/index.html`)?.policy ?? null;
    const pagePolicy = byPath.get(`${path}/index.html`)?.policy ?? null;
    const digests = valuesOf(endings, ({ digest }) => digest);
    const sizes = valuesOf(plain, ({ size }) => size);
    table.versions.push({ path, headers: ownHeaders(site, resource, version), policy, pagePolicy, digests, sizes });
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
  const { Deprecation: deprecation, Sunset: sunset } = statusHeaders(version);
  return {
    link: versionLinks(site.links, resource, version),
    ...(deprecation !== undefined && { deprecation }),
    ...(sunset !== undefined && { sunset }),
  };
}

/**
 * The most consecutive minor and patch numbers from zero. Beyond them, ranges start only at
 * published versions.
 */
const counted = 100;

/**
 * The ranges that start at or below a published number (`1`, `1.4`, `^1`, `^1.0`, `~1.4.2`, …),
 * each with the label that it resolves to: every minor up to the highest of its major, every patch
 * up to the highest of its minor. Others resolve to nothing or start between two versions, as
 * `^1.3.7` does without a version 1.3.
 */
export function rangesOf(resource: Pick<Resource, 'versions'>): Map<string, string> {
  const values = new Map<string, string>();
  for (const start of startsOf(resource)) {
    const isWhole = start.split('.').length === 3;
    for (const range of [...(isWhole ? [] : [start]), `^${start}`, `~${start}`]) {
      const selected = selectVersion(resource as Resource, { kind: 'version', version: range });
      if (selected !== null && !selected.exact && isServed(selected.version)) values.set(range, selected.version.label);
    }
  }
  return values;
}

/** The possible starts of ranges: `1`, `1.4`, `1.4.2`. */
function startsOf({ versions }: Pick<Resource, 'versions'>): Set<string> {
  const read = readerOf(versions);
  const patches = new Map<string, Map<bigint, bigint[]>>();
  for (const { label } of versions) {
    const parsed = read(label);
    if (parsed === null || parsed.prerelease.length > 0) continue;
    const [major, minor, patch] = parsed.core;
    const minors = patches.getOrInsertComputed(`${major}`, () => new Map<bigint, bigint[]>());
    minors.getOrInsert(minor, []).push(patch);
  }
  const starts = new Set<string>();
  for (const [major, minors] of patches) {
    starts.add(major);
    for (const minor of upTo([...minors.keys()])) {
      starts.add(`${major}.${minor}`);
      for (const patch of upTo(minors.get(minor) ?? [0n])) starts.add(`${major}.${minor}.${patch}`);
    }
  }
  return starts;
}

/** These numbers and all below the highest. */
function upTo(numbers: readonly bigint[]): Set<bigint> {
  const highest = numbers.reduce((most, each) => (each > most ? each : most), 0n);
  const below = highest > counted ? counted : Number(highest);
  return new Set([...Array.from({ length: below + 1 }, (_, number) => BigInt(number)), ...numbers]);
}
