import type { Principal } from '../../model/access.ts';
import { parseCoordinate, type Coordinate, type ResourceType } from '../../model/address.ts';
import type { Name, RecordOf, Guard } from '../../registry/lives.ts';
import type { Author, Registry } from '../../registry/registry.ts';
import type { SiteCoordinate } from '../../sites/model/documentation-site.ts';
import type { Generation } from '../../store/records.ts';
import type { ServerContext } from '../server-context.ts';
import type { Body } from '../body/read-body.ts';
import type { DescribedOperation } from './api-description.ts';
import { RegistryError, malformed } from '../../model/errors.ts';
import { noSuchPlace } from '../read/views.ts';

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
  operation: DescribedOperation;
  principal: Member;
  org: string;
  /** Recorded with what the call changes. */
  author: Author;
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

/** The call of an operation, by what is authorized before its body is read. */
export interface Calls {
  /** One resource or site, which the asker may read. */
  resource: ResourceCall;
  site: SiteCall;
  /** One resource that may not be there yet. */
  publish: PublishCall;
  /** The whole organization. */
  organization: Call;
  /** The part of the organization that is in the key's `resources`. */
  part: Call;
  /** Nothing: the handler does it. */
  itself: Call;
}

type Handler<A extends keyof Calls> = (call: Calls[A]) => Promise<Answer>;

/** How an operation is answered: parse, one verb, send. */
export type Route = { [A in keyof Calls]: { about: A; answer: Handler<A> } }[keyof Calls];

/** Handlers by the ids of their operations. The scopes that are authorized are in the description. */
export type Routes = Readonly<Record<string, Route>>;

export function operationsAbout<A extends keyof Calls>(
  about: A,
  handlers: Readonly<Record<string, Handler<A>>>,
): Routes {
  return Object.fromEntries(Object.entries(handlers).map(([id, answer]) => [id, { about, answer } as Route]));
}

/** The request body. It was validated before. */
export function bodyOf<T>({ body }: Call): T {
  return body!.value as T;
}

/**
 * Answers with a record, under an ETag of the generation that it shows, and that of another record if it shows that one's
 * state too. Changes check only the first.
 */
export function answerRecord<B extends object>(
  body: B,
  generation: number,
  other?: number,
): Answer & { headers: { ETag: string }; body: B } {
  return { status: 200, headers: { ETag: etagOf(generation, other) }, body };
}

/** The ETag of a record (`answerRecord`). */
export function etagOf(generation: number, other?: number): string {
  return other === undefined ? `"${generation}"` : `"${generation}.${other}"`;
}

/**
 * Checks `If-Match` (RFC 9110 §13.1.1) against the generation to be replaced. Throws
 * `precondition_failed` if it is another one.
 */
export function guardOf({ asker }: Pick<Call, 'asker'>): Guard {
  const header = asker.ifMatch;
  if (header === undefined || header.trim() === '*') return () => undefined;
  const tags = header.match(/(?:W\/)?"[^"]*"/g) ?? [];
  if (tags.length === 0)
    throw malformed('If-Match is not an entity tag. Send the ETag exactly as received, with its double quotes.');
  return ({ generation }) => {
    const isNamed = tags.some((tag) => new RegExp(`^"${generation}(?:\\.\\d+)?"$`).test(tag));
    if (!isNamed) {
      const extra = { current: etagOf(generation) };
      throw new RegistryError('precondition_failed', 'The resource has changed since you read it. Read it again.', {
        extra,
      });
    }
  };
}

/**
 * The position in the request's cursor, or null for the first page. Throws `malformed` if the
 * cursor belongs to another list.
 */
function positionIn<P>({ operation, query }: Call, isPosition: (value: unknown) => boolean): P | null {
  const cursor = query['cursor'];
  if (typeof cursor !== 'string') return null;
  try {
    const [id, position] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as [unknown, unknown];
    if (id === operation.id && isPosition(position)) return position as P;
  } catch {
    // Not a cursor: the error follows.
  }
  throw noSuchPlace();
}

interface Telling<T, P = string> {
  describe(item: T): unknown;
  /** Its position in the list, which a cursor has. */
  keyOf(item: T): P;
  isShown?(item: T): boolean;
}

/**
 * Sends a page of items: those after the position at which the last page ended (null: from the start). Takes one item
 * more, to know whether there is another page. `isPosition`: whether what a cursor has is one.
 */
export async function sendPage<T, P = string>(
  call: Call,
  itemsAfter: (position: P | null) => AsyncIterable<T> | Iterable<T>,
  { describe, keyOf, isShown }: Telling<T, P>,
  isPosition: (value: unknown) => boolean = (value) => typeof value === 'string',
): Promise<Answer> {
  const limit = call.query['limit'] as number;
  const page: T[] = [];
  let hasMore = false;
  for await (const item of itemsAfter(positionIn<P>(call, isPosition))) {
    if (isShown && !isShown(item)) continue;
    hasMore = page.length === limit;
    if (hasMore) break;
    page.push(item);
  }
  // Opaque to clients, and valid only for its own list.
  const cursor = () => Buffer.from(JSON.stringify([call.operation.id, keyOf(page.at(-1)!)])).toString('base64url');
  const next = hasMore ? cursor() : null;
  return { status: 200, body: { items: await Promise.all(page.map(describe)), next } };
}

/** Sends a page of a whole list, from the item after the one at which the last page ended. Throws `malformed` if that is gone. */
export function sendList<T>(call: Call, items: readonly T[], telling: Telling<T>): Promise<Answer> {
  const startAfter = (after: string) => {
    const at = items.findIndex((item) => telling.keyOf(item) === after);
    if (at < 0) throw noSuchPlace();
    return at + 1;
  };
  return sendPage(call, (after) => items.slice(after === null ? 0 : startAfter(after)), telling);
}

/** The same for a list in the order of its keys, of which one may leave between two pages. */
export function sendSorted<T>(call: Call, items: readonly T[], telling: Telling<T>): Promise<Answer> {
  return sendPage(call, (after) => items.filter((item) => after === null || telling.keyOf(item) > after), telling);
}

/** The resource in a parameter: `apis/pay` in this organization, or a whole coordinate. It was validated before. */
export function resourceNamed(org: string, text: string): Coordinate {
  return parseCoordinate(text.startsWith('@') ? text : `@${org}/${text}`)!.coordinate;
}

/** Whether one of the texts contains `?q`, ignoring case; without `?q`, always. */
export function matchesQuery({ query }: Call, ...texts: string[]): boolean {
  const wanted = query['q'];
  return typeof wanted !== 'string' || texts.some((text) => text.toLowerCase().includes(wanted.toLowerCase()));
}
