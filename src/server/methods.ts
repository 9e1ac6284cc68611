import type { ServerResponse } from 'node:http';
import type { RequestHandler } from 'express';
import { RegistryError } from '../model/errors.ts';
import type { Visibility } from '../model/access.ts';
import { flattenFields, preflightHeaders, securityHeaders } from './headers.ts';
import type { ReadRequest } from './read/read-request.ts';

const allowed = 'GET, HEAD, OPTIONS';

/** Throws `method_not_allowed`, and says which methods this address has. */
export function refuseMethod(response: ServerResponse, methods: string): never {
  response.setHeader('Allow', methods);
  throw new RegistryError('method_not_allowed', `This address supports only ${methods}.`);
}

/**
 * Answers OPTIONS (also a CORS preflight) and rejects methods that reads do not allow. Returns true
 * if it sent a response. Call it after the access check, since an answer reveals that the resource
 * exists.
 */
export function answerMethod(
  { request, response }: Pick<ReadRequest, 'request' | 'response'>,
  visibility: Visibility,
): boolean {
  const { method } = request;
  if (method === 'GET' || method === 'HEAD') return false;
  if (method !== 'OPTIONS') refuseMethod(response, allowed);
  const fields = {
    Allow: allowed,
    'Cache-Control': 'no-store',
    ...securityHeaders,
    ...(visibility === 'public' && preflightHeaders),
  };
  response.writeHead(204, flattenFields(fields)).end();
  return true;
}

/**
 * Handler for the other methods of a GET route: answers OPTIONS, and throws `method_not_allowed`
 * otherwise.
 */
export const onlyGet: RequestHandler = (request, response) => {
  if (request.method !== 'OPTIONS') refuseMethod(response, allowed);
  response.set('Allow', allowed).status(204).end();
};
