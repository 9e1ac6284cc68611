import express, { type Express } from 'express';
import { RegistryError } from '../model/errors.ts';
import { createAuthenticate } from './authenticate.ts';
import type { ServerContext } from './context.ts';
import { createErrorHandler } from './errors.ts';
import { nothingHere } from './nothing-here.ts';
import { createReads, isRead } from './reads.ts';
import { requestIdOf } from './request-id.ts';

/** The whole server as an Express application: who asks first, then the one part that the path belongs to. */
export function createApp(context: ServerContext): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.enable('case sensitive routing');
  app.enable('strict routing');
  app.set('query parser', 'simple');
  app.set('trust proxy', context.registry.config.proxies);
  const authenticate = createAuthenticate(context);
  const read = createReads(context, authenticate);
  app.use((request, response, next) => (isRead(request.url) ? read(request, response) : next()));
  app.use((request, response, next) => {
    response.setHeader('X-Request-Id', requestIdOf(request));
    next();
  });
  app.use(async (request, _response, next) => {
    await authenticate(request);
    next();
  });
  if (context.v1) app.use('/v1', context.v1);
  if (context.login) app.use(context.login.router);
  app.use(() => {
    throw new RegistryError('not_found', nothingHere);
  });
  app.use(createErrorHandler(context));
  return app;
}
