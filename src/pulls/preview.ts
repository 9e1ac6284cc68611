import type { Principal } from '../model/access.ts';
import { findLayer, type ArtifactConfig } from '../model/artifact.ts';
import { digestOf, hexOf, type Digest } from '../model/digest.ts';
import { encodeJson, parseJson } from '../model/json.ts';
import { coordinateOf, resourceRef, type Resource } from '../model/resource.ts';
import { listAll } from '../store/bucket.ts';
import { grantRead, grantVersion, type GrantedVersion } from '../registry/read.ts';
import type { Registry } from '../registry/registry.ts';
import { readJson, readManifestOf, readObject } from '../registry/stored.ts';

/** What publishing a document would give: the resource with the new version, and the bytes of its page. */
export interface Preview {
  resource: Resource;
  /**
   * The repository of the request, if the check saw no such resource. A private one may have the
   * name: it must not show by hiding the preview.
   */
  newFrom: string | null;
  label: string;
  objects: ReadonlyMap<Digest, Uint8Array>;
}

/** A preview as it is stored. Its name is a hash of the token, so that a list of keys reveals no URL. */
interface Stored {
  resource: Resource;
  newFrom: string | null;
  label: string;
  expiresAt: string;
  /** Base64 by digest. */
  objects: Record<Digest, string>;
}

/** How many previews one organization keeps, and their bytes in the bucket. */
export interface PreviewRoom {
  count: number;
  bytes: number;
}

const mostOfOrganization: PreviewRoom = { count: 500, bytes: 512 * 2 ** 20 };
const prefix = 'previews/';
const day = 24 * 60 * 60_000;
const tokenPattern = /^([0-9a-z]{9})-[0-9a-f]{32}$/;

/**
 * Collects what the page of a version is made from. `registry`: the view into which the version was
 * published.
 */
export async function takePreview(
  registry: Registry,
  resource: Resource,
  label: string,
  newFrom: string | null = null,
): Promise<Preview> {
  const version = resource.versions.find((each) => each.label === label)!;
  const manifest = await readManifestOf(registry, version);
  const { report } = await readJson<ArtifactConfig>(registry, manifest.config.digest, version.manifest);
  const document = findLayer(manifest, 'json', 'identity')!.digest;
  const digests = [version.manifest, manifest.config.digest, report, document];
  const objects = await Promise.all(
    digests.map(async (digest) => [digest, await readObject(registry, digest, version.manifest)] as const),
  );
  return { resource, newFrom, label, objects: new Map(objects) };
}

/**
 * Stores a preview for `pulls.previewDays` days, outside the refs and objects of published versions.
 * Returns its token: the time at which it expires, and 128 random bits.
 */
export async function storePreview(
  registry: Registry,
  { resource, newFrom, label, objects }: Preview,
): Promise<string> {
  const expires = registry.now().getTime() + registry.config.pulls.previewDays * day;
  const random = Buffer.from(registry.randomBytes(16)).toString('hex');
  const token = `${expires.toString(36).padStart(9, '0')}-${random}`;
  const stored: Stored = {
    resource,
    newFrom,
    label,
    expiresAt: new Date(expires).toISOString(),
    objects: Object.fromEntries([...objects].map(([digest, bytes]) => [digest, Buffer.from(bytes).toString('base64')])),
  };
  const bytes = encodeJson(stored);
  const key = `${keyOf(token)}-${ownerOf(resource.org)}-${bytes.byteLength.toString(36)}`;
  await registry.bucket.putIfAbsent(key, bytes);
  return token;
}

/** A preview that its reader may see. `registry` is a view in which its version is published. */
export interface OpenedPreview {
  registry: Registry;
  granted: GrantedVersion;
  expiresAt: string;
}

/**
 * Opens a preview. Null when there is none with this token, or it has expired, or the principal may
 * not read its resource: the token opens previews of public resources only; for a private one, its
 * readers need both.
 */
export async function openPreview(
  registry: Registry,
  principal: Principal,
  token: string,
): Promise<OpenedPreview | null> {
  const expires = Number.parseInt(tokenPattern.exec(token)?.[1] ?? '', 36);
  if (!(registry.now().getTime() < expires)) return null;
  const [key] = await registry.bucket.list(keyOf(token), { limit: 1 });
  const bytes = key === undefined ? null : await registry.bucket.get(key);
  const stored = bytes && (parseJson(bytes) as Stored | undefined);
  if (!stored) return null;
  const { resource, newFrom, label, expiresAt } = stored;
  const named = (await registry.refs.read<Resource>(resourceRef(coordinateOf(resource))))?.value ?? null;
  const current = newFrom === null || named?.connection?.repository === newFrom ? named : null;
  if (current !== null && current.deletedAt !== null) return null;
  // Whoever made the resource private since then hides its previews, too.
  const visibility = current?.visibility ?? resource.visibility;
  const view = viewWith(registry, { ...stored, resource: { ...resource, visibility } });
  const granted = await grantRead(view, principal, coordinateOf(resource));
  const version = granted && grantVersion(granted, { kind: 'version', version: label });
  return version?.exact ? { registry: view, granted: version.granted, expiresAt } : null;
}

/** Deletes expired previews. Their names begin with the time, so the first that has not expired ends it. */
export async function sweepPreviews({ bucket, now }: Pick<Registry, 'bucket' | 'now'>): Promise<void> {
  for await (const key of listAll(bucket, prefix)) {
    if (Number.parseInt(key.slice(prefix.length, prefix.length + 9), 36) > now().getTime()) return;
    await bucket.delete(key);
  }
}

/**
 * Deletes the oldest previews of an organization until the others fit into the room. Anybody who may
 * open pull requests has previews stored, so their age alone does not bound them.
 */
export async function trimPreviews(
  { bucket }: Pick<Registry, 'bucket'>,
  org: string,
  { count, bytes }: PreviewRoom = mostOfOrganization,
): Promise<void> {
  const owner = ownerOf(org);
  const own = (await Array.fromAsync(listAll(bucket, prefix))).filter((key) => key.split('-')[2] === owner);
  let room = bytes;
  // Their names begin with the time at which they expire, so the newest are last.
  for (const [index, key] of own.toReversed().entries()) {
    room -= Number.parseInt(key.split('-')[3]!, 36);
    if (index >= count || room < 0) await bucket.delete(key);
  }
}

/** What the keys of an organization's previews have in common. Its name may be private. */
function ownerOf(org: string): string {
  return hexOf(digestOf(`previews of ${org}`)).slice(0, 12);
}

/** The beginning of a preview's key. After it come whose it is and its bytes, to find out what to delete. */
function keyOf(token: string): string {
  return `${prefix}${token.slice(0, 9)}-${hexOf(digestOf(token)).slice(0, 32)}`;
}

function viewWith(registry: Registry, { resource, objects }: Stored): Registry {
  const name = resourceRef(coordinateOf(resource));
  const read: Registry['refs']['read'] = async <T>(asked: string) => {
    const found = await registry.refs.read<T>(asked);
    if (asked !== name) return found;
    const fresh = { generation: 1, writeId: 'preview', at: registry.now().toISOString() };
    const made = { actor: 'sync:preview', origin: null, action: 'preview' };
    return { ...fresh, ...made, ...found, value: resource as T };
  };
  return {
    ...registry,
    refs: { ...registry.refs, read, readFresh: read },
    objects: {
      ...registry.objects,
      get: async (digest, pack) => {
        const text = Object.hasOwn(objects, digest) ? objects[digest] : undefined;
        return text === undefined ? registry.objects.get(digest, pack) : Buffer.from(text, 'base64');
      },
    },
  };
}
