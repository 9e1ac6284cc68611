import { isAllowed, type Principal } from '../model/access.ts';
import { digestOf, type Digest } from '../model/digest.ts';
import { RegistryError } from '../model/errors.ts';
import { encodeJson, own, parseJson } from '../model/json.ts';
import { coordinateOf, resourceRef, type Resource } from '../model/resource.ts';
import { findPreview, keepPreview } from '../store/previews.ts';
import { grantRead, grantVersion, type GrantedVersion } from './read.ts';
import type { Registry } from './registry.ts';
import { documentOf, readConfigOf, readManifestOf, readObject } from './stored.ts';

/** What publishing a document would give: the resource with the new version, and the bytes of its page. */
export interface Preview {
  resource: Resource;
  /**
   * The repository of the request, if the check saw no such resource. A private one may have the
   * name: it must not show by hiding the preview.
   */
  newFrom: string | null;
  label: string;
  /** Whether only those who may publish the resource see it. */
  isHeld?: true;
  objects: ReadonlyMap<Digest, Uint8Array>;
}

/** A preview as it is stored: base64 by digest. */
type Stored = Omit<Preview, 'objects'> & { objects: Record<Digest, string> };

/** Collects what the page of a version is made from. `registry`: what has the version's bytes, as the view into which it was published. */
export async function takePreview(
  registry: Parameters<typeof readObject>[0],
  resource: Resource,
  label: string,
  newFrom: string | null = null,
): Promise<Preview> {
  const version = resource.versions.find((each) => each.label === label)!;
  const manifest = await readManifestOf(registry, version);
  const { report } = await readConfigOf(registry, version);
  const document = await documentOf(registry, version);
  const digests = [version.manifest, manifest.config.digest, report, document.digest];
  const objects = await Promise.all(
    digests.map(async (digest) => [digest, await readObject(registry, digest, version.manifest)] as const),
  );
  return { resource, newFrom, label, objects: new Map(objects) };
}

/** The bytes of a preview's parts. */
export function sizeOf(parts: ReadonlyMap<string, Uint8Array>): number {
  return [...parts.values()].reduce((sum, { byteLength }) => sum + byteLength, 0);
}

/** Stores a preview for some days. Returns its token. */
export async function storePreview(
  registry: Registry,
  { objects, ...preview }: Preview,
  days: number = registry.config.pulls.previewDays,
): Promise<string> {
  const stored: Stored = {
    ...preview,
    objects: Object.fromEntries([...objects].map(([digest, bytes]) => [digest, Buffer.from(bytes).toString('base64')])),
  };
  return (await keepPreview(registry, preview.resource.org, days, encodeJson(stored))).token;
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
  const preview = await findPreview(registry, token);
  const stored = preview && (parseJson(preview.bytes) as Partial<Stored> | undefined);
  // That of a site has no resource.
  if (!preview || !stored?.resource) return null;
  const { resource, newFrom, label } = stored as Stored;
  const named = (await registry.refs.read<Resource>(resourceRef(coordinateOf(resource))))?.value ?? null;
  const current = newFrom === null || named?.connection?.repository === newFrom ? named : null;
  if (current !== null && current.deletedAt !== null) return null;
  // Whoever made the resource private since then hides its previews, too.
  const visibility = current?.visibility ?? resource.visibility;
  if (stored.isHeld && !isAllowed(principal, 'publish', { org: resource.org, resource: { ...resource, visibility } }))
    return null;
  const name = coordinateOf(resource);
  const view = viewWith(registry, { name: resourceRef(name), value: { ...resource, visibility } }, async (digest) => {
    const text = own((stored as Stored).objects, digest);
    return text === undefined ? null : Buffer.from(text, 'base64');
  });
  const granted = await grantRead(view, principal, name);
  const version = granted && grantVersion(granted, { kind: 'version', version: label });
  return version?.exact ? { registry: view, granted: version.granted, expiresAt: preview.expiresAt } : null;
}

/**
 * A view of the registry with one record as it would be, and bytes that nothing published has: `bytesOf` answers null for
 * all others. Bytes that do not match their digest are `corrupt`.
 */
export function viewWith(
  registry: Registry,
  record: { name: string; value: unknown } | null,
  bytesOf: (digest: Digest) => Promise<Uint8Array | null>,
): Registry {
  const read: Registry['refs']['read'] = async <T>(asked: string) => {
    const stored = await registry.refs.read<T>(asked);
    if (asked !== record?.name) return stored;
    const fresh = { generation: 1, writeId: 'preview', at: registry.now().toISOString() };
    const stamp = { actor: 'sync:preview', origin: null, action: 'preview' };
    return { ...fresh, ...stamp, ...stored, value: record.value as T };
  };
  return {
    ...registry,
    answers: registry.answers.contentsOnly(),
    refs: { ...registry.refs, read, readFresh: read },
    objects: {
      ...registry.objects,
      async get(digest, pack) {
        const bytes = await bytesOf(digest);
        if (bytes === null) return registry.objects.get(digest, pack);
        if (digestOf(bytes) === digest) return bytes;
        throw new RegistryError('corrupt', `Object ${digest} of a preview does not match its digest.`);
      },
    },
  };
}
