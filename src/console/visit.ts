import type { Request, Response } from 'express';
import { isAllowed, partOf, type Scope } from '../model/access.ts';
import { formatCoordinate, type ResourceType } from '../model/address.ts';
import { digestOf } from '../model/digest.ts';
import { types } from '../model/kinds.ts';
import type { Site } from '../site/site.ts';
import type { ServerContext, SignedIn } from '../server/server-context.ts';
import { untilClosed } from '../server/until-closed.ts';
import type { Answer } from '../server/v1/call.ts';
import type { Operations } from '../server/v1/operations.ts';

/** What the pages of the console are made from. */
export interface Console {
  context: Omit<ServerContext, 'v1'>;
  site: Site;
  operations: Operations;
}

/** A signed-in person on a page of an organization. */
export interface Visit extends Console {
  request: Request;
  response: Response;
  session: SignedIn;
  org: string;
  /** The parts of the path that the page's pattern names. */
  params: Readonly<Record<string, string>>;
  type: ResourceType | null;
  query: URLSearchParams;
}

/** What to ask an operation with. */
export interface Question {
  query?: Record<string, string>;
  body?: object;
  /** The document of a publish. */
  document?: Buffer;
  ifMatch?: string;
  /** Makes a repetition of the same form the same request. */
  once?: string;
}

/** The id of an operation: `{one}` and `{many}` stand for the type's part, as in `update{one}`. */
export function operationId({ type }: Pick<Visit, 'type'>, name: string): string {
  if (type === null) return name;
  const { one, many } = types[type].operations;
  return name.replace('{one}', one).replace('{many}', many);
}

/**
 * Asks an operation of the management API, with the path parameters of the page. Throws what `/v1`
 * answers as a problem.
 */
export async function ask<T = Record<string, unknown>>(
  visit: Visit,
  name: string,
  { query = {}, body, document, ifMatch, once }: Question = {},
): Promise<Answer & { body: T }> {
  const { operations, session, org, request, response } = visit;
  const operation = operations.find(operationId(visit, name));
  const names = operation.parameters.flatMap((parameter) => (parameter.in === 'path' ? [parameter.name] : []));
  const path = Object.fromEntries(
    names.map((each) => [each, visit.params[each] ?? visit.query.get(each) ?? visit.params['slug'] ?? '']),
  );
  const asker = {
    principal: session.principal,
    org,
    address: request.ip ?? null,
    secret: session.token,
    subject: `console ${operation.id} ${JSON.stringify(path)} ${JSON.stringify(query)}`,
    ifMatch,
    closed: () => untilClosed(response),
  };
  const answer = await operations.perform(operation, asker, {
    path,
    query: new Map(Object.entries(query)),
    headers: new Map(once !== undefined && operation.method === 'post' ? [['Idempotency-Key', once]] : []),
    readBody: async () => {
      if (body === undefined) return null;
      const text = JSON.stringify(body);
      const size = text.length + (document?.byteLength ?? 0);
      return { value: body, document: document ?? null, digest: digestOf(text + digestOf(document ?? '')), size };
    },
  });
  return answer as Answer & { body: T };
}

/** Whether the visitor has the scope for the resource of the page, or for the organization. */
export function may(
  { session, org, type, params }: Pick<Visit, 'session' | 'org' | 'type' | 'params'>,
  scope: Scope,
): boolean {
  const slug = params['slug'];
  return isAllowed(session.principal, scope, {
    org,
    ...(type !== null && slug !== undefined && { resource: { type, slug } }),
  });
}

/** Whether the visitor may publish something in the organization, be it only under some names. */
export function mayPublish({ session, org }: Pick<Visit, 'session' | 'org'>): boolean {
  return partOf(session.principal, org, 'publish')?.length !== 0;
}

/** The address of a page of the organization's console: `here(visit, '/keys/:key')`. */
export function here({ site, org, params }: Pick<Visit, 'site' | 'org' | 'params'>, path: string): string {
  const filled = path.replace(/:([a-z]+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
  return site.links.path(`/console/${org}${filled}`);
}

/** The coordinate of the page's resource, with the version of the page if it is about one. */
export function subjectOf({ org, type, params }: Pick<Visit, 'org' | 'type' | 'params'>): string {
  const version = params['version'] === undefined ? '' : `@${params['version']}`;
  return `${formatCoordinate({ org, type: type!, slug: params['slug']! })}${version}`;
}
