import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Principal } from '../../model/access.ts';
import type { Resource } from '../../model/resource.ts';
import type { Sent } from '../fast-path.ts';
import type { ServerContext } from '../server-context.ts';
import type { Links } from '../../site/links.ts';
import type { Site } from '../../site/site.ts';
import Negotiator from 'negotiator';
import { resourceTypes, type Format, type ResourceType } from '../../model/address.ts';
import type { Coding } from '../../model/artifact.ts';
import { types } from '../../model/kinds.ts';
import { LRUCache } from 'lru-cache';

/** A parsed request for something in the registry. */
export interface ReadRequest {
  context: ServerContext & { site: Site };
  links: Links;
  request: IncomingMessage;
  response: ServerResponse;
  principal: Principal;
  /** Keeps what was sent, for later requests. `resource`: see `Basis`. Absent: nothing is kept. */
  keep?: (resource: Resource | null, sent: Sent, bytes: Uint8Array | null) => void;
  /** The raw query string, without `?`. */
  query: string;
}

/**
 * Splits a request target into its raw path and query, without decoding. Of a target with scheme
 * and host (RFC 9112 §3.2.2), only the path counts.
 */
export function splitTarget(target: string): { path: string; query: string } {
  const local = target.startsWith('/') ? target : target.replace(/^https?:\/\/[^/?#]*/i, '');
  const mark = local.indexOf('?');
  return mark < 0 ? { path: local, query: '' } : { path: local.slice(0, mark), query: local.slice(mark + 1) };
}

/** A format with the media type that the client asked for. */
export interface Offer {
  format: Format;
  mediaType: string;
}

/** The formats of a resource type. The first is the default (design §8). */
export function offersOf(type: ResourceType): readonly Offer[] {
  return offers[type];
}

const offers = byType((type) =>
  (['json', 'yaml'] as const).flatMap((format) =>
    types[type].mediaTypes[format].map((mediaType) => ({ format, mediaType })),
  ),
);

function byType<T>(make: (type: ResourceType) => T): Record<ResourceType, T> {
  return Object.fromEntries(resourceTypes.map((type) => [type, make(type)])) as Record<ResourceType, T>;
}

const chosenByAccept = byType((type) => memoize((accept) => preferred(accept, offers[type])));

/**
 * The offer that an `Accept` header prefers (RFC 9110 §12.5.1); null if it accepts none. Without
 * the header: the first.
 */
export function chooseOffer(type: ResourceType, accept: string | undefined): Offer | null {
  return accept === undefined ? offers[type][0]! : chosenByAccept[type](accept);
}

/** The offer for a format in the URL. `Accept` then only chooses among the format's media types. */
export function offerFormat(type: ResourceType, format: Format, accept: string | undefined): Offer {
  const all = offers[type].filter((offer) => offer.format === format);
  return (accept === undefined ? null : preferred(accept, all)) ?? all[0]!;
}

function preferred(accept: string, among: readonly Offer[]): Offer | null {
  const name = chooseType(
    accept,
    among.map(({ mediaType }) => mediaType),
  );
  return among.find(({ mediaType }) => mediaType === name) ?? null;
}

/**
 * The media type that an `Accept` header prefers (RFC 9110 §12.5.1), or null. Ignores parameters
 * other than the weight: our media types have none, and clients that send some (`;charset=utf-8`,
 * `;version=3.0`) can read the response anyway.
 */
export function chooseType(accept: string, mediaTypes: readonly string[]): string | null {
  const headers = { accept: accept.replace(parameter, '') };
  return new Negotiator({ headers }).mediaType([...mediaTypes]) ?? null;
}

const parameter = /;(?!\s*q\s*=)[^;,"]*(?:"(?:[^"\\]|\\.)*"[^;,"]*)*/gi;

/** Whether `Accept` allows JSON, for responses without another form. */
export function acceptsJson(accept: string | undefined): boolean {
  return accept === undefined || chooseType(accept, json) !== null;
}

const json = ['application/json'];

/** Content codings by preference, the smallest first. */
export const codings: readonly Coding[] = ['br', 'zstd', 'gzip', 'identity'];

/**
 * The coding that an `Accept-Encoding` header prefers, with our order among equals (RFC 9110
 * §12.5.3); null if it accepts none, not even identity. Without the header: identity.
 */
export function chooseCoding(acceptEncoding: string | undefined): Coding | null {
  if (acceptEncoding === undefined) return 'identity';
  const negotiator = new Negotiator({ headers: { 'accept-encoding': acceptEncoding } });
  // Its types lack the option.
  const encoding: (available: readonly string[], options: object) => unknown = negotiator.encoding.bind(negotiator);
  const name = encoding(codings, { preferred: codings });
  return codings.find((coding) => coding === name) ?? null;
}

const pageOffers = [...json, ...offers.apis.map(({ mediaType }) => mediaType), 'application/problem+json', 'text/html'];

const takesPage = memoize((accept) => /html/i.test(accept) && chooseType(accept, pageOffers) === 'text/html');

/** Whether an `Accept` header prefers HTML to data. Browsers do; `*` alone does not. */
export function prefersPage(accept: string | undefined): boolean {
  return accept !== undefined && takesPage(accept);
}

/**
 * Caches a pure function's results, least recently used out first. Clients choose the texts (header
 * values), so long ones are not cached.
 */
export function memoize<T>(answer: (text: string) => T): (text: string) => T {
  const answers = new LRUCache<string, { answer: T }>({ max: 1000 });
  return (text) => {
    const cached = answers.get(text);
    if (cached !== undefined) return cached.answer;
    const fresh = answer(text);
    if (text.length <= 256) answers.set(text, { answer: fresh });
    return fresh;
  };
}
