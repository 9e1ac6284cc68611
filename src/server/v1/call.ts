import type { Principal } from '../../model/access.ts';
import type { Coordinate, ResourceType } from '../../model/address.ts';
import type { Name, RecordOf } from '../../registry/lives.ts';
import type { Author, Registry } from '../../registry/registry.ts';
import type { SiteCoordinate } from '../../sites/model/documentation-site.ts';
import type { Generation } from '../../store/records.ts';
import type { ServerContext } from '../server-context.ts';
import type { Body } from '../body/read-body.ts';
import type { Operation } from './api-description.ts';

/** A key, or a person with a session. Everything under `/v1` needs one. */
export type Member = Exclude<Principal, { kind: 'anonymous' }>;

/** Who asks for an operation and how, over HTTP or on a page of the console. */
export interface Asker {
  principal: Member;
  /** The organization that is acted on. */
  org: string;
  /** Network address, recorded with what is changed. */
  address: string | null;
  /** Known only to the caller: encrypts the stored answer for repetitions. */
  secret: string;
  /** Method and target, the same in every repetition. */
  subject: string;
  ifMatch: string | undefined;
  /** The media types that are preferred. Absent: JSON. */
  accept?: string | undefined;
  /** Aborts when the client no longer waits. */
  closed: () => AbortSignal;
}

/** A request that was matched, validated and authorized. */
export interface Call {
  context: Omit<ServerContext, 'v1'>;
  registry: Registry;
  asker: Asker;
  operation: Operation;
  principal: Member;
  org: string;
  /** Recorded with what the call changes. */
  author: Author;
  /** Path parameters. */
  path: Record<string, string>;
  /** Query parameters, with defaults. */
  query: Record<string, unknown>;
  body: Body | null;
  /** The resource type in the path; null if the path has none. */
  type: ResourceType | null;
}

/** A call about one resource or site that the asker may read. */
export interface CallAbout<N extends Name> extends Call {
  coordinate: N;
  found: Generation<RecordOf<N>>;
}

export type ResourceCall = CallAbout<Coordinate>;
export type SiteCall = CallAbout<SiteCoordinate>;

/** A call that publishes to a resource, or null: it may make it. */
export type PublishCall = Omit<ResourceCall, 'found'> & { found: ResourceCall['found'] | null };

/** The response. `body` undefined: headers only. */
export interface Answer {
  status: number;
  headers?: Record<string, string>;
  body?: unknown;
  /** A file instead of a body in JSON. */
  file?: Uint8Array;
  /** A text instead of a body in JSON. */
  text?: { mediaType: string; text: string };
}

/** Answers one operation: parse, one verb, send. */
export type Handler = (call: Call) => Promise<Answer>;
export type ResourceHandler = (call: ResourceCall) => Promise<Answer>;
export type SiteHandler = (call: SiteCall) => Promise<Answer>;
export type PublishHandler = (call: PublishCall) => Promise<Answer>;

/** The request body. It was validated before. */
export function bodyOf<T>({ body }: Call): T {
  return body!.value as T;
}
