import { readEnvironment, userCacheFolder } from '../../config/environment.ts';
import { readUserDefaults } from '../../config/load-config.ts';
import {
  formatCoordinate,
  parseCoordinate,
  type Coordinate,
  type Format,
  type Selector,
  formatOfFile,
} from '../../model/address.ts';
import { codingAnnotation, formatAnnotation, type Descriptor } from '../../model/artifact.ts';
import { digestOf, hexOf, isDigest, type Digest } from '../../model/digest.ts';
import {
  insteadOf,
  unreachable,
  notFound,
  type RegistryError,
  refused,
  unauthenticated,
  gone,
} from '../../model/errors.ts';
import { parseJson } from '../../model/json.ts';
import { compareSemanticVersions, isLabel, readerOf } from '../../model/label.ts';
import type { LockedContract } from '../../model/lock.ts';
import { readAnswerBody } from '../check/fetch-document.ts';
import { savedKeyOf, refuseUnreachable } from '../registry-client.ts';
import { selectVersion, type Status, type Version } from '../../model/resource.ts';
import { join } from 'node:path';
import { readTreeFile } from './open-lock.ts';
import { openFolderCache, type Cache } from '../../store/cache.ts';

/** The most bytes of a document, of anything else, and pages of a list. */
export const maxDocumentBytes = 128 * 2 ** 20;
const maxRecordBytes = 16 * 2 ** 20;
const maxPages = 1000;
/** Milliseconds for an answer, with its body. */
const patience = 60_000;
const maxRedirects = 3;

/** A version in a registry. */
export interface SourceVersion {
  version: string;
  /** The digest of its manifest. */
  digest: Digest;
}

/** The versions of a resource, in order of publication. */
export interface SourceHistory {
  versions: Version[];
  latest: string | null;
}

/**
 * Reads contracts as any client of a registry does, so that it works with every Stele and with the
 * files of a static build. Everything rejects with `unreachable` if the registry does not answer,
 * `unauthenticated` if it does not take the key, `not_found`, `gone`, `too_large`, or `refused` for a redirect elsewhere.
 */
export type ContractSource = ReturnType<typeof openContractSource>;

/**
 * Opens a registry by its URL. The key in STELE_KEY is sent only to the registry that the command
 * line or STELE_REGISTRY names (`trusted`): the URL in a lock may be anybody's. A key that was saved
 * for this registry goes to no other anyway.
 */
export function openContractSource(url: string, trusted: string | undefined) {
  const { origin } = new URL(url);
  const { key: given } = readEnvironment();
  const isTrusted = trusted !== undefined && hrefOf(trusted) === hrefOf(url);
  const key = (isTrusted && given) || savedKeyOf(url)?.key;
  const credential = key ? { authorization: `Bearer ${key}` } : {};
  const access = isTrusted ? 'set STELE_KEY to a key that may read it' : `set STELE_KEY, and STELE_REGISTRY to ${url}`;
  const advice = `Check the name and this URL. If it is private, ${access}`;

  async function ask(path: string, accept: string, sent: Record<string, string> = credential): Promise<Response> {
    let target = new URL(url + path);
    for (let redirects = 0; ; redirects++) {
      const response = await fetch(target, {
        headers: { accept, ...sent },
        redirect: 'manual',
        signal: AbortSignal.timeout(patience),
      }).catch(refuseUnreachable(origin));
      const location = response.headers.get('location');
      if (response.status < 300 || response.status >= 400 || location === null) return response;
      await response.body?.cancel();
      const next = URL.parse(location, target);
      if (next?.origin !== origin)
        throw refused(
          `${url} redirects to ${next?.origin ?? location}. Stele follows no redirects to other hosts: if that is the registry now, add the contract from there with --registry.`,
        );
      if (redirects === maxRedirects) throw unreachable(`${url} redirects in a circle (${path}).`);
      target = next;
    }
  }

  /** The body of a successful answer; null for 404. */
  async function read(path: string, accept: string, limit: number): Promise<Buffer | null> {
    const response = await ask(path, accept);
    if (response.ok) return readAnswerBody(response, limit, url + path);
    const body = parseJson(await readAnswerBody(response, maxRecordBytes, url + path)) as
      { detail?: unknown } | null | undefined;
    const detail = typeof body?.detail === 'string' ? ` ${body.detail}` : '';
    const { status } = response;
    if (status === 404) return null;
    if (status === 410) throw gone(`${url}${path} is gone.${detail}`);
    if (status === 401 || status === 403)
      throw unauthenticated(`${origin} does not take the key in STELE_KEY.${detail}`);
    throw unreachable(`${url}${path} returned status ${status}.${detail}`);
  }

  /** Whether the host serves files only: records are at `….json`. */
  let isPlain = false;

  /** The JSON at a path, without its ending where a server chooses by `Accept`; null: there is none. */
  async function record(path: string): Promise<Record<string, unknown> | null> {
    let isThere = false;
    for (const ending of isPlain ? ['.json'] : ['', '.json']) {
      const bytes = await read(path + ending, 'application/json', maxRecordBytes);
      const value = bytes === null ? null : parseJson(bytes);
      // A host that serves files may have a page there.
      isThere ||= bytes !== null;
      if (typeof value !== 'object' || value === null) continue;
      isPlain = ending !== '';
      return value as Record<string, unknown>;
    }
    if (isThere) throw notStele(path);
    return null;
  }

  /** A page of JSON, such as `/@acme`, and those after it; null: there is none. */
  async function pages(path: string): Promise<(Record<string, unknown> & { items: unknown[] })[] | null> {
    const found: (Record<string, unknown> & { items: unknown[] })[] = [];
    for (let page = await record(path); page !== null;) {
      const { items, next } = page;
      if (!Array.isArray(items) || found.length === maxPages) throw notStele(path);
      found.push({ ...page, items });
      if (typeof next !== 'string' || !/^[A-Za-z0-9_-]+$/.test(next)) return found;
      page = (await record(isPlain ? `${path}.${next}` : `${path}?cursor=${next}`)) ?? fail(notStele(path));
    }
    return null;
  }

  async function history(coordinate: Coordinate): Promise<SourceHistory> {
    const path = `/${formatCoordinate(coordinate)}/versions`;
    const found = await pages(path);
    if (found === null) throw notFound(`${url} has no ${formatCoordinate(coordinate)}. ${advice}.`);
    const versions = found.flatMap(({ items }) => items.map((item) => versionOf(item) ?? fail(notStele(path))));
    const latest = found[0]!['latest'];
    return { versions: versions.reverse(), latest: typeof latest === 'string' ? latest : null };
  }

  async function describe(coordinate: Coordinate, selector: Selector): Promise<SourceVersion | null> {
    const path = `/${formatCoordinate(coordinate, selector)}/provenance`;
    const answer = await record(path);
    if (answer === null) return null;
    const { version, manifest } = answer;
    if (typeof version !== 'string' || !isLabel(version) || typeof manifest !== 'string' || !isDigest(manifest))
      throw notStele(path);
    const found = { version, digest: manifest };
    if (!isMeant(selector, found))
      throw refused(`${url} answers ${path} with another version, ${version} (${manifest}).`);
    return found;
  }

  function notStele(path: string): RegistryError {
    return unreachable(`${url}${path} is not what a Stele registry returns. Check the URL.`);
  }

  return {
    history,
    /** The file at a path, such as `/log/checkpoint`; null: there is none. */
    file: (path: string): Promise<Uint8Array | null> => read(path, '*/*', maxRecordBytes),
    /** What a selector means now. Nothing proves that it is the newest. */
    async find(coordinate: Coordinate, selector: Selector): Promise<SourceVersion> {
      const direct = await describe(coordinate, selector);
      if (direct !== null) return direct;
      // A static host cannot resolve ranges; a server also knows withdrawn versions.
      const { versions, latest } = await history(coordinate);
      const label = selectVersion({ versions, latest }, selector)?.version.label;
      const listed = label === undefined ? null : await describe(coordinate, { kind: 'version', version: label });
      if (listed !== null) return listed;
      const readLabel = readerOf(versions);
      const labels = versions
        .toReversed()
        .toSorted((a, b) => {
          const [one, other] = [readLabel(a.label), readLabel(b.label)];
          return one && other ? compareSemanticVersions(other, one) : 0;
        })
        .slice(0, 5)
        .map((each) => (each.status.state === 'active' ? each.label : `${each.label} (${each.status.state})`));
      const newest = labels.length === 0 ? 'It has no version.' : `The newest are ${labels.join(', ')}.`;
      throw notFound(`${url} has no ${formatCoordinate(coordinate, selector)}. ${newest}`);
    },
    pages,
    /** The document that readers of `latest` get; null: none. */
    latest: (coordinate: Coordinate, format: Format): Promise<Uint8Array | null> =>
      read(
        `/${formatCoordinate(coordinate)}${isPlain ? `.${format}` : ''}`,
        `application/${format}`,
        maxDocumentBytes,
      ).catch(insteadOf('gone', null)),
    /** Whether a version is served to everybody. */
    async isPublic(coordinate: Coordinate, version: string): Promise<boolean> {
      if (key === undefined) return true;
      const path = `/${formatCoordinate(coordinate, { kind: 'version', version })}/provenance${isPlain ? '.json' : ''}`;
      const { ok, status, body } = await ask(path, 'application/json', {});
      await body?.cancel();
      if (ok || [401, 403, 404, 410].includes(status)) return ok;
      throw unreachable(`${url}${path} returned status ${status}.`);
    },
    /** A version's manifest, which says what its bytes are. Rejects with `refused` unless it has the digest. */
    async manifest(coordinate: Coordinate, version: string, digest: Digest): Promise<Uint8Array> {
      const name = formatCoordinate(coordinate, { kind: 'version', version });
      const path = `/${name}/manifest`;
      let bytes: Buffer | null = null;
      for (const ending of isPlain ? ['.json'] : ['', '.json'])
        bytes ??= await read(path + ending, 'application/json', maxRecordBytes);
      if (bytes !== null && digestOf(bytes) === digest) return bytes;
      const what = bytes === null ? 'no manifest' : 'another manifest';
      throw refused(
        `${url} sent ${what} of ${name}, which is ${digest}. Nothing was written. Ask who runs that registry.`,
      );
    },
    /** A version's bytes. Rejects with `refused` unless they have the SHA-256. */
    async bytes(coordinate: Coordinate, version: string, format: Format, sha256: string): Promise<Uint8Array> {
      const name = formatCoordinate(coordinate, { kind: 'version', version });
      const bytes = await read(`/${name}.${format}`, `application/${format}`, maxDocumentBytes);
      if (bytes === null)
        throw notFound(
          `${url} no longer has ${name}. If it is private, ${access}. Else choose another version with stele add.`,
        );
      const digest = digestOf(bytes);
      if (hexOf(digest) !== sha256)
        throw refused(
          `${url} sent other bytes for ${name}: expected sha256:${sha256}, received ${digest}. Nothing was written. Ask who runs that registry.`,
        );
      return bytes;
    },
  };
}

/** Two registries may have one origin, each with a path of its own. */
const hrefOf = (url: string): string | undefined => URL.parse(url)?.href.replace(/\/+$/, '');

function fail(error: RegistryError): never {
  throw error;
}

function isMeant(selector: Selector, { version, digest }: SourceVersion): boolean {
  if (selector.kind === 'latest') return true;
  if (selector.kind === 'digest') return selector.digest === digest;
  const only: Version = {
    label: version,
    manifest: digest,
    content: digest,
    publishedAt: '',
    status: { state: 'active' },
  };
  return selectVersion({ versions: [only], latest: version }, selector) !== null;
}

/** The SHA-256 of the plain bytes in a format, by a manifest. */
export function layerOf(manifest: Uint8Array, format: Format): string | null {
  const layers = (parseJson(manifest) as { layers?: unknown } | null | undefined)?.layers;
  const layer = (Array.isArray(layers) ? (layers as (Descriptor | null)[]) : []).find(
    (each) => each?.annotations?.[formatAnnotation] === format && each.annotations[codingAnnotation] === 'identity',
  );
  return layer && isDigest(String(layer.digest)) ? hexOf(layer.digest) : null;
}

function versionOf(item: unknown): Version | null {
  const { version, manifest, publishedAt, status = { state: 'active' } } = (item ?? {}) as Record<string, unknown>;
  if (typeof version !== 'string' || !isLabel(version) || typeof manifest !== 'string' || !isDigest(manifest))
    return null;
  const { state, reason } = (status ?? {}) as { state?: unknown; reason?: unknown };
  const isTold = ['deprecated', 'yanked', 'withdrawn'].includes(state as string) && typeof reason === 'string';
  if (state !== 'active' && !isTold) return null;
  const described = { label: version, manifest, content: manifest, publishedAt: String(publishedAt) };
  return { ...described, status: status as Status };
}

/** The registry that gets the key in STELE_KEY: the one that somebody named. */
export function trustedRegistry(given?: string): string | undefined {
  return given ?? readUserDefaults().registry;
}

/** The coordinate of an entry of a lock. */
export function coordinateIn({ contract }: Pick<LockedContract, 'contract'>): Coordinate {
  return parseCoordinate(contract)!.coordinate;
}

/** Bytes that the cache keeps. */
const sizeLimit = 2 ** 29;

const place = (sha256: string): string => `sha256/${sha256.slice(0, 2)}/${sha256.slice(2)}`;

/** The bytes with a SHA-256 that this user has; null: none. */
async function cached(sha256: string): Promise<Uint8Array | null> {
  const bytes = await openCache()
    .get(place(sha256))
    .catch(() => null);
  return bytes !== null && hexOf(digestOf(bytes)) === sha256 ? bytes : null;
}

async function keep(sha256: string, bytes: Uint8Array): Promise<Uint8Array> {
  // Without a cache, it only takes longer.
  await openCache()
    .put(place(sha256), bytes)
    .catch(() => undefined);
  return bytes;
}

/** Opens the cache of this user. */
export function openCache(): Cache {
  return openFolderCache(join(userCacheFolder(), 'stele', 'contracts'), { sizeLimit });
}

/** Whether the bytes of an entry are here. */
export async function isCached({ sha256 }: LockedContract): Promise<boolean> {
  return (await cached(sha256)) !== null;
}

/**
 * Returns the bytes of an entry: from the cache of this user, by their SHA-256, else from the file itself in this
 * folder, else from its registry. `trusted`: the registry that gets the key. Rejects as `ContractSource.bytes` does.
 */
export async function contractBytes(
  entry: LockedContract,
  trusted: string | undefined,
  folder: string | null = null,
): Promise<Uint8Array> {
  const { path, version, registry, sha256 } = entry;
  const reading = folder === null ? null : readTreeFile(folder, path, maxDocumentBytes);
  const there = await Promise.resolve(reading).catch(insteadOf('malformed', null));
  if (there !== null && hexOf(digestOf(there)) === sha256) return there;
  const source = openContractSource(registry, trusted);
  const fetched = async () =>
    keep(sha256, await source.bytes(coordinateIn(entry), version, formatOfFile(path), sha256));
  return (await cached(sha256)) ?? fetched();
}

/**
 * The SHA-256 of a version's bytes in the format of a file, as its manifest says, from the cache or its registry. Rejects as
 * `ContractSource.manifest` does.
 */
export async function sha256Of(
  entry: Pick<LockedContract, 'contract' | 'version' | 'registry' | 'path' | 'digest'>,
  trusted: string | undefined,
): Promise<string> {
  const { registry, contract, version, digest, path } = entry;
  const hex = hexOf(digest);
  const source = openContractSource(registry, trusted);
  const fetched = async () => keep(hex, await source.manifest(coordinateIn(entry), version, digest));
  const sha256 = layerOf((await cached(hex)) ?? (await fetched()), formatOfFile(path));
  if (sha256 !== null) return sha256;
  throw refused(`The manifest of ${contract}@${version} at ${registry} does not say what its bytes are.`);
}
