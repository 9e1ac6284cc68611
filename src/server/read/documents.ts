import type { Fields } from '../headers.ts';
import { resourceKey } from '../../model/cache-key.ts';
import { coordinateOf, nameOf, type Resource, type Version } from '../../model/resource.ts';
import type { Address, Format } from '../../model/address.ts';
import type { Coding, Manifest } from '../../model/artifact.ts';
import { formatReprDigest } from '../../model/digest.ts';
import { RegistryError } from '../../model/errors.ts';
import {
  findRepresentation,
  openRepresentation,
  readManifest,
  type GrantedVersion,
  type Representation,
} from '../../registry/read.ts';
import { hasPublicLog } from '../../registry/transparency/log-key.ts';
import { sharing, type Lifetime } from './lifetime.ts';
import { statusHeaders, versionLinks, type Links } from '../../site/links.ts';
import { chooseCoding, chooseOffer, codings, offerFormat, offersOf, type Offer } from './negotiate.ts';
import type { Site } from '../../site/site.ts';
import type { ReadRequest } from './read-request.ts';
import { prepare, sendPrepared, type PreparedDocument } from './send-document.ts';

/** Sends a version's document in the format and coding that fit the request best. */
export type SendDocument = (read: ReadRequest, granted: GrantedVersion, address: ResourceAddress) => Promise<void>;

export type ResourceAddress = Extract<Address, { kind: 'resource' }>;

interface Ready {
  prepared: PreparedDocument;
  representation: Representation;
}

/** What relates a version to the proof that it is in the public log. */
const proofRelation = 'https://c2sp.org/tlog-proof';
/** Bytes of a prepared response, roughly. */
const preparedSize = 2048;

/**
 * Creates the sender of documents. It keeps prepared responses, so that the manifest is not read
 * again, and what it sends, for hits.
 */
export function createSendDocument({ links, answers }: Pick<Site, 'links' | 'answers'>): SendDocument {
  return async (read, granted, address) => {
    const { context, request, response } = read;
    const { type } = address.coordinate;
    const { accept, 'accept-encoding': acceptEncoding } = request.headers;
    const format = read.query === '' ? address.format : (formatIn(read.query) ?? address.format);
    const offer = format === null ? chooseOffer(type, accept) : offerFormat(type, format, accept);
    const coding = chooseCoding(acceptEncoding);
    if (offer === null || coding === null)
      throw notAcceptable(read.links, granted, offer === null ? 'Accept' : 'Accept-Encoding');
    const lifetime: Lifetime = address.selector.kind === 'latest' ? 'latest' : 'pinned';
    // It depends on the whole resource: who may read it, which version comes next.
    const { resource, version, generation } = granted;
    const name = `document ${nameOf(resource)} ${generation} ${version.label} ${offer.mediaType} ${coding} ${lifetime}`;
    const hasProof = resource.visibility === 'public' && hasPublicLog(context.registry);
    const prepareNow = async (): Promise<Ready> => {
      const manifest = await readManifest(context.registry, granted);
      const representation = pickRepresentation(manifest, offer.format, coding);
      const sharable = sharing(context.registry.config, resource.visibility, lifetime, {
        keys: [resourceKey(resource)],
      });
      return {
        representation,
        prepared: prepareDocument(links, granted, offer, representation, { sharable, hasProof }),
      };
    };
    const cached = await answers.answer(name, [], prepareNow, () => preparedSize);
    const { prepared, representation } = cached;
    let bytes: Uint8Array | null = null;
    await sendPrepared(request, response, prepared, async () => {
      bytes = await openRepresentation(context.registry, granted, representation);
      return bytes;
    });
    read.keep?.(resource, prepared, bytes);
  };
}

/** The chosen coding, or identity if that one was not stored. */
function pickRepresentation(manifest: Manifest, format: Format, coding: Coding): Representation {
  return findRepresentation(manifest, format, coding) ?? findRepresentation(manifest, format, 'identity')!;
}

function prepareDocument(
  links: Links,
  { resource, version }: GrantedVersion,
  { mediaType }: Offer,
  { coding, digest, size }: Representation,
  { sharable, hasProof }: { sharable: Fields; hasProof: boolean },
): PreparedDocument {
  const pinned = links.to(coordinateOf(resource), { label: version.label });
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
    throw new RegistryError('malformed', 'The parameter format must be json or yaml, given once.');
  }
  return format;
}

function notAcceptable(
  links: Links,
  { resource, version }: { resource: Resource; version: Version },
  field: string,
): RegistryError {
  const available = offersOf(resource.type).map(({ mediaType, format }) => ({
    mediaType,
    url: links.whole(links.to(coordinateOf(resource), { label: version.label, format })),
  }));
  return new RegistryError(
    'not_acceptable',
    `No representation matches ${field}. The response lists the available ones.`,
    {
      extra: { available, codings },
    },
  );
}
