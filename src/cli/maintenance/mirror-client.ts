import type { CompileLimits } from '../../compile/compile.ts';
import { formatCoordinate, type Coordinate } from '../../model/address.ts';
import { RegistryError } from '../../model/errors.ts';
import type { Digest } from '../../model/digest.ts';
import { parseJson } from '../../model/json.ts';
import { ownershipOf } from '../../model/catalogue/ownership.ts';
import type { CommitNote, Status } from '../../model/resource.ts';
import type { Remote } from '../../registry/maintenance/mirror-registry.ts';
import type { RemoteResource } from '../../registry/maintenance/remote-resource.ts';
import { assertOrganization, organizationHeader, refusalOf } from '../registry-client.ts';

/** Milliseconds for an answer to begin, besides the time that the request asks the registry to wait. */
const patience = 30_000;
/** Says which organization the key belongs to. */
const me = '/v1/me';
/** Pages of 100 versions that a resource may have. */
const maxPages = 1000;

/**
 * Reads another registry over HTTP: its management API, and manifests and blobs as OCI clients do.
 * Rejects with `malformed` for an answer that is too large for the limits, or is not what was asked,
 * and if the key belongs to another organization than `org`.
 */
export function openRemote(url: string, key: string, org: string, limits: Pick<CompileLimits, 'bundleBytes'>): Remote {
  // As YAML, a bundle is larger because of its indentation.
  const maxBytes = 4 * limits.bundleBytes;

  async function readBody(response: Response, what: string): Promise<Uint8Array> {
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    const cut = (cause: unknown): never => {
      throw new RegistryError('unreachable', `${url} ended ${what} too early.`, { cause });
    };
    const reader = response.body?.getReader();
    for (
      let next = await reader?.read().catch(cut);
      next?.value !== undefined;
      next = await reader?.read().catch(cut)
    ) {
      bytes += next.value.byteLength;
      chunks.push(next.value);
      if (bytes <= maxBytes) continue;
      await reader!.cancel().catch(() => undefined);
      throw new RegistryError('malformed', `${url} sent more than ${maxBytes} bytes for ${what}.`);
    }
    return Buffer.concat(chunks);
  }

  /** Whether the key is known to be one of the organization. */
  let isOwn = false;

  async function ask(path: string, accept: string, wait = 0): Promise<Response> {
    const target = new URL(url.replace(/\/$/, '') + path);
    const headers = { authorization: `Bearer ${key}`, accept, ...(path !== me && { [organizationHeader]: org }) };
    const signal = AbortSignal.timeout(patience + wait * 1000);
    // The key must not go to another server.
    return fetch(target, { headers, redirect: 'error', signal }).catch((cause: unknown) => {
      throw new RegistryError('unreachable', `${target.origin} cannot be reached.`, { cause });
    });
  }

  async function askJson(path: string, wait = 0): Promise<Record<string, unknown> | null> {
    const response = await ask(path, 'application/json', wait);
    const body = parseJson(await readBody(response, path)) as Record<string, unknown> | null | undefined;
    if (response.status === 404) return null;
    if (typeof body !== 'object' || body === null) {
      throw new RegistryError(
        'unreachable',
        `${url} returned ${response.status} without JSON. Check that this is a Stele registry.`,
      );
    }
    if (response.status === 400) throw new RegistryError('malformed', String(body['detail']));
    if (response.status === 410 && path.startsWith('/v1/changes'))
      throw new RegistryError('gone', String(body['detail']));
    if (response.status === 429 || response.status >= 500)
      throw new RegistryError('unreachable', String(body['detail']));
    if (response.status >= 400) throw refusalOf({ status: response.status, body });
    return body;
  }

  async function askBytes(coordinate: Coordinate, kind: string, digest: Digest): Promise<Uint8Array> {
    const name = formatCoordinate(coordinate);
    const response = await ask(`/v2/${name.slice(1)}/${kind}/${digest}`, '*/*');
    if (response.ok) return readBody(response, `${kind}/${digest}`);
    await response.body?.cancel();
    // Other resources may be readable. A 503 without `Retry-After` means damaged data.
    const isDamaged = response.status === 503 && !response.headers.has('retry-after');
    const isGone = response.status < 429 || response.status === 500 || isDamaged;
    const what = `${kind}/${digest} of ${name}`;
    throw new RegistryError(isGone ? 'refused' : 'unreachable', `${url} returned ${response.status} for ${what}.`);
  }

  return {
    url,
    async changes(after, wait) {
      if (!isOwn) assertOrganization((await askJson(me)) ?? {}, org, url);
      isOwn = true;
      const cursor = after === null ? '' : `&after=${encodeURIComponent(after)}`;
      const page = await askJson(`/v1/changes?limit=100&wait=${wait}${cursor}`, wait);
      if (page === null)
        throw new RegistryError('unreachable', `${url} is not a Stele registry: it has no /v1/changes.`);
      const { items, next, hasMore } = page as unknown as Changes;
      if (!Array.isArray(items) || typeof next !== 'string' || next.length > 1000)
        throw new RegistryError('malformed', `${url} sent a list of changes that cannot be understood.`);
      const resources = items.flatMap((item) => (item?.subject?.kind === 'resource' ? [String(item.subject.id)] : []));
      return { resources, next, hasMore: hasMore === true };
    },
    async resource(coordinate) {
      const path = `/v1/${coordinate.type}/${coordinate.slug}`;
      const resource = (await askJson(path)) as RemoteResource | null;
      if (resource === null) return null;
      const versions: RemoteResource['versions'] = [];
      let pages = 0;
      for (let next: string | null = ''; next !== null;) {
        if (++pages > maxPages)
          throw new RegistryError('malformed', `${url} lists more than ${maxPages} pages of versions.`);
        const cursor: string = next === '' ? '' : `&cursor=${encodeURIComponent(next)}`;
        const page = (await askJson(`${path}/versions?limit=100${cursor}`)) as unknown as Page | null;
        if (page === null) return null;
        const isPage = Array.isArray(page.items) && (page.next === null || typeof page.next === 'string');
        if (!isPage || !page.items.every((item) => typeof item === 'object' && item !== null))
          throw new RegistryError('malformed', `${url} sent a list of versions that cannot be understood.`);
        for (const item of page.items) versions.push(versionOf(item));
        ({ next } = page);
      }
      const { name, description, topics, links, fileMatch, visibility, latest, createdAt, ...stated } = resource;
      const ownership = ownershipOf({
        ...stated,
        ...(topics !== undefined && topics.length > 0 && { topics }),
        ...(links !== undefined && links.length > 0 && { links }),
        ...(fileMatch !== undefined && fileMatch.length > 0 && { fileMatch }),
      });
      return { name, description, ...ownership, visibility, latest, createdAt, versions: versions.reverse() };
    },
    manifest: (coordinate, digest) => askBytes(coordinate, 'manifests', digest),
    blob: (coordinate, digest) => askBytes(coordinate, 'blobs', digest),
  };
}

interface Changes {
  items: { subject: { kind: string; id: string } }[];
  next: string;
  hasMore: boolean;
}

interface Page {
  items: {
    version: string;
    digest: Digest;
    publishedAt: string;
    createdAt?: string;
    status: Status;
    stated: string | null;
    commit?: CommitNote;
  }[];
  next: string | null;
}

function versionOf({
  version,
  digest,
  publishedAt,
  createdAt,
  status,
  stated,
  commit,
}: Page['items'][number]): RemoteResource['versions'][number] {
  return {
    label: version,
    manifest: digest,
    publishedAt,
    ...(createdAt !== undefined && { createdAt }),
    status,
    ...(stated !== null && { original: stated }),
    ...(commit !== undefined && { commit: { author: commit?.author, subject: commit?.subject } }),
  };
}
