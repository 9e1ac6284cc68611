import { isResourceType, isSlug, type Coordinate } from '../../model/address.ts';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { anonymous, type Principal } from '../../model/access.ts';
import { isDigest, type Digest } from '../../model/digest.ts';
import { RegistryError, isRegistryError, type ErrorCode } from '../../model/errors.ts';
import {
  grantRead,
  grantVersion,
  openBlob,
  readReport,
  type Granted,
  type GrantedVersion,
} from '../../registry/read.ts';
import { mayReadFindings } from '../../registry/gate/show-report.ts';
import type { Registry } from '../../registry/registry.ts';
import type { Authenticate } from '../authenticate.ts';
import type { Face } from '../door.ts';
import { securityHeaders, type Fields } from '../headers.ts';
import { answerMethod } from '../methods.ts';
import { sharingOf, type Lifetime } from '../read/caching.ts';
import type { ReadLimit } from '../rate-limit.ts';
import { splitTarget } from '../read/read-request.ts';
import { prepare, sendBytes, sendPrepared } from '../read/send-document.ts';
import type { ServerContext } from '../server-context.ts';
import {
  createContentsIndex,
  type Contents,
  type ContentsIndex,
  emptyBlob,
  emptyDigest,
  indexType,
  manifestType,
  referrersIndex,
  type Referrer,
} from './oci-contents.ts';
import { attest } from '../../registry/transparency/public-log.ts';
import type { Resource } from '../../model/resource.ts';
import { logFailure, problemTypes, asRefusal, retryFields, sendError } from '../error-answers.ts';
import { requestIdOf } from '../request.ts';

type OciPath =
  | { kind: 'ping' }
  | { kind: 'tags'; coordinate: Coordinate }
  | { kind: 'manifests' | 'blobs' | 'referrers'; coordinate: Coordinate; reference: string };

const grammar =
  /^\/v2\/([^/]+)\/([^/]+)\/([^/]+)\/(?:(?<kind>manifests|blobs|referrers)\/(?<reference>[^/]+)|tags\/list)$/;

/** Whether a request target belongs to the OCI distribution API. */
export function isOci(target: string): boolean {
  return /^\/v2(?:[/?]|$)/.test(target);
}

/**
 * Parses a path of the OCI distribution API. A repository is named `{org}/{type}/{slug}`. Null for
 * anything else. Clients may percent-encode the `:` of a digest.
 */
export function parseOciPath(path: string): OciPath | null {
  if (path === '/v2' || path === '/v2/') return { kind: 'ping' };
  const match = path.length > 1024 ? null : grammar.exec(path.replaceAll(/%3a/gi, ':'));
  if (match === null) return null;
  const [, org, type, slug] = match as unknown as [string, string, string, string];
  if (!isSlug(org) || !isResourceType(type) || !isSlug(slug)) return null;
  const coordinate = { org, type, slug };
  const { kind, reference } = match.groups!;
  return kind === undefined
    ? { kind: 'tags', coordinate }
    : { kind: kind as 'manifests', coordinate, reference: reference! };
}

interface OciRequest {
  registry: Registry;
  principal: Principal;
  index: ContentsIndex;
  request: IncomingMessage;
  response: ServerResponse;
  query: URLSearchParams;
}

/**
 * The registry as OCI clients see it, to read from: a repository for each resource, a tag for each
 * version (OCI distribution specification 1.1, category "pull", with tags and referrers).
 */
export function createOci(context: ServerContext, authenticate: Authenticate, limit: ReadLimit | null): Face {
  const { registry } = context;
  const index = createContentsIndex(registry);
  return {
    async answer(request, response) {
      const { path, query } = splitTarget(request.url!);
      const named = parseOciPath(path);
      limit?.(request, response);
      dropEmptyCredential(request);
      const principal = await authenticate(request);
      if (!['GET', 'HEAD', 'OPTIONS'].includes(request.method!))
        throw ociError('method_not_allowed', 'UNSUPPORTED', 'OCI clients can only read. Publish with `stele publish`.');
      if (named?.kind === 'ping') {
        if (!answerMethod({ request, response }, 'public')) sendPing(request, response);
        return;
      }
      const granted = named && (await grantRead(registry, principal, named.coordinate));
      if (named === null || granted === null) throw ociError('not_found', 'NAME_UNKNOWN', unknown);
      const asked = { registry, principal, index, request, response, query: new URLSearchParams(query) };
      if (!answerMethod(asked, granted.resource.visibility)) await answer(asked, granted, named);
    },
    refuse: (request, response, error) => sendOciError(context, request, response, error),
    routeOf: (request) => patternOf(parseOciPath(splitTarget(request.url!).path)),
  };
}

const unknown = 'No such repository, or you have no access. Send a key as the password of any user.';

function patternOf(named: OciPath | null): string {
  if (named === null) return 'unmatched';
  if (named.kind === 'ping') return '/v2/';
  return named.kind === 'tags' ? '/v2/{name}/tags/list' : `/v2/{name}/${named.kind}/{reference}`;
}

/** A client that has no credential answers the challenge with an empty name and password. */
function dropEmptyCredential({ headers }: IncomingMessage): void {
  if (/^basic +Og==$/i.test(headers.authorization ?? '')) delete headers.authorization;
}

/** Says that this API is here. The challenge makes clients send a key if they have one. */
function sendPing(request: IncomingMessage, response: ServerResponse): void {
  const fields = { ...ociHeaders, ...challenge, 'Content-Type': 'application/json', 'Cache-Control': 'no-store' };
  response.writeHead(200, { ...fields, ...securityHeaders, 'Content-Length': emptyBlob.byteLength });
  response.end(request.method === 'GET' ? emptyBlob : undefined);
}

async function answer(asked: OciRequest, granted: Granted, named: Exclude<OciPath, { kind: 'ping' }>): Promise<void> {
  if (named.kind === 'tags') return sendTags(asked, granted);
  const { kind, reference } = named;
  if (kind === 'manifests') return sendManifest(asked, granted, reference);
  if (!isDigest(reference)) {
    throw ociError('malformed', 'DIGEST_INVALID', 'The digest must be sha256: and 64 hexadecimal digits.');
  }
  return kind === 'blobs' ? sendBlob(asked, granted, reference) : sendReferrers(asked, granted, reference);
}

async function sendManifest(asked: OciRequest, granted: Granted, reference: string): Promise<void> {
  const label = isDigest(reference) ? null : labelOfTag(granted.resource, reference);
  const selector = isDigest(reference)
    ? ({ kind: 'digest', digest: reference } as const)
    : label === null
      ? null
      : ({ kind: 'version', version: label } as const);
  const selected = selector && grantVersion(granted, selector);
  const lifetime: Lifetime = reference === 'latest' ? 'latest' : 'pinned';
  const named = selected?.granted.version.manifest;
  const { digest, bytes } = named
    ? { digest: named, bytes: await openBlob(asked.registry, selected!.granted, named) }
    : await findReferrer(asked, granted, reference);
  await send(asked, granted, { digest, type: manifestType, lifetime }, bytes.byteLength, async () => bytes);
  // The client asks for the blobs next.
  if (selected) await asked.index.of(selected.granted).catch(() => undefined);
}

/** The manifest of what is about a version. Throws `not_found`. */
async function findReferrer(
  asked: OciRequest,
  granted: Granted,
  reference: string,
): Promise<{ digest: Digest; bytes: Uint8Array }> {
  const version = isDigest(reference) ? await asked.index.holding(granted, reference) : null;
  const referrer = version && (await referrersOf(asked, version)).find((each) => each.descriptor.digest === reference);
  if (!referrer) throw ociError('not_found', 'MANIFEST_UNKNOWN', `The repository has no manifest ${reference}.`);
  return { digest: referrer.descriptor.digest, bytes: referrer.bytes };
}

async function sendBlob(asked: OciRequest, granted: Granted, digest: Digest): Promise<void> {
  const about = { digest, type: 'application/octet-stream', lifetime: 'pinned' } as const;
  if (digest === emptyDigest) return send(asked, granted, about, emptyBlob.byteLength, async () => emptyBlob);
  const version = await asked.index.holding(granted, digest);
  if (version?.attestation?.bundle.digest === digest) {
    const open = async () => (await attest(asked.registry, version.granted))!.bundle;
    return send(asked, granted, about, version.attestation.bundle.size, open);
  }
  const size = version?.blobs.get(digest);
  const isReport = [...(version?.blobs.keys() ?? [])].at(-1) === digest;
  if (size === undefined || (isReport && !(await maySeeReport(asked, version!.granted))))
    throw ociError('not_found', 'BLOB_UNKNOWN', `The repository has no blob ${digest}.`);
  await send(asked, granted, about, size, () => openBlob(asked.registry, (version as Contents).granted, digest));
}

/**
 * Bytes under a digest cannot leave anything out, so a report is there whole or not at all: for a
 * public resource, whose responses caches share, only if everyone may read its findings.
 */
async function maySeeReport({ registry, principal }: OciRequest, granted: GrantedVersion): Promise<boolean> {
  const reader = granted.resource.visibility === 'public' ? anonymous : principal;
  return mayReadFindings(registry, reader, await readReport(registry, granted));
}

async function referrersOf(asked: OciRequest, { granted, report, attestation }: Contents): Promise<Referrer[]> {
  const isReportSeen = await maySeeReport(asked, granted);
  return [...(isReportSeen ? [report] : []), ...(attestation === null ? [] : [attestation])];
}

async function sendReferrers(asked: OciRequest, granted: Granted, digest: Digest): Promise<void> {
  const isVersion = granted.resource.versions.some(
    ({ manifest, status }) => manifest === digest && status.state !== 'withdrawn',
  );
  const selected = isVersion ? grantVersion(granted, { kind: 'digest', digest }) : null;
  // A plus sign in a query is a space; media types have none.
  const wanted = asked.query.get('artifactType')?.replaceAll(' ', '+') ?? null;
  const referrers = selected === null ? [] : await referrersOf(asked, await asked.index.of(selected.granted));
  const listed = referrers
    .map(({ descriptor }) => descriptor)
    .filter(({ artifactType }) => wanted === null || wanted === artifactType);
  const bytes = Buffer.from(referrersIndex(listed));
  const filtered: Fields = wanted === null ? {} : { 'OCI-Filters-Applied': 'artifactType' };
  await sendMade(asked, granted, indexType, bytes, filtered);
}

const maxTags = 1000;

async function sendTags(asked: OciRequest, granted: Granted): Promise<void> {
  const { query } = asked;
  const count = query.get('n') ?? String(maxTags);
  if (!/^\d+$/.test(count)) throw ociError('malformed', 'UNSUPPORTED', 'n must be a number.');
  const { org, type, slug } = granted.resource;
  const name = `${org}/${type}/${slug}`;
  const all = listTags(granted.resource, query.get('last'));
  const tags = all.slice(0, Math.min(Number(count), maxTags));
  const next = `</v2/${name}/tags/list?n=${tags.length}&last=${tags.at(-1)}>; rel="next"`;
  const hasMore = tags.length > 0 && tags.length < all.length;
  const bytes = Buffer.from(JSON.stringify({ name, tags }));
  await sendMade(asked, granted, 'application/json', bytes, hasMore ? { Link: next } : {});
}

/** What is sent: its digest, which is its entity tag too. */
interface About {
  digest: Digest;
  type: string;
  lifetime: Lifetime;
}

async function send(
  asked: OciRequest,
  { resource }: Granted,
  { digest, type, lifetime }: About,
  size: number,
  open: () => Promise<Uint8Array>,
): Promise<void> {
  const { registry, request, response } = asked;
  const shared = sharingOf(registry.config, resource, lifetime);
  const common = { ...ociHeaders, 'Docker-Content-Digest': digest, ...shared };
  const prepared = prepare({ etag: `"${digest}"`, size, ranges: true }, { common, content: { 'Content-Type': type } });
  await sendPrepared(request, response, prepared, open);
}

/** Sends a list that changes with the resource. */
async function sendMade(
  { registry, request, response }: OciRequest,
  { resource }: Granted,
  type: string,
  bytes: Buffer,
  more: Fields,
): Promise<void> {
  const common = { ...ociHeaders, ...sharingOf(registry.config, resource, 'latest'), ...more };
  await sendBytes({ request, response }, bytes, { common, content: { 'Content-Type': type } });
}

/** The tag of a label. Tags have no `+`, so it becomes `_`, as in Helm. */
function tagOf(label: string): string {
  return label.replaceAll('+', '_');
}

/**
 * The label that a tag means, or null. Of two labels with the same tag, the tag is that of the one
 * that was published first, so that a tag never moves; the other has only its digest.
 */
function labelOfTag({ versions, latest }: Pick<Resource, 'versions' | 'latest'>, tag: string): string | null {
  if (tag === 'latest') return latest;
  const named = versions.filter(({ label }) => tagOf(label) === tag);
  return named.length === 0 ? null : named.reduce((a, b) => (b.publishedAt < a.publishedAt ? b : a)).label;
}

/** The tags of all versions that can be read, in lexical order after the tag `last`. */
export function listTags(resource: Pick<Resource, 'versions' | 'latest'>, last: string | null): string[] {
  const tags = new Set(resource.latest === null ? [] : ['latest']);
  for (const { label, status } of resource.versions) if (status.state !== 'withdrawn') tags.add(tagOf(label));
  const sorted = [...tags].sort(inOrder);
  return last === null ? sorted : sorted.filter((tag) => inOrder(tag, last) > 0);
}

/** Ignoring case first, as the specification asks. */
function inOrder(a: string, b: string): number {
  const compare = (one: string, other: string) => (one === other ? 0 : one < other ? -1 : 1);
  return compare(a.toLowerCase(), b.toLowerCase()) || compare(a, b);
}

type OciCode =
  | 'NAME_UNKNOWN'
  | 'MANIFEST_UNKNOWN'
  | 'BLOB_UNKNOWN'
  | 'DIGEST_INVALID'
  | 'UNAUTHORIZED'
  | 'DENIED'
  | 'UNSUPPORTED'
  | 'TOOMANYREQUESTS';

const codes: Partial<Record<ErrorCode, OciCode>> = {
  unauthenticated: 'UNAUTHORIZED',
  forbidden: 'DENIED',
  not_found: 'NAME_UNKNOWN',
  gone: 'MANIFEST_UNKNOWN',
  rate_limited: 'TOOMANYREQUESTS',
};

function ociError(code: ErrorCode, oci: OciCode, message: string): RegistryError {
  return new RegistryError(code, message, { extra: { oci } });
}

const ociHeaders: Fields = { 'Docker-Distribution-Api-Version': 'registry/2.0' };

/** Tells clients how to send a key: as the password, with any name. */
const challenge: Fields = { 'WWW-Authenticate': 'Basic realm="stele"' };

/** Sends an error in the form of the OCI distribution specification. A bug is logged and sent without its message. */
function sendOciError(
  { registry }: Pick<ServerContext, 'registry'>,
  request: IncomingMessage,
  response: ServerResponse,
  error: unknown,
): void {
  const refusal = asRefusal(error);
  logFailure(registry, request, refusal, error);
  const { status, meaning } = problemTypes[refusal?.code ?? 'internal'];
  const code = refusal?.extra['oci'] ?? (refusal === null ? 'UNKNOWN' : (codes[refusal.code] ?? 'UNSUPPORTED'));
  const body = Buffer.from(JSON.stringify({ errors: [{ code, message: refusal?.message ?? meaning }] }));
  const mayNeedKey = isRegistryError(refusal, 'unauthenticated') || isRegistryError(refusal, 'not_found');
  const fields: Fields = {
    ...ociHeaders,
    'Content-Type': 'application/json',
    'Cache-Control': 'no-store',
    'X-Request-Id': requestIdOf(request),
    ...securityHeaders,
    ...(mayNeedKey && challenge),
    ...retryFields(refusal),
  };
  sendError(request, response, status, fields, body);
}
