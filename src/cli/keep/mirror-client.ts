import type { Coordinate } from '../../model/address.ts';
import { RegistryError } from '../../model/errors.ts';
import type { Digest } from '../../model/digest.ts';
import type { Status } from '../../model/resource.ts';
import type { Remote, RemoteResource } from '../../registry/keep/mirror.ts';
import { refusalOf } from '../registry-client.ts';

/** Milliseconds for an answer to begin, besides the time that the request asks the registry to wait. */
const patience = 30_000;

/** Reads another registry over HTTP: its management API, and manifests and blobs as OCI clients do. */
export function openRemote(url: string, key: string): Remote {
  async function ask(path: string, accept: string, wait = 0): Promise<Response> {
    const target = new URL(path, url);
    const headers = { authorization: `Bearer ${key}`, accept };
    const signal = AbortSignal.timeout(patience + wait * 1000);
    // The key must not go to another server.
    return fetch(target, { headers, redirect: 'error', signal }).catch((cause: unknown) => {
      throw new RegistryError('unreachable', `${target.origin} cannot be reached.`, { cause });
    });
  }

  async function askJson(path: string, wait = 0): Promise<Record<string, unknown> | null> {
    const response = await ask(path, 'application/json', wait);
    const body = (await response.json().catch(() => null)) as Record<string, unknown> | null;
    if (response.status === 404) return null;
    if (body === null) {
      throw new RegistryError(
        'unreachable',
        `${url} returned ${response.status} without JSON. Check that this is a Stele registry.`,
      );
    }
    if (response.status === 400) throw new RegistryError('malformed', String(body['detail']));
    if (response.status === 429 || response.status >= 500)
      throw new RegistryError('unreachable', String(body['detail']));
    if (response.status >= 400) throw refusalOf({ status: response.status, body });
    return body;
  }

  async function askBytes({ org, type, slug }: Coordinate, kind: string, digest: Digest): Promise<Uint8Array> {
    const response = await ask(`/v2/${org}/${type}/${slug}/${kind}/${digest}`, '*/*');
    const cut = (cause: unknown): never => {
      throw new RegistryError('unreachable', `${url} ended ${kind}/${digest} too early.`, { cause });
    };
    if (response.ok) return new Uint8Array(await response.arrayBuffer().catch(cut));
    throw new RegistryError('unreachable', `${url} returned ${response.status} for ${kind}/${digest}.`);
  }

  return {
    url,
    async changes(after, wait) {
      const cursor = after === null ? '' : `&after=${encodeURIComponent(after)}`;
      const page = await askJson(`/v1/changes?limit=100&wait=${wait}${cursor}`, wait);
      if (page === null) throw new RegistryError('unreachable', `${url} is no Stele registry: it has no /v1/changes.`);
      const { items, next, hasMore } = page as unknown as Changes;
      const resources = items.flatMap(({ subject }) => (subject.kind === 'resource' ? [subject.id] : []));
      return { resources, next, hasMore };
    },
    async resource(coordinate) {
      const path = `/v1/${coordinate.type}/${coordinate.slug}`;
      const found = (await askJson(path)) as RemoteResource | null;
      if (found === null) return null;
      const versions: RemoteResource['versions'] = [];
      for (let next: string | null = ''; next !== null;) {
        const cursor: string = next === '' ? '' : `&cursor=${encodeURIComponent(next)}`;
        const page = (await askJson(`${path}/versions?limit=100${cursor}`)) as unknown as Page | null;
        if (page === null) return null;
        versions.push(...page.items.map(versionOf));
        ({ next } = page);
      }
      const { name, description, visibility, latest, createdAt } = found;
      return { name, description, visibility, latest, createdAt, versions: versions.reverse() };
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
}: Page['items'][number]): RemoteResource['versions'][number] {
  return {
    label: version,
    manifest: digest,
    publishedAt,
    ...(createdAt !== undefined && { createdAt }),
    status,
    ...(stated !== null && { original: stated }),
  };
}
