import { isUrlPath } from '../model/address.ts';
import { findLayer, imageLayers, type ArtifactConfig } from '../model/artifact.ts';
import { digestOf, hexOf } from '../model/digest.ts';
import type { Outline } from '../model/outline.ts';
import type { Resource, Version } from '../model/resource.ts';
import type { Excerpt, Published } from '../compile/compile.ts';
import type { Rendered } from '../compile/sandboxes.ts';
import { createPlaces, type Places } from '../scheduling/places.ts';
import { isShortWork } from '../scheduling/fair-queue.ts';
import { digestInTurns } from '../store/digest-in-turns.ts';
import type { GrantedVersion } from './read.ts';
import type { Registry } from './registry.ts';
import { documentOf, readJson, readManifestOf, readObject } from './stored.ts';
import { encodeJson, parseJson } from '../model/json.ts';

/** Summary of a version's document; null if the sandbox could not make it. Made once, then cached. */
export async function outlineOf(registry: Registry, granted: GrantedVersion): Promise<Outline | null> {
  return outlineVersion(registry, granted.resource, granted.version);
}

/** Whom the work is counted for: readers, or the organization that published. */
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
  const make = async () => compiler.outline(await readPublished(registry, version), config.limits, { org, lane });
  return derive(registry, 'outline', org, hexOf(version.manifest), make, { of: [version] });
}

/**
 * A part of a version's document as JSON text, with what it refers to inlined. Null if there is none,
 * or if the sandbox could not make it.
 */
export async function excerptOf(registry: Registry, granted: GrantedVersion, part: Excerpt): Promise<string | null> {
  const { resource, version } = granted;
  const { compiler, config } = registry;
  const make = async () =>
    compiler.excerpt(await readPublished(registry, version), part, config.limits, { org: resource.org, lane: 'read' });
  const name = `${hexOf(version.manifest)}-${hexOf(digestOf(JSON.stringify(part)))}`;
  return derive(registry, 'excerpt', resource.org, name, make, { coding: asText, of: [version] });
}

/**
 * A version's document as HTML and Markdown; null if the sandbox could not make them. Made once,
 * then cached. Of a long document `html` and `markdown` are empty: see `renderedPart` and
 * `renderedMarkdown`.
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
  const hex = hexOf(version.manifest);
  const make = async () => {
    const rendered = await renderNow(registry, org, version, lane);
    if (!rendered?.pages) return rendered;
    // Parts are cached separately, so that a page reads only its own part.
    for (const part of [wholePart, ...rendered.pages.parts.map(({ name }) => name)])
      await keep(registry, 'part', `${hex}-${part}`, cutPart(rendered, part)!, asText);
    await keep(registry, 'markdown', hex, rendered.markdown, asText);
    return { ...rendered, html: '', markdown: '' };
  };
  return derive(registry, 'rendered', org, hex, make, { of: [version] });
}

/** A version's document as Markdown, also of a long one. Null if the sandbox could not make it. */
export async function renderedMarkdown(
  registry: Registry,
  granted: GrantedVersion,
): Promise<Pick<Rendered, 'markdown' | 'truncated'> | null> {
  const rendered = await renderedOf(registry, granted);
  if (!rendered?.pages) return rendered;
  const { resource, version } = granted;
  const make = async () => (await renderNow(registry, resource.org, version, 'read'))?.markdown ?? null;
  const markdown = await derive(registry, 'markdown', resource.org, hexOf(version.manifest), make, {
    coding: asText,
    of: [version],
  });
  return markdown === null ? null : { ...rendered, markdown };
}

/** The name of the part that is the whole of a long document. No other part has it. */
export const wholePart = 'whole';

/**
 * The HTML of a part of a long document: its inside, or the whole. Null if the sandbox could not make
 * it. `name`: one of `pages`, or `whole`.
 */
export async function renderedPart(
  registry: Registry,
  { resource: { org }, version }: GrantedVersion,
  name: string,
): Promise<string | null> {
  const make = async () => {
    const rendered = await renderNow(registry, org, version, 'read');
    return rendered && cutPart(rendered, name);
  };
  return derive(registry, 'part', org, `${hexOf(version.manifest)}-${name}`, make, { coding: asText, of: [version] });
}

async function renderNow(registry: Registry, org: string, version: Version, lane: Lane): Promise<Rendered | null> {
  const { compiler, config } = registry;
  return compiler.render(await readPublished(registry, version), config.limits, { org, lane });
}

function cutPart({ html, pages }: Rendered, name: string): string | null {
  if (name === wholePart) return html;
  const part = pages?.parts.find((each) => each.name === name);
  return part === undefined ? null : html.slice(part.from, part.to);
}

/** The document of a version, for the compiler. Without an access check. */
export async function readPublished(registry: Registry, version: Version): Promise<Published> {
  const manifest = await readManifestOf(registry, version);
  const json = await readObject(registry, findLayer(manifest, 'json', 'identity')!.digest, version.manifest);
  const { kind, provenance, view } = await readJson<ArtifactConfig>(registry, manifest.config.digest, version.manifest);
  const images = imageLayers(manifest).map(({ image }) => image);
  if (images.length === 0) return { kind, json };
  const shown = new Set(images.map(({ path }) => path));
  const documents = Object.entries(provenance.blobs).flatMap(([path, blob]) =>
    (blob === null && path !== provenance.path && view === undefined) || shown.has(path) || isUrlPath(path)
      ? []
      : [path],
  );
  return { kind, json, images: { documents, images } };
}

/**
 * How many documents are in memory for the sandboxes at once, by kind of work. One organization may
 * have half of each; its other documents wait outside of memory.
 */
const placesInAll = { long: 4, short: 32 };

/** How values are cached. `decode` returns null for what a power cut left incomplete. */
interface Coding<T> {
  ending: string;
  encode(value: T): Uint8Array | Promise<Uint8Array>;
  decode(bytes: Uint8Array): T | null | Promise<T | null>;
}

const asJson: Coding<unknown> = { ending: 'json', encode: encodeJson, decode: (bytes) => parseJson(bytes) ?? null };

/** A digest, a newline and the text. For long texts, which as JSON would stop other requests. */
const asText: Coding<string> = {
  ending: 'text',
  async encode(text) {
    const bytes = Buffer.from(text);
    return Buffer.concat([Buffer.from(`${await digestInTurns(bytes)}\n`), bytes]);
  },
  async decode(bytes) {
    const end = bytes.indexOf(10);
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).subarray(end + 1);
    const digest = Buffer.from(bytes.subarray(0, Math.max(end, 0))).toString();
    return digest === (await digestInTurns(text)) ? text.toString() : null;
  },
};

function keyOf({ compiler }: Pick<Registry, 'compiler'>, what: string, name: string, ending: string): string {
  return `${what}/${compiler.renderer}/${name}.${ending}`;
}

/** A cache that cannot be written to costs only time. */
async function keep<T>(registry: Registry, what: string, name: string, value: T, coding: Coding<T>): Promise<void> {
  const bytes = await coding.encode(value);
  await registry.cache.put(keyOf(registry, what, name, coding.ending), bytes).catch(() => undefined);
}

interface Works {
  running: Map<string, Promise<unknown>>;
  places: { long: Places; short: Places };
}

interface Deriving<T> {
  coding?: Coding<T>;
  /** The versions whose documents are read for it. Without them, it counts as long work. */
  of?: readonly Version[];
}

const worksOf = new WeakMap<Registry['cache'], Works>();

/**
 * Returns the value cached under a name, or makes it. Callers that ask for the same at once share
 * one computation. Failures are not cached.
 */
export async function derive<T>(
  registry: Registry,
  what: string,
  org: string,
  name: string,
  make: () => Promise<T | null>,
  { coding = asJson as Coding<T>, of = [] }: Deriving<T> = {},
): Promise<T | null> {
  const { cache } = registry;
  const key = keyOf(registry, what, name, coding.ending);
  const { running, places } = worksOf.getOrInsertComputed(cache, () => ({
    running: new Map(),
    places: { long: createPlaces(placesInAll.long), short: createPlaces(placesInAll.short) },
  }));
  const pending = running.get(key) as Promise<T | null> | undefined;
  if (pending) return pending;
  const answer = (async () => {
    const bytes = await cache.get(key).catch(() => null);
    const cached = bytes && (await coding.decode(bytes));
    if (cached !== null) return cached;
    const derived = await places[await lengthOf(registry, of)].take(org, make);
    if (derived !== null) await keep(registry, what, name, derived, coding);
    return derived;
  })().finally(() => running.delete(key));
  running.set(key, answer);
  return answer;
}

/** Whether what is made of these versions is there soon. */
export async function isShortVersion(registry: Registry, version: Version): Promise<boolean> {
  return (await lengthOf(registry, [version])) === 'short';
}

async function lengthOf(registry: Registry, versions: readonly Version[]): Promise<'short' | 'long'> {
  const documents = await Promise.all(versions.map((version) => documentOf(registry, version)));
  const bytes = documents.reduce((sum, { size }) => sum + size, 0);
  return versions.length > 0 && isShortWork(bytes) ? 'short' : 'long';
}
