import type { ServerResponse } from 'node:http';
import { resourceKey } from '../../model/cache-key.ts';
import { parseAddress, type Address } from '../../model/address.ts';
import { isRegistryError, RegistryError } from '../../model/errors.ts';
import { coordinateOf, type Resource } from '../../model/resource.ts';
import { grantRead, grantVersion, type Granted, type GrantedVersion } from '../../registry/read.ts';
import { logsOf } from '../../registry/answer-cache.ts';
import type { Authenticate } from '../authenticate.ts';
import type { ServerContext } from '../server-context.ts';
import { sendDiff } from './diff.ts';
import { createSendDocument, type ResourceAddress, type SendDocument } from './documents.ts';
import type { Face } from '../door.ts';
import { sendProblem } from '../error-answers.ts';
import { corsHeaders, flatten } from '../headers.ts';
import { sharing, type Lifetime } from './lifetime.ts';
import type { Site } from '../../site/site.ts';
import { sendListing, type SendListing } from './listing-handler.ts';
import { memoize } from '../memoize.ts';
import { answerMethod } from '../methods.ts';
import { prefersPage } from './negotiate.ts';
import { explainAbsence, nothingHere } from '../nothing-here.ts';
import type { Hits } from '../fast-path/hits.ts';
import type { ReadLimit } from '../rate/read-limit.ts';
import { patternOf } from './read-patterns.ts';
import { splitTarget, type ReadRequest } from './read-request.ts';
import { findRejected } from '../../sync/owners/rejected.ts';
import { sendSite } from '../../sites/server/send-site.ts';
import { sendImage } from './images.ts';
import { sendProof } from './public-log-handler.ts';
import { createSendResourcePage, sendUnpublished, type SendResourcePage } from './resource-pages.ts';
import { sendDependants, sendGraph } from './uses-handler.ts';
import { sendAttestation, sendManifest, sendProvenance, sendReport, sendVersions } from './views.ts';

/** Whether a request target is a read of the registry. The catalogs of organizations are discovery documents. */
export function isRead(target: string): boolean {
  if (/^\/@[^/]+\/catalog(?:\.json|-info\.yaml)(?:$|\?)/.test(target)) return false;
  return (
    target.startsWith('/@') ||
    target.startsWith('/%40') ||
    target.startsWith('/sites/') ||
    /^https?:\/\/[^/]*\/(?:@|%40|sites\/)/i.test(target)
  );
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
    listing: sendListing,
  };
  const addressOf = memoize(parseAddress);
  return {
    async answer(request, response) {
      const { path, query } = splitTarget(request.url!);
      const address = addressOf(path);
      limit?.(request, response);
      const principal = await authenticate(request);
      const moment = hits && address && (await context.site.answers.moment(logsOf(organizationOf(address))));
      const keep: ReadRequest['keep'] = (resource, sent, bytes) =>
        hits!.keep(request, { route: patternOf(address), principal, resource, moment: moment! }, sent, bytes);
      const read = { context, links, request, response, principal, query, ...(moment && { keep }) };
      await answer(read, address, send);
    },
    refuse: (request, response, error) => sendProblem(context, request, response, error),
    routeOf: (request) => patternOf(addressOf(splitTarget(request.url!).path)),
  };
}

function organizationOf(address: Address): string {
  return address.kind === 'resource' ? address.coordinate.org : address.org;
}

/** Sends a version as a document or as pages, and lists. */
interface Send {
  document: SendDocument;
  page: SendResourcePage;
  listing: SendListing;
}

async function answer(read: ReadRequest, address: Address | null, send: Send): Promise<void> {
  if (address === null) throw new RegistryError('not_found', nothingHere);
  if (address.kind === 'site') return sendSite(read, address);
  if (address.kind === 'graph') return sendGraph(read, address.org);
  if (address.kind !== 'resource') {
    await send.listing(read, address.org, address.kind === 'type' ? address.type : null);
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
  const isPage = address.view === 'page' || (address.view === 'document' && wantsPage(read, address));
  const rejected =
    isLatest && isPage ? await findRejected(read.context.registry, read.principal, address.coordinate) : null;
  if (rejected === null) throw new RegistryError('not_found', nothingHere);
  if (!answerMethod(read, 'private')) await sendUnpublished(read, rejected);
}

/** The most versions that an error names. */
const maxNamed = 20;

/** The error for a version that is withdrawn, or was never there, names the newest others. */
function withWayBack({ links }: ReadRequest, { resource }: Granted, { code, message }: RegistryError): RegistryError {
  const readable = resource.versions.filter(({ status }) => status.state !== 'withdrawn');
  const versions = readable.slice(-maxNamed).map(({ label }) => label);
  const extra = { resource: links.whole(links.to(coordinateOf(resource))), versions: versions.toReversed() };
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
    const isPage = view === 'page' || (view === 'document' && wantsPage(read, address));
    if (selector.kind === 'latest' && isPage) return sendUnpublished(read, granted);
    throw new RegistryError('not_found', explainAbsence(granted.resource, selector));
  }
  if (!selected.exact) return redirect(read, selected.granted, address);
  const lifetime: Lifetime = selector.kind === 'latest' ? 'latest' : 'pinned';
  if (isDiff) return sendDiff(read, granted, view, selected.granted);
  if (view === 'report') return sendReport(read, selected.granted, lifetime);
  if (view === 'provenance') return sendProvenance(read, selected.granted, lifetime);
  if (view === 'manifest') return sendManifest(read, selected.granted, lifetime);
  if (view === 'attestation') return sendAttestation(read, selected.granted, lifetime);
  if (view === 'try' && address.coordinate.type !== 'apis') throw new RegistryError('not_found', nothingHere);
  if (view === 'image') return sendImage(read, selected.granted, address.part!, lifetime);
  if (view === 'document' && read.query === 'proof') return sendProof(read, selected.granted);
  if (view !== 'document') return send.page(read, selected.granted, view, address.part);
  return wantsPage(read, address)
    ? send.page(read, selected.granted, 'page')
    : send.document(read, selected.granted, address);
}

/**
 * Whether a URL that serves documents and pages should send the page. A format in the URL wins over
 * `Accept`.
 */
function wantsPage({ request, query }: ReadRequest, { format }: ResourceAddress): boolean {
  return format === null && !query.includes('format=') && prefersPage(request.headers.accept);
}

/**
 * Redirects a range to the version that it means now. 307 keeps the method; caches keep it as
 * briefly as `latest`.
 */
function redirect(read: ReadRequest, granted: GrantedVersion, { view, format, part }: ResourceAddress): void {
  const { resource, version } = granted;
  const at = { label: version.label, view, format, ...(part !== undefined && { part }) };
  const target = read.links.to(coordinateOf(resource), at);
  const location = read.query === '' ? target : `${target}?${read.query}`;
  const shared = sharing(read.context.registry.config, resource.visibility, 'latest', {
    keys: [resourceKey(resource)],
  });
  const fields = flatten({ Location: location, 'Content-Length': '0', ...shared });
  read.response.writeHead(307, fields).end();
  const sent = { status: '307 Temporary Redirect', etag: null, size: 0, common: fields, full: fields } as const;
  read.keep?.(resource, sent, new Uint8Array());
}
