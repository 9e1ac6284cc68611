import express, { type Request, type Response, type Router } from 'express';
import { formatPrincipal } from '../../model/access.ts';
import { RegistryError } from '../../model/errors.ts';
import { createTurns } from '../../scheduling/organization-turns.ts';
import { principalOf } from '../authenticate.ts';
import type { ServerContext } from '../server-context.ts';
import { createTokenExchange } from '../login/token.ts';
import { nothingHere } from '../nothing-here.ts';
import { splitTarget } from '../read/read-request.ts';
import { nameRoute } from '../route-name.ts';
import { untilClosed } from '../until-closed.ts';
import { readBody, readBytes } from '../body/read-body.ts';
import { askerOf } from './asker.ts';
import type { Answer, Call } from './call.ts';
import { ownDescription, type Operation } from './api-description.ts';
import { checkDocument } from './documents/check-route.ts';
import { createReceiveHook } from './hook-routes.ts';
import { bodyLimits } from './body-limits.ts';
import { createDescriptionRoute } from './description-route.ts';
import { allowedMethods, createRoutes, matchRoute, noRoute } from './match-route.ts';
import { createOperations } from './operations.ts';
import { headersOf, readQuery } from './parameters.ts';
import { createRateLimit } from '../rate/rate-limit.ts';
import { askForKeyOf, takeKeyOf } from './keys/device-routes.ts';
import { keyRecord } from './resource-records.ts';
import { send } from './send-answer.ts';
import { validatorOf } from './validate.ts';

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
    if (matched === null) throw new RegistryError('not_found', isMember(request) ? noRoute(table, path) : nothingHere);
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
    const { key, text } = await exchangeToken((body as { token: string }).token, request.ip ?? null);
    return { status: 201, body: { ...keyRecord(key, null), secret: text } };
  }

  const router = express.Router({ caseSensitive: true, strict: true });
  router.use(createRateLimit('v1', context));
  const handle = async (request: Request, response: Response) =>
    send(request, response, await answer(request, response));
  router.use((request, response) => handle(request, response));
  return router;
}

function isMember(request: Request): boolean {
  return principalOf(request).kind !== 'anonymous';
}
