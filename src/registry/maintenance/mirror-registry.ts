import { isDeepStrictEqual } from 'node:util';
import { contentDigest, type ArtifactConfig, type Manifest } from '../../model/artifact.ts';
import { formatCoordinate, parseCoordinate, type Coordinate } from '../../model/address.ts';
import type { Dependency } from '../../model/graph/dependency.ts';
import { digestOf, hexOf, isDigest, type Digest } from '../../model/digest.ts';
import { isRegistryError, RegistryError } from '../../model/errors.ts';
import { parseJson } from '../../model/json.ts';
import { ownershipOf } from '../../model/catalogue/ownership.ts';
import { findVersion, resourceRef, type Resource, type Version } from '../../model/resource.ts';
import { purgeVersion, watchPurges } from '../purge.ts';
import type { Registry } from '../registry.ts';
import { readManifestOf } from '../stored.ts';
import { checkedDependencies, explainRemote, type RemoteResource } from './remote-resource.ts';

/**
 * Another registry, to read from. Rejects with `unreachable` if it does not answer, and with
 * `malformed` for an answer that is too large or cannot be understood.
 */
export interface Remote {
  /** Its URL. */
  url: string;
  /**
   * Coordinates of the resources that changed after a cursor; all for null. Waits up to `wait`
   * seconds for a change. Rejects with `malformed` for a cursor that it does not know.
   */
  changes(after: string | null, wait: number): Promise<{ resources: string[]; next: string; hasMore: boolean }>;
  /** Null if there is none, or the key may not read it. What it describes is not checked. */
  resource(coordinate: Coordinate): Promise<RemoteResource | null>;
  manifest(coordinate: Coordinate, digest: Digest): Promise<Uint8Array>;
  blob(coordinate: Coordinate, digest: Digest): Promise<Uint8Array>;
}

/** How to mirror. */
export interface MirrorOptions {
  /** The organization whose resources are mirrored. */
  org: string;
  /** Seconds to wait for a change if there is none yet. */
  wait: number;
  onMirrored: (mirrored: Mirrored) => void;
}

/** What happened to one resource. */
export interface Mirrored {
  resource: string;
  outcome: 'updated' | 'unchanged' | 'deleted' | 'refused';
  /** Labels of versions that are new here. */
  versions: string[];
  /** Why it was refused. */
  detail: string | null;
}

/** How far a mirror came. */
interface Followed {
  after: string;
  /** Resources that changed but could not be copied, with the last attempt. */
  held: Readonly<Record<string, { at: string; detail: string }>>;
}

const author = { actor: 'operator:mirror', origin: null };
/** Milliseconds after which a resource that is held is asked for again, at the latest. */
const retryAfter = 60_000;

/**
 * Brings what changed in another registry since the last call, and remembers how far it came. The
 * same manifests and objects are stored under the same labels, each verified by its digest. A resource
 * of which one answer or object is wrong is held: it stays as it is here, and is asked for again with
 * later calls. Returns whether more has changed already.
 */
export async function mirrorChanges(
  registry: Registry,
  remote: Remote,
  { org, wait, onMirrored }: MirrorOptions,
): Promise<boolean> {
  const name = `mirrors/${hexOf(digestOf(`${remote.url} ${org}`)).slice(0, 32)}`;
  const { after = null, held = {} } = (await registry.refs.read<Followed>(name))?.value ?? {};
  const page = await remote.changes(after, wait).catch((error: unknown) => {
    // The cursor belongs to another key, or the other registry has a new secret key or was restored.
    const isOver = isRegistryError(error, 'malformed') || isRegistryError(error, 'gone');
    if (after !== null && isOver) return remote.changes(null, 0);
    throw error;
  });
  const now = registry.now();
  // Held resources are retried even while the registry keeps sending other changes.
  const again = Object.entries(held).flatMap(([resource, { at }]) =>
    page.resources.length === 0 || now.getTime() - Date.parse(at) > retryAfter ? [resource] : [],
  );
  const stillHeld = { ...held };
  for (const resource of new Set([...page.resources, ...again])) {
    const mirrored = await mirrorResource(registry, remote, org, resource).catch((error: unknown): Mirrored => {
      // One answer or object that is wrong must not hold up the other resources.
      if (!isRegistryError(error, 'malformed') && !isRegistryError(error, 'refused')) throw error;
      stillHeld[resource] = { at: now.toISOString(), detail: error.message };
      return { resource, outcome: 'refused', versions: [], detail: error.message };
    });
    const isHeld = stillHeld[resource]?.at === now.toISOString();
    if (!isHeld) delete stillHeld[resource];
    // With `wait` this is called again and again. The same problem is reported once.
    const isKnown = isHeld && wait > 0 && held[resource]?.detail === mirrored.detail;
    if (mirrored.outcome !== 'unchanged' && !isKnown) onMirrored(mirrored);
  }
  const followed: Followed = { after: page.next, held: stillHeld };
  if (!isDeepStrictEqual(followed, { after, held }))
    await registry.refs.update(name, () => ({ value: followed, change: { ...author, action: 'follow' } }));
  return page.hasMore;
}

async function mirrorResource(registry: Registry, remote: Remote, org: string, resource: string): Promise<Mirrored> {
  const parsed = parseCoordinate(resource);
  const refused = (detail: string): Mirrored => ({ resource, outcome: 'refused', versions: [], detail });
  if (parsed?.coordinate.org !== org) return refused(`It is not a resource of @${org}.`);
  const { coordinate } = parsed;
  const answer = await remote.resource(coordinate);
  const problem = answer && explainRemote(answer);
  if (problem !== null) return refused(`Its description there cannot be taken over: ${problem}`);
  const local = (await registry.refs.readFresh<Resource>(resourceRef(coordinate)))?.value ?? null;
  if (local !== null && local.mirrorOf !== remote.url)
    return refused('This registry has a resource of its own with that name.');
  if (answer === null) return remove(registry, coordinate, local);
  const mayHavePurged = await watchPurges(registry);
  const contents = new Map<Digest, Content>();
  for (const { label, manifest, status } of answer.versions) {
    const version = local && findVersion(local, label);
    if (version && version.manifest !== manifest) return refused(`Version ${label} has other bytes there than here.`);
    // Its bytes may be gone here, or be there for somebody else's version only.
    if (version?.status.state === 'withdrawn' && status.state !== 'withdrawn')
      return refused(`Version ${label} was withdrawn here, which is final.`);
    if (version || status.state === 'withdrawn' || contents.has(manifest)) continue;
    const own = local?.versions.find((each) => each.manifest === manifest && each.status.state !== 'withdrawn');
    contents.set(
      manifest,
      own
        ? { manifest: await readManifestOf(registry, own), dependencies: own.dependencies ?? [] }
        : await bring(registry, remote, coordinate, manifest),
    );
  }
  const missing = local?.versions.find(({ label }) => !answer.versions.some((each) => each.label === label));
  if (missing) return refused(`Version ${missing.label} is here and no longer there.`);
  return commit(registry, remote, coordinate, { answer, contents, mayHavePurged });
}

/** Marks a resource as deleted that can no longer be read there. */
async function remove(registry: Registry, coordinate: Coordinate, local: Resource | null): Promise<Mirrored> {
  const resource = formatCoordinate(coordinate);
  if (local === null || local.deletedAt !== null) return { resource, outcome: 'unchanged', versions: [], detail: null };
  await registry.refs.update<Resource>(resourceRef(coordinate), (current) => ({
    value: { ...current!.value, deletedAt: registry.now().toISOString() },
    change: { ...author, action: 'delete' },
  }));
  return { resource, outcome: 'deleted', versions: [], detail: null };
}

/**
 * Stores a version's bytes, each verified. Brings all of them even if they are there: they may be of
 * somebody else's private version, and only the bytes prove that the other registry has them.
 */
async function bring(registry: Registry, remote: Remote, coordinate: Coordinate, digest: Digest): Promise<Content> {
  const bytes = verified(remote, digest, await remote.manifest(coordinate, digest));
  const get = async (each: Digest | undefined) => {
    if (each !== undefined && isDigest(each)) return verified(remote, each, await remote.blob(coordinate, each));
    throw new RegistryError('malformed', `${remote.url} sent ${digest}, which is not the manifest of a version.`);
  };
  const manifest = parseJson(bytes) as Manifest;
  const config = await get(manifest?.config?.digest);
  const { report, dependencies } = (parseJson(config) ?? {}) as Partial<ArtifactConfig>;
  const layers = Array.isArray(manifest.layers) ? manifest.layers.map((layer) => layer?.digest) : [undefined];
  const pieces = [config];
  for (const each of new Set([report, ...layers])) pieces.push(await get(each));
  await registry.objects.putPack(bytes, pieces);
  return { manifest, dependencies: checkedDependencies(dependencies) };
}

function verified(remote: Remote, digest: Digest, bytes: Uint8Array): Uint8Array {
  if (digestOf(bytes) === digest) return bytes;
  throw new RegistryError(
    'refused',
    `${remote.url} sent other bytes than those of ${digest}. Nothing of them was stored.`,
  );
}

/** What a version consists of, as far as its record says it. */
interface Content {
  manifest: Manifest;
  dependencies: readonly Dependency[];
}

interface Commit {
  answer: RemoteResource;
  contents: ReadonlyMap<Digest, Content>;
  mayHavePurged: Awaited<ReturnType<typeof watchPurges>>;
}

/** Appends the resource as it is there, and deletes the bytes of what was withdrawn. */
async function commit(
  registry: Registry,
  remote: Remote,
  coordinate: Coordinate,
  { answer, contents, mayHavePurged }: Commit,
): Promise<Mirrored> {
  const resource = formatCoordinate(coordinate);
  let added: string[] = [];
  let withdrawn: Digest[] = [];
  let isChange = false;
  await registry.refs.update<Resource>(resourceRef(coordinate), (current) => {
    const local = current?.value ?? null;
    [added, withdrawn] = [[], []];
    const versions = answer.versions.flatMap(({ status, ...version }): Version[] => {
      const localVersion = local && findVersion(local, version.label);
      const content = contents.get(version.manifest);
      if (localVersion && status.state === 'withdrawn') withdrawn.push(version.manifest);
      if (localVersion)
        return [
          JSON.stringify(localVersion.status) === JSON.stringify(status) ? localVersion : { ...localVersion, status },
        ];
      added.push(version.label);
      // Nobody has the bytes of a version that was withdrawn there.
      if (content === undefined) return [{ ...version, status, content: version.manifest }];
      const { manifest, dependencies } = content;
      const used = dependencies.length > 0 && { dependencies };
      return [{ ...version, status, content: contentDigest(manifest), ...used }];
    });
    const value: Resource = {
      ...coordinate,
      name: answer.name,
      description: answer.description,
      ...ownershipOf(answer),
      visibility: answer.visibility,
      ruleset: null,
      connection: null,
      latest: answer.latest,
      latestPinned: false,
      validation: null,
      versions,
      createdAt: answer.createdAt,
      deletedAt: null,
      mirrorOf: remote.url,
    };
    // Compared as stored: absent members are dropped, and their order does not matter.
    isChange = !isDeepStrictEqual(JSON.parse(JSON.stringify(value)), local);
    return isChange ? { value, change: { ...author, action: actionOf(added) } } : null;
  });
  // All of them: where the manifest is, an object that it shares with a withdrawn version may be gone.
  await mayHavePurged(async () => {
    for (const manifest of contents.keys()) await bring(registry, remote, coordinate, manifest);
  });
  // Also what an earlier call withdrew, if it was stopped before it deleted the bytes.
  for (const manifest of withdrawn)
    if (await isLeft(registry, coordinate, manifest)) await purgeVersion(registry, manifest);
  return { resource, outcome: isChange ? 'updated' : 'unchanged', versions: added, detail: null };
}

/** Whether the bytes of a withdrawn version are still there, and no other version of the resource has them. */
async function isLeft(registry: Registry, coordinate: Coordinate, manifest: Digest): Promise<boolean> {
  const versions = (await registry.refs.read<Resource>(resourceRef(coordinate)))?.value.versions ?? [];
  if (versions.some((each) => each.manifest === manifest && each.status.state !== 'withdrawn')) return false;
  return (await registry.objects.get(manifest, manifest)) !== null;
}

function actionOf(added: readonly string[]): string {
  return added.length === 0 ? 'mirror' : `mirror ${added.slice(0, 5).join(', ')}${added.length > 5 ? ', …' : ''}`;
}
