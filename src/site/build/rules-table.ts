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
  /** Paths of documentation sites that lead elsewhere for good, each with where. */
  moved: readonly [string, string][];
}

/** What a web server must know about a version, besides the fields of its kinds of files. */
export interface VersionRules {
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

/** What a web server must know about a resource. */
export interface ResourceRules {
  /** Null: it has only a page, or nothing. */
  latest: string | null;
  /** Whether it was deleted. */
  isGone: boolean;
  /** By label. */
  versions: Map<string, VersionRules>;
  /** Labels by the digests that name them. */
  digests: Map<string, string>;
  /** Ranges, each with the label that it means now. */
  ranges: Map<string, string>;
  /** Labels and digests of withdrawn versions. */
  gone: string[];
}

/**
 * Everything that a web server must know. The rules of each web server are generated from this
 * alone.
 */
export interface RulesTable extends Pick<RuleFile, 'problems' | 'headers' | 'codings' | 'moved'> {
  /** Base path without a trailing slash. */
  base: string;
  /** Public base URL without a trailing slash. */
  url: string;
  /** By path: `/@acme/apis/pay`. */
  resources: Map<string, ResourceRules>;
}

/** Creates the table. */
export function rulesTable({ site, snapshot, units, ...same }: RuleFile): RulesTable {
  const { headers, codings, problems, moved } = same;
  const resources = new Map(snapshot.deleted.map((name) => [`/${nameOf(name)}`, { ...noRules(), isGone: true }]));
  for (const resource of snapshot.resources)
    resources.set(`/${nameOf(resource)}`, rulesOf(site, resource, units[nameOf(resource)]!.files));
  const base = new URL(site.url).pathname.replace(/\/$/, '');
  return { base, url: site.url, problems, headers, codings, moved, resources };
}

function noRules(): ResourceRules {
  return { latest: null, isGone: false, versions: new Map(), digests: new Map(), ranges: new Map(), gone: [] };
}

function rulesOf(site: Site, resource: Resource, files: readonly BuiltFile[]): ResourceRules {
  const rules = { ...noRules(), ranges: rangesOf(resource), latest: latestBases(resource) && resource.latest };
  const byPath = new Map(files.map((file) => [`/${file.path}`, file]));
  for (const version of resource.versions) {
    if (!isServed(version)) {
      rules.gone.push(version.label);
      continue;
    }
    const path = `/${nameOf(resource)}@${version.label}`;
    const plain = ['.json', '.yaml'];
    const endings = plain.flatMap((format) => ['', '.gz', '.br', '.zst'].map((coding) => format + coding));
    const valuesOf = <T>(some: readonly string[], of: (file: BuiltFile) => T | undefined) =>
      some.flatMap((ending): [string, T][] => {
        const file = byPath.get(`${path}${ending}`);
        const value = file && of(file);
        return value === undefined ? [] : [[ending, value]];
      });
    rules.versions.set(version.label, {
      headers: ownHeaders(site, resource, version),
      policy: byPath.get(`${path}/try/index.html`)?.policy ?? null,
      pagePolicy: byPath.get(`${path}/index.html`)?.policy ?? null,
      digests: valuesOf(endings, ({ digest }) => digest),
      sizes: valuesOf(plain, ({ size }) => size),
    });
  }
  for (const digest of new Set(resource.versions.map(({ manifest }) => manifest))) {
    const { version } = selectVersion(resource, { kind: 'digest', digest })!;
    if (isServed(version)) rules.digests.set(digest, version.label);
    else rules.gone.push(digest);
  }
  return rules;
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
