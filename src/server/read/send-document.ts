import type { Sent } from '../fast-path.ts';
import { type Fields, flattenFields } from '../headers.ts';
import { nameOf, type Resource, type Version } from '../../model/resource.ts';
import type { Address, Format } from '../../model/address.ts';
import { findLayer, type Coding, type Descriptor } from '../../model/artifact.ts';
import { digestOf, formatReprDigest } from '../../model/digest.ts';
import { RegistryError, notAcceptable, malformed } from '../../model/errors.ts';
import { openBlob, readManifest, type GrantedVersion } from '../../registry/read.ts';
import { hasPublicLog } from '../../registry/transparency/log-key.ts';
import { sharingOf, type Lifetime, chooseRange, evaluateConditions, type ByteRange } from './caching.ts';
import { statusHeaders, versionLinks, type Links } from '../../site/links.ts';
import {
  chooseCoding,
  chooseOffer,
  codings,
  offerFormat,
  offersOf,
  type Offer,
  type ReadRequest,
} from './read-request.ts';
import type { Site } from '../../site/site.ts';
import type { IncomingMessage, ServerResponse } from 'node:http';

export type ResourceAddress = Extract<Address, { kind: 'resource' }>;

/** What relates a version to the proof that it is in the public log. */
const proofRelation = 'https://c2sp.org/tlog-proof';
/** Bytes of a prepared response, roughly. */
const preparedSize = 2048;

/**
 * Creates the sender of documents, in the format and coding that fit the request best. It keeps prepared responses, so that the manifest is not read
 * again, and what it sends, for hits.
 */
export function createSendDocument({ links, answers }: Pick<Site, 'links' | 'answers'>) {
  return async (read: ReadRequest, granted: GrantedVersion, address: ResourceAddress): Promise<void> => {
    const { context, request, response } = read;
    const { type } = address.coordinate;
    const { accept, 'accept-encoding': acceptEncoding } = request.headers;
    const format = read.query === '' ? address.format : (formatIn(read.query) ?? address.format);
    const offer = format === null ? chooseOffer(type, accept) : offerFormat(type, format, accept);
    const coding = chooseCoding(acceptEncoding);
    if (offer === null || coding === null)
      throw noRepresentation(read.links, granted, offer === null ? 'Accept' : 'Accept-Encoding');
    const lifetime: Lifetime = address.selector.kind === 'latest' ? 'latest' : 'pinned';
    // It depends on the whole resource: who may read it, which version comes next.
    const { resource, version, generation } = granted;
    const name = `document ${nameOf(resource)} ${generation} ${version.label} ${offer.mediaType} ${coding} ${lifetime}`;
    const hasProof = resource.visibility === 'public' && hasPublicLog(context.registry);
    const prepareNow = async (): Promise<{ prepared: PreparedDocument; layer: Descriptor }> => {
      const manifest = await readManifest(context.registry, granted);
      const coded = findLayer(manifest, offer.format, coding);
      const layer = coded ?? findLayer(manifest, offer.format, 'identity')!;
      // Identity if that coding was not stored.
      const stored = { ...layer, coding: coded === null ? 'identity' : coding };
      const sharable = sharingOf(context.registry.config, resource, lifetime);
      return { layer, prepared: prepareDocument(links, granted, offer, stored, { sharable, hasProof }) };
    };
    const cached = await answers.answer(name, prepareNow, () => preparedSize);
    const { prepared, layer } = cached;
    let bytes: Uint8Array | null = null;
    await sendPrepared(request, response, prepared, async () => {
      bytes = await openBlob(context.registry, granted, layer.digest);
      return bytes;
    });
    read.keep?.(resource, prepared, bytes);
  };
}

function prepareDocument(
  links: Links,
  { resource, version }: GrantedVersion,
  { mediaType }: Offer,
  { coding, digest, size }: Pick<Descriptor, 'digest' | 'size'> & { coding: Coding },
  { sharable, hasProof }: { sharable: Fields; hasProof: boolean },
): PreparedDocument {
  const pinned = links.to(resource, { label: version.label });
  const encoding = coding === 'identity' ? {} : { 'Content-Encoding': coding };
  return prepare(
    { etag: `"${digest}"`, size, ranges: coding === 'identity' },
    {
      common: { 'Content-Location': pinned, ...statusHeaders(version), ...sharable },
      content: {
        'Content-Type': mediaType.startsWith('text/') ? `${mediaType}; charset=utf-8` : mediaType,
        ...encoding,
        'Repr-Digest': formatReprDigest(digest),
        Link: `${versionLinks(links, resource, version)}${hasProof ? `, <${pinned}?proof>; rel="${proofRelation}"` : ''}`,
      },
    },
  );
}

/** The format in `?format=`; null if absent. Throws `malformed` for an unknown format. */
function formatIn(query: string): Format | null {
  const named = new URLSearchParams(query).getAll('format');
  if (named.length === 0) return null;
  const [format] = named;
  if (named.length > 1 || (format !== 'json' && format !== 'yaml')) {
    throw malformed('The parameter format must be json or yaml, given once.');
  }
  return format;
}

function noRepresentation(
  links: Links,
  { resource, version }: { resource: Resource; version: Version },
  field: string,
): RegistryError {
  const available = offersOf(resource.type).map(({ mediaType, format }) => ({
    mediaType,
    url: links.url(resource, { label: version.label, format }),
  }));
  return notAcceptable(`No representation matches ${field}. The response lists the available ones.`, {
    extra: { available, codings },
  });
}

/** A response without its bytes. It contains nothing of the request, so that it can be cached. */
export interface PreparedDocument extends Sent {
  etag: string;
  /** Whether the client may request ranges. */
  ranges: boolean;
  common: string[];
  full: string[];
}

/**
 * Prepares a response from its headers: `common` ones (also sent with 304) and those of the
 * `content`.
 */
export function prepare(
  { etag, size, ranges }: Pick<PreparedDocument, 'etag' | 'size' | 'ranges'>,
  { common, content }: { common: Fields; content: Fields },
): PreparedDocument {
  const tagged = { ETag: etag, ...common };
  // The length is last, because a range replaces it.
  const full = { ...tagged, ...content, 'Accept-Ranges': ranges ? 'bytes' : 'none', 'Content-Length': String(size) };
  return { etag, size, ranges, common: flattenFields(tagged), full: flattenFields(full) };
}

/**
 * Answers a GET or HEAD with 200, 206 or 304 according to its conditions and range. Rejects with
 * `precondition_failed`, with `range_not_satisfiable` or as `open` does; nothing was sent then.
 * Calls `open` only if bytes are sent.
 */
export async function sendPrepared(
  request: IncomingMessage,
  response: ServerResponse,
  prepared: PreparedDocument,
  open: () => Promise<Uint8Array>,
): Promise<void> {
  const { headers, method } = request;
  const outcome = evaluateConditions(headers, prepared.etag);
  if (outcome === 'failed')
    throw new RegistryError('precondition_failed', 'If-Match does not match the current entity tag.');
  if (outcome === 'not_modified') {
    response.writeHead(304, prepared.common).end();
    return;
  }
  if (method === 'HEAD') {
    response.writeHead(200, prepared.full).end();
    return;
  }
  const range = prepared.ranges ? chooseRange(headers, prepared.etag, prepared.size) : null;
  if (range === 'unsatisfiable') {
    response.setHeader('Content-Range', `bytes */${prepared.size}`);
    throw new RegistryError('range_not_satisfiable', `The range is outside the document of ${prepared.size} bytes.`);
  }
  const bytes = await open();
  if (range === null) response.writeHead(200, prepared.full).end(bytes);
  else sendRange(response, prepared, bytes, range);
}

/** Sends bytes in memory, whose digest is their entity tag, and returns what was sent. */
export async function sendBytes(
  { request, response }: Pick<ReadRequest, 'request' | 'response'>,
  bytes: Uint8Array,
  fields: { common: Fields; content: Fields },
): Promise<PreparedDocument> {
  const prepared = prepare({ etag: `"${digestOf(bytes)}"`, size: bytes.byteLength, ranges: true }, fields);
  await sendPrepared(request, response, prepared, async () => bytes);
  return prepared;
}

function sendRange(
  response: ServerResponse,
  { full, size }: PreparedDocument,
  bytes: Uint8Array,
  range: ByteRange,
): void {
  const { first, last } = range;
  const headers = full.slice(0, -2);
  headers.push('Content-Range', `bytes ${first}-${last}/${size}`, 'Content-Length', String(last - first + 1));
  response.writeHead(206, headers).end(bytes.subarray(first, last + 1));
}
