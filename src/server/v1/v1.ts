import express, { type Request, type Response, type Router } from 'express';
import { formatPrincipal, type Principal } from '../../model/access.ts';
import { notFound, forbidden, malformed, unauthenticated } from '../../model/errors.ts';
import { createTurns } from '../../scheduling/turns.ts';
import { principalOf, sessionOf } from '../authenticate.ts';
import type { ServerContext } from '../server-context.ts';
import { createTokenExchange } from '../login/token.ts';
import { nothingHere } from '../error-answers.ts';
import { refuseMethod } from '../methods.ts';
import { evaluateConditions } from '../read/caching.ts';
import { splitTarget } from '../read/read-request.ts';
import { nameRoute, untilClosed } from '../request.ts';
import { readBody, readBytes } from '../body/read-body.ts';
import type { Answer, Call, Asker } from './call.ts';
import {
  ownDescription,
  type DescribedOperation,
  type Description,
  bodyLimits,
  allowedMethods,
  createRoutes,
  matchRoute,
  noRoute,
} from './api-description.ts';
import { checkDocument } from './documents.ts';
import { createReceiveHook } from './hook-routes.ts';
import { createOperations } from './operations.ts';
import { createRateLimit } from '../rate-limit.ts';
import { askForKeyOf, takeKeyOf } from './person-routes.ts';
import { answerNewKey } from './resource-records.ts';
import { validatorOf } from './validate.ts';
import { digestOf } from '../../model/digest.ts';
import { corsHeaders, preflightHeaders } from '../headers.ts';
import { isSlug } from '../../model/address.ts';
import { assertOwnPage } from '../login/same-site.ts';

/**
 * The management API, mounted under `/v1`. Only operations in the description exist. Order of
 * checks: rate, route, member, parameters, access, body; then the operation.
 */
export function createV1(context: Omit<ServerContext, 'v1'>, operations = createOperations(context)): Router {
  const { registry } = context;
  const exchangeToken = createTokenExchange(registry, context.url);
  const receiveHook = createReceiveHook(context);
  const turns = createTurns();
  const description = ownDescription();
  const table = createRoutes(description.operations);
  const validator = validatorOf(description);
  const descriptionRoute = createDescriptionRoute(description);

  async function answer(request: Request, response: Response): Promise<Answer> {
    const { path, query } = splitTarget(request.originalUrl);
    const matched = matchRoute(table, path);
    // Without a key, the error does not reveal which routes exist.
    const isStranger = principalOf(request).kind === 'anonymous';
    if (matched === null) throw notFound(isStranger ? nothingHere : noRoute(table, path));
    const { route, values } = matched;
    nameRoute(request, route.template);
    const method = request.method === 'HEAD' ? 'get' : request.method.toLowerCase();
    const operation = route.operations.get(method);
    if (operation === undefined) {
      const allow = allowedMethods(route);
      if (method !== 'options') refuseMethod(response, allow);
      response.setHeader('Allow', allow);
      const isDescription = route.operations.get('get')?.id === 'getDescription';
      return isDescription ? descriptionRoute.preflight : { status: 204 };
    }
    if (operation.scope === null) return answerAnyone(operation, values, request, response);
    return operations.perform(operation, askerOf(request, response, context.url, operation), {
      path: values,
      query: readQuery(query),
      headers: headersOf(operation, request),
      readBody: () =>
        operation.body?.isBytes
          ? readBytes(request, response, registry.config.limits.fileBytes)
          : readBody(request, response, bodyLimits(registry.config, operation)),
    });
  }

  async function answerAnyone(
    operation: DescribedOperation,
    values: Call['path'],
    request: Request,
    response: Response,
  ): Promise<Answer> {
    const { query } = splitTarget(request.originalUrl);
    const { connection = null } = validator.readParameters(operation, 'query', readQuery(query));
    if (operation.id === 'receiveHook')
      return receiveHook(values['host']!, connection as string | null, request, response);
    if (operation.id === 'getDescription') return descriptionRoute.read;
    const readIt = async () =>
      operations.checkBody(operation, await readBody(request, response, bodyLimits(registry.config, operation)));
    if (operation.id === 'checkDocument') {
      const principal = principalOf(request);
      const closed = untilClosed(response);
      return turns.take(formatPrincipal(principal), async () =>
        checkDocument(registry, principal, (await readIt())!, closed),
      );
    }
    const body = (await readIt())!.value;
    if (operation.id === 'askForKey') return askForKeyOf(context, body, request.ip ?? null);
    if (operation.id === 'takeKey') return takeKeyOf(context, body, request.ip ?? null);
    return answerNewKey(await exchangeToken((body as { token: string }).token, request.ip ?? null));
  }

  const router = express.Router({ caseSensitive: true, strict: true });
  router.use(createRateLimit('v1', context));
  router.use(async (request, response) => send(request, response, await answer(request, response)));
  return router;
}

/** Seconds for which caches may keep the description. It changes only with the program. */
const lifetime = 300;

/**
 * Responses of `/v1/openapi.json`. They are the same for everyone, so caches may keep them and
 * scripts of any origin may read them.
 */
function createDescriptionRoute({ document }: Description): { read: Answer; preflight: Answer } {
  const headers = {
    ...corsHeaders,
    'Cache-Control': `public, max-age=${lifetime}, must-revalidate`,
    ETag: `"${digestOf(JSON.stringify(document))}"`,
  };
  return { read: { status: 200, headers, body: document }, preflight: { status: 204, headers: preflightHeaders } };
}

function headersOf({ parameters }: DescribedOperation, request: Request): Map<string, string> {
  const named = parameters.filter((parameter) => parameter.in === 'header');
  return new Map(
    named.flatMap(({ name }) => {
      const value = request.headers[name.toLowerCase()];
      return typeof value === 'string' ? [[name, value] as const] : [];
    }),
  );
}

/** Decodes the query like a form (WHATWG URL). Throws `malformed` if a parameter occurs twice. */
function readQuery(query: string): Map<string, string> {
  const values = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(query)) {
    if (values.has(name)) throw malformed(`The parameter ${name.slice(0, 100)} may be given only once.`);
    values.set(name, value);
  }
  return values;
}

/**
 * Sends a response. Without the body for HEAD, and with 304 if `If-None-Match` of a GET contains
 * the ETag (RFC 9110 §13.1.2). Caches must not store it unless its headers say so.
 */
function send(request: Request, response: Response, { status, headers = {}, body, file, text }: Answer): void {
  response.setHeader('Cache-Control', 'no-store');
  response.setHeader('X-Content-Type-Options', 'nosniff');
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  const { ETag: etag } = headers;
  const conditions = { 'if-none-match': request.headers['if-none-match'] };
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  if (isRead && etag !== undefined && evaluateConditions(conditions, etag) === 'not_modified') {
    response.writeHead(304).end();
    return;
  }
  if (body === undefined && file === undefined && text === undefined) {
    response.writeHead(status).end();
    return;
  }
  const bytes = file ?? Buffer.from(text?.text ?? JSON.stringify(body));
  const mediaType = text?.mediaType ?? (file === undefined ? 'application/json' : 'application/octet-stream');
  response.writeHead(status, { 'Content-Type': mediaType, 'Content-Length': bytes.byteLength });
  response.end(request.method === 'HEAD' ? undefined : bytes);
}

/**
 * Names the organization that a request is meant for. A session needs it if its person is a member of
 * several; with a key it must be the key's.
 */
const organizationHeader = 'stele-organization';
const tokenHeader = 'stele-session-token';

/**
 * Who asks. Throws `unauthenticated` for anybody without a key or session. A session's changes need
 * proof that one of the registry's own pages asked for them, else `forbidden`.
 */
function askerOf(request: Request, response: Response, url: string, { isPersonal }: DescribedOperation): Asker {
  const principal = principalOf(request);
  if (principal.kind === 'anonymous') {
    throw unauthenticated('An API key is required. Send Authorization: Bearer <key>.');
  }
  const session = sessionOf(request);
  if (session !== null) assertOwnPage(request, url, session, request.get(tokenHeader));
  return {
    principal,
    org: organizationOf(principal, request.get(organizationHeader), isPersonal),
    address: request.ip ?? null,
    secret: session?.token ?? request.headers.authorization ?? '',
    subject: `${request.method} ${request.originalUrl}`,
    ifMatch: request.headers['if-match'] ?? (request.headers['if-none-match'] === '*' ? '"0"' : undefined),
    accept: request.headers.accept,
    closed: () => untilClosed(response),
  };
}

function organizationOf(
  principal: Exclude<Principal, { kind: 'anonymous' }>,
  named: string | undefined,
  isPersonal: boolean,
): string {
  if (principal.kind === 'key') {
    if (named === undefined || named === principal.org) return principal.org;
    throw forbidden(
      `The key belongs to the organization ${principal.org}, and Stele-Organization names another one. Use a key of that organization, or send the request without the header.`,
      { extra: { organization: principal.org } },
    );
  }
  const organizations = principal.kind === 'user' ? Object.keys(principal.organizations) : [];
  if (named === undefined && organizations.length === 1) return organizations[0]!;
  // Who creates organizations may have none yet. No organization has this name.
  if (named === undefined && isPersonal) return organizations[0] ?? '-';
  if (named === undefined || !isSlug(named)) {
    throw malformed('Name the organization in the header Stele-Organization.');
  }
  // The same for an organization that does not exist.
  if (principal.kind === 'user' && !organizations.includes(named)) {
    throw forbidden(`You have no rights in the organization ${named}.`);
  }
  return named;
}
