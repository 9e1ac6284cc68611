import type { ServerResponse } from 'node:http';
import { resourceKey } from '../../model/cache-key.ts';
import {
  formatAddress,
  parseAddress,
  type Address,
  parseSelector,
  type AddressView,
  type ResourceType,
} from '../../model/address.ts';
import { isRegistryError, RegistryError, notFound, notAcceptable, malformed } from '../../model/errors.ts';
import { type Resource } from '../../model/resource.ts';
import {
  grantRead,
  grantVersion,
  type Granted,
  type GrantedVersion,
  findImage,
  openBlob,
} from '../../registry/read.ts';
import type { Reads } from '../../store/log/reads.ts';
import type { Authenticate } from '../authenticate.ts';
import type { ServerContext } from '../server-context.ts';
import { createSendDocument, type ResourceAddress, prepare, sendPrepared } from './send-document.ts';
import type { Face } from '../door.ts';
import { sendProblem, explainAbsence, grantSelected, absent, orAbsent } from '../error-answers.ts';
import { corsHeaders, flattenFields } from '../headers.ts';
import { sharingOf, type Lifetime } from './caching.ts';
import type { Site } from '../../site/site.ts';
import { sendListing, sendDependants, sendGraph } from './listing-handler.ts';
import { memoize, chooseType, splitTarget, type ReadRequest } from './read-request.ts';
import { answerMethod } from '../methods.ts';
import type { Hits } from '../fast-path.ts';
import type { ReadLimit } from '../rate-limit.ts';
import { findRejected } from '../../sync/owners/describe-followed.ts';
import { sendSite } from '../../sites/server/send-site.ts';
import { sendProof } from './public-log-handler.ts';
import { createSendResourcePage, sendUnpublished } from './resource-pages.ts';
import {
  sendAttestation,
  sendManifest,
  sendProvenance,
  sendReport,
  sendVersions,
  sendValue,
  wantsPage,
} from './views.ts';
import { comparedWith } from '../../model/compared-with.ts';
import { comparisonOf } from '../../registry/compare-versions.ts';
import { diffMarkdown, diffPage } from '../../site/pages/diff-page.ts';
import { bytesOf, pageSharing, sendPage } from '../send-page.ts';

/** Whether a request target is a read of the registry. The catalogs of organizations are discovery documents. */
export function isRead(target: string): boolean {
  if (/^\/@[^/]+\/catalog(?:\.json|-info\.yaml)(?:$|\?)/.test(target)) return false;
  return ['/@', '/%40', '/sites/'].some((start) => target.startsWith(start));
}

/**
 * The registry's reads (design §8): requests whose path starts with `/@` or `/sites/`. Each authenticates, parses the address and checks access before
 * anything else.
 */
export function createReads(
  context: ServerContext & { site: Site },
  authenticate: Authenticate,
  { limit, hits }: { limit: ReadLimit | null; hits: Hits | null },
): Face {
  const { links } = context.site;
  const send = {
    document: createSendDocument(context.site),
    page: createSendResourcePage(context.site, context.pagePatience),
  };
  const addressOf = memoize(parseAddress);
  return {
    async answer(request, response) {
      const { path, query } = splitTarget(request.url!);
      const address = addressOf(path);
      limit?.(request, response);
      const principal = await authenticate(request);
      const reads: Reads = new Map();
      const keep: ReadRequest['keep'] = (resource, sent, bytes) =>
        hits!.keep(request, { route: patternOf(address), principal, resource, reads }, sent, bytes);
      const read = { context, links, request, response, principal, query, ...(hits && { keep }) };
      await context.site.answers.noting(reads, () => answer(read, address, send));
    },
    refuse: (request, response, error) => sendProblem(context, request, response, error),
    routeOf: (request) => patternOf(addressOf(splitTarget(request.url!).path)),
  };
}

interface Send {
  document: ReturnType<typeof createSendDocument>;
  page: ReturnType<typeof createSendResourcePage>;
}

async function answer(read: ReadRequest, address: Address | null, send: Send): Promise<void> {
  if (address === null) throw absent();
  if (address.kind === 'site') return sendSite(read, address);
  if (address.kind === 'graph') return sendGraph(read, address.org);
  if (address.kind !== 'resource') {
    await sendListing(read, address.org, address.kind === 'type' ? address.type : null);
    return;
  }
  const granted = await grantRead(read.context.registry, read.principal, address.coordinate);
  if (granted === null) return answerAbsent(read, address);
  try {
    if (!answerMethod(read, granted.resource.visibility)) await sendView(read, granted, address, send);
  } catch (error) {
    allowScripts(read.response, granted.resource);
    throw isRegistryError(error, 'gone') || isRegistryError(error, 'not_found')
      ? withWayBack(read, granted, error)
      : error;
  }
}

/** Of what does not exist, its organization's members see why its document was rejected, on a page. */
async function answerAbsent(read: ReadRequest, address: ResourceAddress): Promise<void> {
  const isLatest = address.selector.kind === 'latest';
  const isPage = address.view === 'page' || (address.view === 'document' && address.format === null && wantsPage(read));
  const rejected =
    isLatest && isPage ? await findRejected(read.context.registry, read.principal, address.coordinate) : null;
  if (rejected === null) throw absent();
  if (!answerMethod(read, 'private')) await sendUnpublished(read, rejected);
}

const maxNamed = 20;

/** The error for a version that is withdrawn, or was never there, names the newest others. */
function withWayBack({ links }: ReadRequest, { resource }: Granted, { code, message }: RegistryError): RegistryError {
  const readable = resource.versions.filter(({ status }) => status.state !== 'withdrawn');
  const versions = readable.slice(-maxNamed).map(({ label }) => label);
  const extra = { resource: links.url(resource), versions: versions.toReversed() };
  return new RegistryError(code, message, { extra });
}

/** Lets scripts of other origins read the error of a public resource. */
function allowScripts(response: ServerResponse, { visibility }: Resource): void {
  if (visibility !== 'public' || response.headersSent) return;
  for (const [name, value] of Object.entries(corsHeaders)) response.setHeader(name, value);
}

async function sendView(read: ReadRequest, granted: Granted, address: ResourceAddress, send: Send): Promise<void> {
  const { view, selector } = address;
  if (view === 'versions') return sendVersions(read, granted);
  if (view === 'dependants') return sendDependants(read, granted.resource);
  const isDiff = view === 'diff' || view === 'diff-json' || view === 'diff-markdown';
  if (isDiff && selector.kind === 'latest') return sendDiff(read, granted, view, null);
  const selected = grantVersion(granted, selector);
  if (selected === null) {
    const isPage = view === 'page' || (view === 'document' && address.format === null && wantsPage(read));
    if (selector.kind === 'latest' && isPage) return sendUnpublished(read, granted);
    throw notFound(explainAbsence(granted.resource, selector));
  }
  if (!selected.exact) return redirect(read, selected.granted, address);
  const lifetime: Lifetime = selector.kind === 'latest' ? 'latest' : 'pinned';
  if (isDiff) return sendDiff(read, granted, view, selected.granted);
  if (view === 'report') return sendReport(read, selected.granted, lifetime);
  if (view === 'provenance') return sendProvenance(read, selected.granted, lifetime);
  if (view === 'manifest') return sendManifest(read, selected.granted, lifetime);
  if (view === 'attestation') return sendAttestation(read, selected.granted, lifetime);
  if (view === 'try' && address.coordinate.type !== 'apis') throw absent();
  if (view === 'image') return sendImage(read, selected.granted, address.part!, lifetime);
  if (view === 'document' && read.query === 'proof') return sendProof(read, selected.granted);
  if (view !== 'document') return send.page(read, selected.granted, view, address.part);
  return address.format === null && wantsPage(read)
    ? send.page(read, selected.granted, 'page')
    : send.document(read, selected.granted, address);
}

/**
 * Redirects a range to the version that it means now. 307 keeps the method; caches keep it as
 * briefly as `latest`.
 */
function redirect(read: ReadRequest, granted: GrantedVersion, { view, format, part }: ResourceAddress): void {
  const { resource, version } = granted;
  const at = { label: version.label, view, format, ...(part !== undefined && { part }) };
  const target = read.links.to(resource, at);
  const location = read.query === '' ? target : `${target}?${read.query}`;
  const shared = sharingOf(read.context.registry.config, resource, 'latest');
  const fields = flattenFields({ Location: location, 'Content-Length': '0', ...shared });
  read.response.writeHead(307, fields).end();
  const sent = { status: '307 Temporary Redirect', etag: null, size: 0, common: fields, full: fields } as const;
  read.keep?.(resource, sent, new Uint8Array());
}

/** An SVG that is opened by itself has its own styles, and no scripts, links or other files. */
const svgPolicy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox";

/** Sends an image that a version's document shows. Its name has its digest, so its bytes never change. */
async function sendImage(
  { context: { registry }, request, response }: ReadRequest,
  granted: GrantedVersion,
  name: string,
  lifetime: Lifetime,
): Promise<void> {
  const layer = orAbsent(await findImage(registry, granted, name));
  const shared = sharingOf(registry.config, granted.resource, lifetime);
  const common = { ...shared, ...(layer.mediaType === 'image/svg+xml' && { 'Content-Security-Policy': svgPolicy }) };
  const content = { 'Content-Type': layer.mediaType };
  const prepared = prepare({ etag: `"${layer.digest}"`, size: layer.size, ranges: true }, { common, content });
  await sendPrepared(request, response, prepared, () => openBlob(registry, granted, layer.digest));
}

const placeholders = { org: '{org}', type: '{type}' as ResourceType, slug: '{slug}' };

/** The route pattern of an address, for metrics. Their number is finite, whatever clients request. */
function patternOf(address: Address | null): string {
  if (address === null) return 'unmatched';
  if (address.kind === 'site') return '/sites/{org}/{site}';
  if (address.kind !== 'resource') return formatAddress({ ...address, ...placeholders });
  const part = `{${address.view}}`;
  return formatAddress({ ...address, coordinate: placeholders, selector: { kind: 'latest' }, part, format: null });
}

/**
 * Sends what changed between two versions: `?from=` (default: the predecessor of the other) and
 * `?to=` (default: latest), written as after the `@` of a URL. `pinned`: the version in the path, which
 * takes the place of `to`. As JSON, as a page, or as Markdown. Without an earlier version, `from` and
 * `verdict` are null.
 */
async function sendDiff(
  read: ReadRequest,
  granted: Granted,
  view: Extract<AddressView, 'diff' | 'diff-json' | 'diff-markdown'>,
  pinned: GrantedVersion | null,
): Promise<void> {
  const { site, registry } = read.context;
  const { resource } = granted;
  const query = new URLSearchParams(read.query);
  if (pinned !== null && query.has('to'))
    throw malformed('The path names the later version. Leave out the parameter to.');
  const to = pinned ?? versionFor(granted, query, 'to') ?? grantSelected(granted, { kind: 'latest' });
  const before = comparedWith(resource, to.version);
  const from = versionFor(granted, query, 'from') ?? (before && { ...granted, version: before });
  const comparison = from && (await comparisonOf(registry, from, to));
  const form = formOf(view, query.get('format'), read.request.headers.accept);
  if (form === 'json') {
    const none = { verdict: null, counts: null, changes: null, truncated: false, reason: null };
    const body = { from: from?.version.label ?? null, to: to.version.label, ...(comparison ?? none) };
    return sendValue(read, body, sharingOf(registry.config, resource, 'latest'));
  }
  const headers = pageSharing(registry.config, {
    isPublic: resource.visibility === 'public',
    keys: [resourceKey(resource)],
  });
  if (form === 'markdown') {
    const text = diffMarkdown(site, from, to, comparison);
    return sendPage(read, registry, bytesOf(text), { headers, mediaType: 'text/markdown; charset=utf-8' });
  }
  return sendPage(read, registry, bytesOf(await diffPage(site, from, to, comparison)), { headers });
}

const forms: Readonly<Record<string, 'json' | 'markdown' | 'html'>> = {
  'application/json': 'json',
  'text/html': 'html',
  'text/markdown': 'markdown',
};

/** The form of the answer: a parameter wins over the suffix, and that over `Accept`. JSON first. */
function formOf(view: AddressView, format: string | null, accept: string | undefined): 'json' | 'markdown' | 'html' {
  if (format === 'json' || format === 'html' || format === 'markdown') return format;
  if (format === 'md') return 'markdown';
  if (format === null && view !== 'diff') return view === 'diff-json' ? 'json' : 'markdown';
  const type =
    format !== null ? null : accept === undefined ? 'application/json' : chooseType(accept, Object.keys(forms));
  if (type !== null) return forms[type]!;
  const extra = { available: Object.keys(forms).map((mediaType) => ({ mediaType })) };
  throw notAcceptable(`A comparison is available as ${Object.keys(forms).join(', ')}.`, { extra });
}

/**
 * The version in a parameter; null if the parameter is absent. Throws `malformed`, `not_found` or
 * `gone`.
 */
function versionFor(granted: Granted, query: URLSearchParams, name: 'from' | 'to'): GrantedVersion | null {
  // An unencoded plus sign arrives as a space, which no label contains.
  const [text, ...more] = query.getAll(name);
  if (text === undefined) return null;
  const selector = more.length > 0 ? null : parseSelector(text.replaceAll(' ', '+'));
  if (selector === null) throw malformed(`The parameter ${name} must be a single version.`);
  return grantSelected(granted, selector);
}
