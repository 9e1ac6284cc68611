import express, { type Request, type Response, type Router } from 'express';
import { formatPrincipal } from '../../model/access.ts';
import { isResourceType } from '../../model/address.ts';
import { RegistryError } from '../../model/errors.ts';
import { principalOf } from '../authenticate.ts';
import type { ServerContext } from '../server-context.ts';
import { createTokenExchange } from '../login/token.ts';
import { nothingHere } from '../nothing-here.ts';
import { splitTarget } from '../read/read-request.ts';
import { nameRoute } from '../route-name.ts';
import { findForCall, requireOrganizationScope, requireScope, requireScopeForPart } from './require-scope.ts';
import { readBody } from '../body/read-body.ts';
import type { Answer, Call } from './call.ts';
import { ownDescription, type Operation } from './api-description.ts';
import { createReceiveHook } from './hook-routes.ts';
import { bodyLimits, takesDocument } from './body-limits.ts';
import { createDescriptionRoute } from './description-route.ts';
import { allowedMethods, createRoutes, matchRoute, noRoute } from './match.ts';
import { answerOnce } from './once.ts';
import { headersOf, readQuery } from './parameters.ts';
import { createRateLimit } from './rate-limit.ts';
import { keyRecord } from './records.ts';
import { routes } from './routes.ts';
import { send } from './send-answer.ts';
import { createTurns } from '../../scheduling/organization-turns.ts';
import { validatorOf } from './validate.ts';

/**
 * The management API, mounted under `/v1`. Only operations in the description exist. Order of
 * checks: rate, route, key, parameters, access, body; then the operation.
 */
export function createV1(context: Omit<ServerContext, 'v1'>): Router {
  const { registry } = context;
  const exchangeToken = createTokenExchange(registry, context.url);
  const receiveHook = createReceiveHook(context);
  const { description = ownDescription() } = context;
  const table = createRoutes(description.operations);
  const validator = validatorOf(description);
  const turns = createTurns();
  const descriptionRoute = createDescriptionRoute(description);

  async function answer(request: Request, response: Response): Promise<Answer> {
    const { path, query } = splitTarget(request.originalUrl);
    const matched = matchRoute(table, path);
    // Without a key, the error does not reveal which routes exist.
    if (matched === null) throw new RegistryError('not_found', isKeyed(request) ? noRoute(table, path) : nothingHere);
    const { route, values } = matched;
    nameRoute(request, route.template);
    const method = request.method === 'HEAD' ? 'get' : request.method.toLowerCase();
    const operation = route.operations.get(method);
    if (operation === undefined) {
      const allow = allowedMethods(route);
      response.setHeader('Allow', allow);
      const isDescription = route.operations.get('get')?.id === 'getDescription';
      if (method === 'options') return isDescription ? descriptionRoute.preflight : { status: 204 };
      throw new RegistryError('method_not_allowed', `This address supports only ${allow}.`);
    }
    const principal = principalOf(request);
    if (operation.scope === null) return answerAnyone(operation, values, request, response);
    if (principal.kind !== 'key')
      throw new RegistryError('unauthenticated', 'An API key is required. Send Authorization: Bearer <key>.');
    // An invalid name cannot exist.
    if (!validator.isPath(operation, values)) throw new RegistryError('not_found', nothingHere);
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
      // A waiting request's body is not read yet.
      return takesDocument(operation) ? turns.take(principal.org, answerFound) : answerFound();
    }
    if (entry.about === 'organization') requireOrganizationScope(call, operation.scope);
    if (entry.about === 'part') requireScopeForPart(call, operation.scope);
    return answerOnce({ ...call, body: await checkedBody(operation, request, response) }, key, entry.answer);
  }

  async function checkedBody(operation: Operation, request: Request, response: Response): Promise<Call['body']> {
    if (operation.body === null) return null;
    const body = await readBody(request, response, bodyLimits(registry.config, operation));
    if (body !== null) validator.checkBody(operation, body.value, body.size);
    else if (operation.body.required) throw new RegistryError('malformed', 'The request needs a JSON body.');
    return body;
  }

  async function answerAnyone(
    operation: Operation,
    values: Call['path'],
    request: Request,
    response: Response,
  ): Promise<Answer> {
    const { query } = splitTarget(request.originalUrl);
    const { connection = null } = validator.readParameters(operation, 'query', readQuery(query));
    if (operation.id === 'receiveHook')
      return receiveHook(values['host']!, connection as string | null, request, response);
    if (operation.id === 'getDescription') return descriptionRoute.read;
    const body = await checkedBody(operation, request, response);
    const { key, text } = await exchangeToken((body!.value as { token: string }).token, request.ip ?? null);
    return { status: 201, body: { ...keyRecord(key, null), secret: text } };
  }

  const router = express.Router({ caseSensitive: true, strict: true });
  router.use(createRateLimit(registry));
  const handle = async (request: Request, response: Response) =>
    send(request, response, await answer(request, response));
  router.use((request, response) => handle(request, response));
  return router;
}

function isKeyed(request: Request): boolean {
  return principalOf(request).kind === 'key';
}
