import { kinds } from '../model/kinds.ts';
import type { ArtifactConfig, Manifest } from '../model/artifact.ts';
import { hexOf } from '../model/digest.ts';
import type { Outline } from '../model/outline.ts';
import type { Resource, Version } from '../model/resource.ts';
import type { Published, Rendered } from '../compile/compile.ts';
import { createPlaces, type Places } from '../scheduling/organization-places.ts';
import type { GrantedVersion } from './read.ts';
import type { Registry } from './registry.ts';
import { readJson, readManifestOf, readObject } from './stored.ts';
import { findLayer } from '../model/artifact.ts';
import { encodeJson, parseJson } from '../model/json.ts';

/**
 * Summary of a version's document; null if the sandbox could not make it. Made once, then cached.
 */
export async function outlineOf(registry: Registry, granted: GrantedVersion): Promise<Outline | null> {
  return outlineVersion(registry, granted.resource, granted.version);
}

/** Whose work it is to make something: the readers', or the organization's that published it. */
type Lane = 'read' | 'publish';

/**
 * As `outlineOf`, without an access check. Only for code that decides itself what a reader may see
 * (comparing, the search index), or that shows nothing.
 */
export async function outlineVersion(
  registry: Registry,
  { org }: Pick<Resource, 'org'>,
  version: Version,
  lane: Lane = 'read',
): Promise<Outline | null> {
  const { compiler, config } = registry;
  return derive(registry, 'outline', org, hexOf(version.manifest), async () =>
    compiler.outline(await readPublished(registry, version), config.limits, { org, lane }),
  );
}

/**
 * A version's document as HTML and Markdown; null if the sandbox could not make them. Made once,
 * then cached.
 */
export async function renderedOf(registry: Registry, granted: GrantedVersion): Promise<Rendered | null> {
  return renderVersion(registry, granted.resource, granted.version, 'read');
}

/** As `renderedOf`, without an access check. Only for code that shows nothing. */
export async function renderVersion(
  registry: Registry,
  { org }: Pick<Resource, 'org'>,
  version: Version,
  lane: Lane,
): Promise<Rendered | null> {
  const { compiler, config } = registry;
  return derive(registry, 'rendered', org, hexOf(version.manifest), async () => {
    return compiler.render(await readPublished(registry, version), config.limits, { org, lane });
  });
}

/** The document of a version, for the compiler. Without an access check. */
export async function readPublished(registry: Registry, version: Version): Promise<Published> {
  const manifest = await readManifestOf(registry, version);
  const json = await readObject(registry, findLayer(manifest, 'json', 'identity')!.digest, version.manifest);
  return publishedOf(registry, version, manifest, json);
}

async function publishedOf(
  registry: Registry,
  version: Version,
  manifest: Manifest,
  json: Uint8Array,
): Promise<Published> {
  const { kind } = await readJson<ArtifactConfig>(registry, manifest.config.digest, version.manifest);
  return { type: kinds[kind].type, kind, json };
}

/**
 * Documents in memory for the sandboxes at once. One organization may have half of them; the others
 * wait and hold no memory.
 */
const placesInAll = 4;

interface Works {
  running: Map<string, Promise<unknown>>;
  places: Places;
}

const worksOf = new WeakMap<Registry['cache'], Works>();

/**
 * Returns the value cached under a name, or makes it. Callers that ask for the same at once share
 * one computation. Failures are not cached.
 */
export async function derive<T>(
  { cache, compiler }: Registry,
  what: string,
  org: string,
  name: string,
  make: () => Promise<T | null>,
): Promise<T | null> {
  const key = `${what}/${compiler.renderer}/${name}.json`;
  const works = worksOf.get(cache) ?? { running: new Map(), places: createPlaces(placesInAll) };
  worksOf.set(cache, works);
  const { running, places } = works;
  const pending = running.get(key) as Promise<T | null> | undefined;
  if (pending) return pending;
  const answer = (async () => {
    const kept = parseKept<T>(await cache.get(key).catch(() => null));
    if (kept !== null) return kept;
    const made = await places.take(org, make);
    // A cache that cannot be written to costs only time.
    if (made !== null) await cache.put(key, encodeJson(made)).catch(() => undefined);
    return made;
  })().finally(() => running.delete(key));
  running.set(key, answer);
  return answer;
}

/** The cached value; null if there is none or a power cut left it incomplete. */
function parseKept<T>(kept: Uint8Array | null): T | null {
  return kept === null ? null : ((parseJson(kept) as T | undefined) ?? null);
}
