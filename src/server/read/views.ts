import { malformed, type RegistryError, notFound, notAcceptable } from '../../model/errors.ts';
import { pick } from '../../model/json.ts';
import { toldChanges } from '../../model/compared-with.ts';
import type { Fields } from '../headers.ts';
import { resourceKey } from '../../model/cache-key.ts';
import { anonymous } from '../../model/access.ts';
import { type Resource, type Version } from '../../model/resource.ts';
import { mayReadFindings, showReport } from '../../registry/gate/show-report.ts';
import { readConfig, readManifest, readReport, type Granted, type GrantedVersion } from '../../registry/read.ts';
import { attest } from '../../registry/transparency/public-log.ts';
import { sharingOf, type Audience, type Lifetime } from './caching.ts';
import { statusHeaders, versionLinks, type Links } from '../../site/links.ts';
import { provenancePage, reportPage, versionsPage } from '../../site/pages/version-pages.ts';
import { bytesOf, pageSharing, sendPage, type PageOptions } from '../send-page.ts';
import { chooseCoding, acceptsJson, prefersPage, type ReadRequest } from './read-request.ts';
import { sendBytes } from './send-document.ts';

const defaultLimit = 50;
const highestLimit = 100;

/**
 * The page for `?limit` (1 to 100, default 50) and `?cursor`. `keyOf` identifies an item: the
 * cursor contains the key of the last item sent, so that items added meanwhile do not shift pages.
 * A list has one `keyOf` and does not change. `next`: the cursor of the next page, null on the last. Throws `malformed` for an invalid limit or cursor.
 */
export function pageOf<T>(
  all: readonly T[],
  query: string,
  keyOf: (item: T) => string,
): { items: T[]; next: string | null } {
  const parameters = new URLSearchParams(query);
  const limit = parseLimit(parameters.get('limit'));
  const cursor = parameters.get('cursor');
  const after = cursor === null ? null : Buffer.from(cursor, 'base64url').toString();
  // Many texts decode to the same key, but only one is its cursor.
  const placesIn = () => new Map(all.map((item, index) => [keyOf(item), index]));
  const isOne = after !== null && encodeCursor(after) === cursor;
  const start = isOne ? (places.getOrInsertComputed(all, placesIn).get(after) ?? -1) + 1 : 0;
  if (cursor !== null && start === 0) throw noSuchPlace();
  const items = all.slice(start, start + limit);
  const last = items.at(-1);
  return { items, next: last !== undefined && start + limit < all.length ? encodeCursor(keyOf(last)) : null };
}

/** The error for a cursor that names no item of the list. */
export function noSuchPlace(): RegistryError {
  return malformed('This cursor belongs to another list, or its place is gone. Start again without cursor.', {
    extra: { errors: [{ parameter: 'cursor', detail: 'belongs to another list, or its place is gone' }] },
  });
}

const places = new WeakMap<readonly unknown[], ReadonlyMap<string, number>>();

function parseLimit(text: string | null): number {
  if (text === null) return defaultLimit;
  const limit = Number(text);
  if (!/^\d{1,3}$/.test(text) || limit < 1 || limit > highestLimit) {
    throw malformed(`The parameter limit must be a number from 1 to ${highestLimit}.`);
  }
  return limit;
}

function encodeCursor(key: string): string {
  return Buffer.from(key).toString('base64url');
}

/**
 * Sends a version's report, to people as a page. Who may not read the ruleset that checked it gets the number of its
 * findings; no cache keeps what not everyone may read.
 */
export async function sendReport(read: ReadRequest, granted: GrantedVersion, lifetime: Lifetime): Promise<void> {
  const { registry, site } = read.context;
  const report = await readReport(registry, granted);
  const isForAll = await mayReadFindings(registry, anonymous, report);
  const by = isForAll ? 'everyone' : 'reader';
  const shown = isForAll ? report : await showReport(registry, read.principal, report);
  const isPrivate = !isForAll && shown === report;
  if (wantsPage(read)) return sendRecordPage(read, granted, await reportPage(site, granted, shown), { isPrivate, by });
  const seen = isPrivate ? ({ ...granted.resource, visibility: 'private' } as const) : granted.resource;
  await sendVersionView(read, granted, lifetime, shown, sharingOf(registry.config, seen, lifetime, by));
}

/**
 * Sends where a version came from and how it was made: enough to rebuild and compare it. To people
 * as a page.
 */
export async function sendProvenance(read: ReadRequest, granted: GrantedVersion, lifetime: Lifetime): Promise<void> {
  const { registry, site } = read.context;
  if (wantsPage(read)) return sendRecordPage(read, granted, await provenancePage(site, granted));
  const config = await readConfig(registry, granted);
  const { layers } = await readManifest(registry, granted);
  const { version } = granted;
  await sendVersionView(read, granted, lifetime, {
    version: version.label,
    ...pick(version, 'manifest', 'publishedAt', 'createdAt'),
    ...pick(config, 'kind', 'specification'),
    ...config.provenance,
    ...pick(config, 'view', 'compiler', 'validation', 'ruleset', 'report'),
    layers,
  });
}

/** Sends a version's manifest: its bytes have the version's digest. */
export async function sendManifest(read: ReadRequest, granted: GrantedVersion, lifetime: Lifetime): Promise<void> {
  await sendVersionView(read, granted, lifetime, await readManifest(read.context.registry, granted));
}

/** Sends the signed statement of how a version was made, an envelope (DSSE). */
export async function sendAttestation(read: ReadRequest, granted: GrantedVersion, lifetime: Lifetime): Promise<void> {
  const attestation = await attest(read.context.registry, granted);
  if (attestation === null) throw notFound('This registry signs nothing: it has no url, or no key.');
  await sendVersionView(read, granted, lifetime, attestation.envelope);
}

/** Sends a resource's versions, newest publication first: some at a time, or a page for people. */
export async function sendVersions(read: ReadRequest, granted: Granted): Promise<void> {
  const { resource } = granted;
  if (wantsPage(read)) return sendRecordPage(read, granted, versionsPage(read.context.site, granted));
  const newestFirst = resource.versions.toReversed();
  const { items, next } = pageOf(newestFirst, read.query, ({ label }) => label);
  const body = {
    latest: resource.latest,
    items: items.map((version) => describeVersion(read.links, resource, version)),
    next,
  };
  await sendJson(read, body, sharingOf(read.context.registry.config, resource, 'latest'));
}

function describeVersion(links: Links, resource: Resource, version: Version): object {
  const { label } = version;
  return {
    version: label,
    ...pick(version, 'manifest', 'publishedAt', 'createdAt', 'status', 'original', 'commit', 'problems'),
    changes: toldChanges(resource, version) ?? undefined,
    url: links.url(resource, { label }),
  };
}

async function sendVersionView(
  read: ReadRequest,
  { resource, version }: GrantedVersion,
  lifetime: Lifetime,
  body: unknown,
  shared = sharingOf(read.context.registry.config, resource, lifetime),
): Promise<void> {
  const link = { Link: versionLinks(read.links, resource, version) };
  await sendJson(read, body, { ...statusHeaders(version), ...shared }, link);
}

/** Whether the reader is a person. A parameter asks for the data all the same. */
export function wantsPage({ request, query }: Pick<ReadRequest, 'request' | 'query'>): boolean {
  return !new URLSearchParams(query).has('format') && prefersPage(request.headers.accept);
}

/** Sends the page of a record. `isPrivate`: it shows what not everybody may read. */
async function sendRecordPage(
  read: ReadRequest,
  granted: Granted | GrantedVersion,
  html: string,
  { isPrivate = false, by = 'everyone' }: { isPrivate?: boolean; by?: Audience } = {},
): Promise<void> {
  const { registry } = read.context;
  const { resource } = granted;
  const isPublic = resource.visibility === 'public' && !isPrivate;
  const about =
    'version' in granted
      ? { Link: versionLinks(read.links, resource, granted.version), ...statusHeaders(granted.version) }
      : {};
  const shared = pageSharing(registry.config, { isPublic, by, keys: [resourceKey(resource)] });
  await sendPage(read, registry, bytesOf(html), { headers: { ...about, ...shared } });
}

/** Sends a JSON document. Throws `not_acceptable` if the client does not accept JSON. */
export async function sendJson(
  { request, response, query }: Pick<ReadRequest, 'request' | 'response' | 'query'>,
  body: unknown,
  common: Fields,
  more: Fields = {},
  keep?: PageOptions['keep'],
): Promise<void> {
  const { accept, 'accept-encoding': acceptEncoding } = request.headers;
  const format = new URLSearchParams(query).get('format');
  if ((format !== null && format !== 'json') || !acceptsJson(accept) || chooseCoding(acceptEncoding) === null) {
    const extra = { available: [{ mediaType: 'application/json' }], codings: ['identity'] };
    throw notAcceptable('Only JSON is available. Send Accept: application/json.', { extra });
  }
  return sendValue({ request, response }, body, common, more, keep);
}

/** Sends a JSON document, whatever media type the client asked for. `keep`: called with it. */
export async function sendValue(
  { request, response }: Pick<ReadRequest, 'request' | 'response'>,
  body: unknown,
  common: Fields,
  more: Fields = {},
  keep?: PageOptions['keep'],
): Promise<void> {
  const bytes = Buffer.from(JSON.stringify(body));
  const content = { 'Content-Type': 'application/json', ...more };
  const sent = await sendBytes({ request, response }, bytes, { common, content });
  keep?.(sent, bytes);
}
