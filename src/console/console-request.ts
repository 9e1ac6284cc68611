import type { Request, Response } from 'express';
import { isAllowed, mayPublishIn, organizationsOf, type Scope } from '../model/access.ts';
import type { ResourceType } from '../model/address.ts';
import { digestOf } from '../model/digest.ts';
import { forbidden } from '../model/errors.ts';
import { operationId as nameOperation, types } from '../model/kinds.ts';
import type { Resource } from '../model/resource.ts';
import { findReadable } from '../registry/readable.ts';
import type { Site } from '../site/site.ts';
import type { ServerContext, SignedIn } from '../server/server-context.ts';
import { untilClosed } from '../server/request.ts';
import type { Answer } from '../server/v1/call.ts';
import type { answers } from '../server/v1/management.d.ts';
import type { Operations } from '../server/v1/operations.ts';

/** What the pages of the console are made from. */
export interface Console {
  context: Omit<ServerContext, 'v1'>;
  site: Site;
  operations: Operations;
}

/** In the place of the organization, for pages about the person alone. No organization can be called that. */
export const nobodys = '-';

/** One request of a signed-in person, for a page of an organization. */
export interface ConsoleRequest extends Console {
  http: Request;
  response: Response;
  session: SignedIn;
  org: string;
  /** The parts of the path that the page's pattern names. */
  params: Readonly<Record<string, string>>;
  type: ResourceType | null;
  query: URLSearchParams;
  /** What waits for somebody, by the path of its page. */
  counts: Readonly<Record<string, { state: string; count: number }>>;
}

/** What an operation is performed with. */
export interface OperationInput {
  query?: Record<string, string>;
  body?: object;
  /** The document of a publish. */
  document?: Buffer;
  ifMatch?: string;
  /** Makes a repetition of the same form the same call. What no form has says nothing. */
  once?: string;
}

/** The id of an operation: `{one}` and `{many}` stand for the type's part, as in `update{one}`. */
export function operationId({ type }: Pick<ConsoleRequest, 'type'>, name: string): string {
  return type === null ? name : nameOperation(name, types[type].operations);
}

/** What an operation answers with, by its id as for `operationId`. */
export type Answered<Id extends string> = Id extends keyof answers
  ? answers[Id]
  : Id extends `${infer Verb}{${'one' | 'many'}}${infer Rest}`
    ? Answered<`${Verb}${Id extends `${string}{one}${string}` ? 'Api' : 'Apis'}${Rest}`>
    : Record<string, unknown>;

/** An item of what a list answers with. */
export type Listed<Id extends string> = Answered<Id> extends { items: (infer Item)[] } ? Item : never;

/**
 * Performs an operation of the management API, with the path parameters of the page. Throws what `/v1`
 * answers as a problem.
 */
export async function perform<Id extends string>(
  request: ConsoleRequest,
  name: Id,
  { query = {}, body, document, ifMatch, once = '' }: OperationInput = {},
): Promise<Answer & { body: Answered<Id> }> {
  const { operations, session, org, http, response } = request;
  const operation = operations.find(operationId(request, name));
  const names = operation.parameters.flatMap((parameter) => (parameter.in === 'path' ? [parameter.name] : []));
  const params: ConsoleRequest['params'] = { ...request.params, organization: org };
  const path = Object.fromEntries(
    names.map((each) => [each, params[each] ?? request.query.get(each) ?? request.params['slug'] ?? '']),
  );
  const asker = {
    principal: session.principal,
    // What is about the person belongs to no organization; repetitions are noted under one of theirs.
    org: org === nobodys ? (organizationsOf(session.principal)[0] ?? nobodys) : org,
    address: http.ip ?? null,
    secret: session.token,
    subject: `console ${operation.id} ${JSON.stringify(path)} ${JSON.stringify(query)}`,
    ifMatch,
    closed: () => untilClosed(response),
  };
  const answer = await operations.perform(operation, asker, {
    path,
    query: new Map(Object.entries(query)),
    headers: new Map(operation.method === 'post' && isId.test(once) ? [['Idempotency-Key', once]] : []),
    readBody: async () => {
      if (body === undefined) return null;
      const text = JSON.stringify(body);
      const size = text.length + (document?.byteLength ?? 0);
      return { value: body, document: document ?? null, digest: digestOf(text + digestOf(document ?? '')), size };
    },
  });
  return answer as Answer & { body: Answered<Id> };
}

/** What `newId` makes. */
const isId = /^[0-9a-z]{20}$/;

/** Whether the person has the scope for the resource or site of the page, or for the organization. */
export function may(
  { session, org, type: given, params }: Pick<ConsoleRequest, 'session' | 'org' | 'type' | 'params'>,
  scope: Scope,
): boolean {
  const type = params['site'] === undefined ? given : ('sites' as const);
  const slug = params['site'] ?? params['slug'];
  const resource = type !== null && slug !== undefined && { resource: { type, slug } };
  return isAllowed(session.principal, scope, { org, ...resource });
}

/** Throws `forbidden` unless `may`. */
export function assertMay(request: ConsoleRequest, scope: Scope): void {
  if (!may(request, scope)) throw forbidden(`This needs the scope ${scope}, which you do not have here.`);
}

/** Whether the person may publish something in the organization, be it only under some names. */
export function mayPublish({ session, org }: Pick<ConsoleRequest, 'session' | 'org'>): boolean {
  return mayPublishIn(session.principal, org);
}

/** The address of a page of the organization's console: `here(request, '/keys/:key', { key })`. Default: the page's. */
export function here(
  { site, org, params }: Pick<ConsoleRequest, 'site' | 'org' | 'params'>,
  path: string,
  more: ConsoleRequest['params'] = {},
): string {
  const filled = path.replace(/:([a-z]+)/g, (_, name: string) => encodeURIComponent(more[name] ?? params[name] ?? ''));
  return site.links.path(`/console/${org}${filled}`);
}

/** As `here`, of a page that says what the form at a path did. */
export function hereAfter(request: ConsoleRequest, path: string, form: string): string {
  return `${here(request, path)}?done=${encodeURIComponent(form)}`;
}

/** The coordinate of the page's resource or site, with the version of the page if it is about one. */
export function subjectOf({ org, type, params }: Pick<ConsoleRequest, 'org' | 'type' | 'params'>): string {
  const { slug, site, version } = params;
  return `@${org}/${type ?? 'sites'}/${slug ?? site}${version === undefined ? '' : `@${version}`}`;
}

/** The resource of the page; null if there is none that the person may read. */
export async function resourceOf({ context, session, org, type, params }: ConsoleRequest): Promise<Resource | null> {
  const coordinate = { org, type: type!, slug: params['slug']! };
  return (await findReadable(context.registry, session.principal, coordinate))?.value ?? null;
}

/** Reads the page of a list that the person's cursor names. `filters`: further parameters of the operation. */
export function performList<Id extends string>(
  request: ConsoleRequest,
  operation: Id,
  filters: Record<string, string> = {},
) {
  const cursor = request.query.get('cursor');
  const query = { limit: '50', ...filters, ...(cursor !== null && { cursor }) };
  return perform(request, operation, { query });
}

/** The query that leads to the next page, or null. */
export function nextOf({ next }: { next: string | null }, filters: Record<string, string> = {}): string | null {
  return next && `?${new URLSearchParams({ ...filters, cursor: next }).toString()}`;
}
