import type { ArtifactConfig, Manifest } from '../model/artifact.ts';
import { hexOf } from '../model/digest.ts';
import type { Outline } from '../model/outline.ts';
import type { Resource, Version } from '../model/resource.ts';
import type { Published, Rendered } from '../compile/compile.ts';
import { findRepresentation, openRepresentation, readManifest, type GrantedVersion } from './read.ts';
import type { Registry } from './registry.ts';
import { readJson, readObject } from './stored.ts';
import { findLayer } from '../model/artifact.ts';

/** What is in a version's document, in short; null where the sandbox could not tell. Made once, then kept in the cache. */
export async function outlineOf(registry: Registry, granted: GrantedVersion): Promise<Outline | null> {
  return outlineVersion(registry, granted.resource, granted.version);
}

/** The same without an access check: for the verbs alone (comparing, the search index). */
export async function outlineVersion(
  registry: Registry,
  { org }: Pick<Resource, 'org'>,
  version: Version,
): Promise<Outline | null> {
  const { compiler, config } = registry;
  return derive(registry, 'outline', version, async () => {
    const manifest = await readJson<Manifest>(registry, version.manifest);
    const json = await readObject(registry, findLayer(manifest, 'json', 'identity')!.digest);
    return compiler.outline(await publishedOf(registry, manifest, json), config.limits, undefined, org);
  });
}

/** A version's document made readable; null where the sandbox could not do it. Made once, then kept in the cache. */
export async function renderedOf(registry: Registry, granted: GrantedVersion): Promise<Rendered | null> {
  const { compiler, config } = registry;
  return derive(registry, 'rendered', granted.version, async () => {
    const manifest = await readManifest(registry, granted);
    const json = await openRepresentation(registry, granted, findRepresentation(manifest, 'json', 'identity')!);
    const document = await publishedOf(registry, manifest, json);
    return compiler.render(document, config.limits, undefined, granted.resource.org);
  });
}

async function publishedOf(registry: Registry, manifest: Manifest, json: Uint8Array): Promise<Published> {
  const { kind } = await readJson<ArtifactConfig>(registry, manifest.config.digest);
  const type = kind === 'openapi' ? 'apis' : kind === 'json-schema' ? 'schemas' : 'rulesets';
  return { type, kind, json };
}

const running = new WeakMap<Registry['cache'], Map<string, Promise<unknown>>>();

/** Asks the cache, else makes it; those who ask for the same at the same time share one making. What failed is not kept. */
async function derive<T>(
  { cache, compiler }: Registry,
  what: string,
  { manifest }: Version,
  make: () => Promise<T | null>,
): Promise<T | null> {
  const key = `${what}/${compiler.renderer}/${hexOf(manifest)}.json`;
  const shared = running.get(cache) ?? new Map<string, Promise<unknown>>();
  running.set(cache, shared);
  const pending = shared.get(key) as Promise<T | null> | undefined;
  if (pending) return pending;
  const answer = (async () => {
    const kept = await cache.get(key);
    if (kept !== null) return JSON.parse(Buffer.from(kept).toString()) as T;
    const made = await make();
    if (made !== null) await cache.put(key, Buffer.from(JSON.stringify(made)));
    return made;
  })().finally(() => shared.delete(key));
  shared.set(key, answer);
  return answer;
}
