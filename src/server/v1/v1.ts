import express, { type Request, type Response, type Router } from 'express';
import { formatPrincipal } from '../../model/access.ts';
import { isResourceType } from '../../model/address.ts';
import { digestOf } from '../../model/digest.ts';
import { RegistryError } from '../../model/errors.ts';
import { principalOf } from '../authenticate.ts';
import type { ServerContext } from '../context.ts';
import { createTokenExchange } from '../login/token.ts';
import { nothingHere } from '../nothing-here.ts';
import { splitTarget } from '../read-request.ts';
import { nameRoute } from '../route-name.ts';
import { findForCall, requireOrganizationScope, requireScope } from './access.ts';
import { readBody } from './body.ts';
import type { Answer, Call } from './call.ts';
import { isKnown } from './conditional.ts';
import { readDescription, type Operation } from './description.ts';
import { bodyLimits, takesDocument } from './limits.ts';
import { allowedMethods, createRoutes, matchRoute } from './match.ts';
import { answerOnce } from './once.ts';
import { createRateLimit } from './rate-limit.ts';
import { keyRecord } from './records.ts';
import { routes } from './routes.ts';
import { createTurns } from './turns.ts';
import { createValidator } from './validate.ts';

/**
 * The management API, to be mounted under `/v1`. What is in the description can be called, and nothing else. In order: the rate, the
 * route, the key, the parameters, access, the body, the verb.
 */
export function createV1(context: Omit<ServerContext, 'v1'>): Router {
  const { registry } = context;
  const exchangeToken = createTokenExchange(registry, context.url);
  const description = readDescription();
  const table = createRoutes(description.operations);
  const validator = createValidator(description);
  const turns = createTurns();
  const descriptionText = JSON.stringify(description.document);
  const descriptionTag = `"${digestOf(descriptionText)}"`;

  async function answer(request: Request, response: Response): Promise<Answer> {
    const { path, query } = splitTarget(request.originalUrl);
    const matched = matchRoute(table, path);
    if (matched === null) throw new RegistryError('not_found', nothingHere);
    const { route, values } = matched;
    nameRoute(request, route.template);
    const method = request.method === 'HEAD' ? 'get' : request.method.toLowerCase();
    const operation = route.operations.get(method);
    if (operation === undefined) {
      const allow = allowedMethods(route);
      response.setHeader('Allow', allow);
      if (method === 'options') return { status: 204 };
      throw new RegistryError('method_not_allowed', `This answers ${allow} alone.`);
    }
    const principal = principalOf(request);
    if (operation.scope === null) return answerAnyone(operation, request, response);
    if (principal.kind !== 'key') throw new RegistryError('unauthenticated', 'Send a key: Authorization: Bearer ….');
    try {
      validator.readParameters(operation, 'path', new Map(Object.entries(values)));
    } catch {
      // What cannot be a name names nothing.
      throw new RegistryError('not_found', nothingHere);
    }
    const headers = validator.readParameters(operation, 'header', headersOf(operation, request));
    const typeName = path.split('/')[2]!;
    const call: Call = {
      context,
      registry,
      request,
      operation,
      principal,
      path: values,
      author: { actor: formatPrincipal(principal), origin: request.ip ?? null },
      query: validator.readParameters(operation, 'query', readQuery(query)),
      body: null,
      type: isResourceType(typeName) ? typeName : null,
    };
    const key = headers['Idempotency-Key'] as string | undefined;
    const entry = routes.get(operation.id)!;
    if (entry.about === 'resource') {
      const found = await findForCall(call);
      requireScope(found, operation.scope);
      const answerFound = async () =>
        answerOnce({ ...found, body: await checkedBody(operation, request, response) }, key, entry.answer);
      // The body of one that waits is not read.
      return takesDocument(operation) ? turns.take(principal.org, answerFound) : answerFound();
    }
    if (entry.about === 'organization') requireOrganizationScope(call, operation.scope);
    return answerOnce({ ...call, body: await checkedBody(operation, request, response) }, key, entry.answer);
  }

  async function checkedBody(operation: Operation, request: Request, response: Response): Promise<Call['body']> {
    if (operation.body === null) return null;
    const body = await readBody(request, response, bodyLimits(registry.config, operation));
    if (body !== null) validator.checkBody(operation, body.value, body.bytes.byteLength);
    else if (operation.body.required)
      throw new RegistryError('malformed', 'This takes a JSON body, and there is none.');
    return body;
  }

  async function answerAnyone(operation: Operation, request: Request, response: Response): Promise<Answer> {
    const { query } = splitTarget(request.originalUrl);
    validator.readParameters(operation, 'query', readQuery(query));
    if (operation.id === 'getDescription') {
      return { status: 200, headers: { ETag: descriptionTag }, body: description.document };
    }
    const body = await checkedBody(operation, request, response);
    const { key, text } = await exchangeToken((body!.value as { token: string }).token, request.ip ?? null);
    return { status: 201, body: { ...keyRecord(key, null), secret: text } };
  }

  const router = express.Router({ caseSensitive: true, strict: true });
  router.use(createRateLimit(registry.config));
  const handle = async (request: Request, response: Response) =>
    send(request, response, await answer(request, response));
  router.use((request, response) => handle(request, response));
  return router;
}

/** The described header fields that the request has. */
function headersOf({ parameters }: Operation, request: Request): Map<string, string> {
  const named = parameters.filter((parameter) => parameter.in === 'header');
  return new Map(
    named.flatMap(({ name }) => {
      const value = request.headers[name.toLowerCase()];
      return typeof value === 'string' ? [[name, value] as const] : [];
    }),
  );
}

/** The query's parameters. Refuses with `malformed` one that is there twice, or that cannot be decoded. */
function readQuery(query: string): Map<string, string> {
  const values = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(query)) {
    if (values.has(name)) throw new RegistryError('malformed', `The parameter ${name.slice(0, 100)} is there twice.`);
    values.set(name, value);
  }
  return values;
}

function send(request: Request, response: Response, { status, headers = {}, body }: Answer): void {
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  response.setHeader('Cache-Control', 'no-store');
  response.setHeader('X-Content-Type-Options', 'nosniff');
  const { ETag: etag } = headers;
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  if (isRead && etag !== undefined && isKnown(request.headers['if-none-match'], etag)) {
    response.writeHead(304).end();
    return;
  }
  if (body === undefined) {
    response.writeHead(status).end();
    return;
  }
  const bytes = Buffer.from(JSON.stringify(body));
  response.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': bytes.byteLength });
  response.end(request.method === 'HEAD' ? undefined : bytes);
}
