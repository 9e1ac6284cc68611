import type { Load } from '../../compile/compile.ts';
import { notRead } from '../../compile/reference.ts';
import { anonymous, type Principal } from '../../model/access.ts';
import { isUrlPath, formatCoordinate, parseDocumentUrl, type Coordinate, type Selector } from '../../model/address.ts';
import { findDependency, rangeOf, type Dependency } from '../../model/dependency.ts';
import type { Digest } from '../../model/digest.ts';
import { problemAtFile, type Problem } from '../../model/problem.ts';
import { nameOf, selectVersion, type Resource, type Version } from '../../model/resource.ts';
import type { SnapshotFile } from '../../source/snapshot.ts';
import { findReadable } from '../readable.ts';
import type { Registry } from '../registry.ts';
import { documentOf, readConfigOf, readObject } from '../stored.ts';

type Referrer = Pick<Resource, 'org' | 'type' | 'slug' | 'visibility'>;

/** Documents of this registry that one document may refer to, and those that they lead to in a row and in all. */
const maxDirect = 100;
const maxLevels = 10;
const maxInAll = 1000;

/**
 * Lets a document refer to others of this registry by URL. `reader`: with whose rights; default: those
 * of the organization. A public document refers to public ones only, and to no others of other
 * organizations: a bundle is never more public than what is in it. What may not be read looks absent.
 */
export function openReferences(
  registry: Pick<Registry, 'config' | 'refs' | 'log' | 'objects'>,
  referrer: Referrer,
  read: Load,
  reader?: Principal,
) {
  const { url } = registry.config;
  const given = new Map<string, Dependency>();
  let asked = 0;
  let bytes = 0;

  async function open(path: string): Promise<SnapshotFile> {
    const named = parseDocumentUrl(path);
    if (named === null || url === null || !isSameUrl(named.registry, url)) return notRead(path);
    const refuse = (rule: string, message: string) => refused(path, rule, message);
    if (++asked > maxDirect)
      return refuse('limit-documents', `A document may refer to ${maxDirect} others of the registry. Merge some.`);
    const { coordinate, selector } = named;
    if (nameOf(referrer) === formatCoordinate(coordinate))
      return refuse('ref-cycle', 'A document must not refer to a version of itself. Use a pointer such as "#/…".');
    const target = await findTarget(registry, readerFor(referrer, reader), coordinate, selector);
    if (target === null || !isOpenTo(referrer, target.resource))
      return refuse('ref-absent', absent(referrer, formatCoordinate(coordinate, selector)));
    const { label, manifest } = target.version;
    const problem = await checkChain(registry, referrer, coordinate, manifest);
    if (problem !== null) return refuse(problem.rule, problem.message);
    const { digest, size } = await documentOf(registry, target.version);
    // Bytes over the limits need not be read to be refused.
    const { fileBytes, bundleBytes } = registry.config.limits;
    bytes += size;
    if (size > fileBytes || bytes > bundleBytes)
      return refuse('limit-bundle-bytes', `With ${size} bytes, it makes the document too large.`);
    const range = rangeOf(selector);
    const dependency: Dependency = {
      coordinate: formatCoordinate(coordinate),
      range,
      version: label,
      digest: manifest,
      how: 'url',
    };
    given.set(`${dependency.coordinate}@${range}`, dependency);
    return { path, found: true, bytes: await readObject(registry, digest, manifest), blob: manifest };
  }

  // The files are read twice: to look for a remembered result, and to compile.
  const opened = new Map<string, Promise<SnapshotFile>>();
  function openOnce(path: string): Promise<SnapshotFile> {
    return opened.getOrInsertComputed(path, () => open(path));
  }

  return {
    /** Reads the JSON of a published document by its URL, the same each time. `blob`: the digest of its manifest. */
    load: loadWith(read, openOnce),
    /** What was answered so far, by coordinate and range. */
    dependencies: (): Dependency[] => [...given.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, each]) => each),
  };
}

/** Reads files with the documents that a version referred to when it was published. */
export function pinnedReferences(
  registry: Pick<Registry, 'objects'>,
  read: Load,
  dependencies: readonly Dependency[],
): Load {
  return loadWith(read, async (path) => {
    const named = parseDocumentUrl(path);
    const pinned = named && findDependency(dependencies, named.coordinate, named.selector);
    if (pinned?.how !== 'url') return notRead(path);
    const manifest = pinned.digest;
    const { digest } = await documentOf(registry, { manifest });
    return { path, found: true, bytes: await readObject(registry, digest, manifest), blob: manifest };
  });
}

/** The manifest of the version that a URL means now to a document, or null: the blob that it would be read as. */
export async function meaningOf(
  registry: Pick<Registry, 'config' | 'refs' | 'log' | 'objects'>,
  referrer: Referrer,
  url: string,
): Promise<Digest | null> {
  const named = parseDocumentUrl(url);
  if (named === null || registry.config.url === null || !isSameUrl(named.registry, registry.config.url)) return null;
  const target = await findTarget(registry, readerFor(referrer), named.coordinate, named.selector);
  return target && isOpenTo(referrer, target.resource) ? target.version.manifest : null;
}

/** The version that a reference means now. Null if it does not exist, was withdrawn, or may not be read. */
export async function findTarget(
  registry: Pick<Registry, 'refs' | 'log'>,
  reader: Principal,
  coordinate: Coordinate,
  selector: Selector,
): Promise<{ resource: Resource; version: Version } | null> {
  const resource = (await findReadable(registry, reader, coordinate))?.value ?? null;
  const version = resource && selectVersion(resource, selector)?.version;
  return resource && version && version.status.state !== 'withdrawn' ? { resource, version } : null;
}

/** An organization as a reader of its own resources. */
export function organizationReader(org: string): Principal {
  return { kind: 'key', id: 'references', org, scopes: ['read'], resources: null };
}

/** A resource may refer only to what all of its own readers may read. */
function readerFor({ org, visibility }: Referrer, reader: Principal = organizationReader(org)): Principal {
  return visibility === 'public' ? anonymous : reader;
}

function isOpenTo({ org }: Referrer, target: Resource): boolean {
  return target.visibility === 'public' || target.org === org;
}

function absent({ visibility }: Referrer, name: string): string {
  return visibility === 'public'
    ? `There is no public ${name}. A public document refers to public ones only: publish it, or make it public.`
    : `There is no ${name} that may be read here. Publish it, or check its name and version.`;
}

/**
 * Follows what a version refers to, also through others. Returns why a document must not refer to it:
 * that would lead back to the document's own resource, or too far. Null: it may.
 */
async function checkChain(
  registry: Pick<Registry, 'objects'>,
  referrer: Referrer,
  coordinate: Coordinate,
  manifest: Digest,
): Promise<{ rule: string; message: string } | null> {
  const name = nameOf(referrer);
  const seen = new Set<Digest>([manifest]);
  let level = [{ digest: manifest, chain: [name, formatCoordinate(coordinate)] }];
  for (let depth = 1; level.length > 0; depth++) {
    const next: typeof level = [];
    for (const { digest, chain } of level)
      for (const each of await dependenciesOf(registry, digest)) {
        const further = [...chain, each.coordinate];
        if (each.coordinate === name)
          return {
            rule: 'ref-cycle',
            message: `It leads back to this document: ${further.join(' → ')}. Remove one of these references.`,
          };
        if (seen.has(each.digest)) continue;
        seen.add(each.digest);
        if (depth >= maxLevels || seen.size > maxInAll)
          return { rule: 'limit-documents', message: `It leads through too many documents: ${further.join(' → ')}.` };
        next.push({ digest: each.digest, chain: further });
      }
    level = next;
  }
  return null;
}

/** The published documents that a version refers to. None if it was withdrawn. */
async function dependenciesOf(registry: Pick<Registry, 'objects'>, digest: Digest): Promise<readonly Dependency[]> {
  if ((await registry.objects.get(digest, digest)) === null) return [];
  const { dependencies = [] } = await readConfigOf(registry, { manifest: digest });
  return dependencies.filter(({ how }) => how !== 'lock');
}

function loadWith(read: Load, open: (url: string) => Promise<SnapshotFile>): Load {
  return async (paths) => {
    const files = new Map<string, SnapshotFile>();
    for (const path of paths) if (isUrlPath(path)) files.set(path, await open(path));
    const others = paths.filter((path) => !files.has(path));
    for (const file of await read(others)) files.set(file.path, file);
    return paths.map((path) => files.get(path)!);
  };
}

function refused(path: string, rule: string, message: string): { path: string; found: false; problem: Problem } {
  return { path, found: false, problem: problemAtFile(rule, path, message) };
}

function isSameUrl(written: string, url: string): boolean {
  return written === url || (URL.canParse(written) && new URL(written).href === new URL(url).href);
}
