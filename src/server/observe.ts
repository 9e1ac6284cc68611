import type { IncomingMessage, ServerResponse } from 'node:http';
import { Router } from 'express';
import type { Registry } from '../registry/registry.ts';
import { RegistryError } from '../model/errors.ts';
import { isLocal } from './local-request.ts';
import type { Metrics } from './metrics.ts';
import { nothingHere } from './nothing-here.ts';
import { requestIdOf } from './request-id.ts';
import { onlyGet } from './methods.ts';

export interface Observer {
  /**
   * Called once for each request. `route` is a pattern; `startedAt` is from `performance.now()`.
   */
  observe(request: IncomingMessage, response: ServerResponse, route: string, startedAt: number): void;
  /** Whether requests are only counted, and not logged. */
  isQuiet: boolean;
  /** Counts a request that was answered at once. `startedAt` is from `performance.now()`. */
  count(method: string, route: string, status: number, startedAt: number): void;
  /** `/metrics` for programs on this machine, unless it has a listener of its own. No key opens it: it is about all organizations. */
  router: Router;
}

/** Counts every request and, with `log.level: debug`, logs each. */
export function createObserver(
  { config, log, tracer }: Pick<Registry, 'config' | 'log' | 'tracer'>,
  metrics: Metrics,
): Observer {
  const isLogged = config.log.level === 'debug';
  const router = Router({ caseSensitive: true, strict: true });
  router.get('/metrics', async (request, response) => {
    if (config.metrics !== null || !isLocal(request, config.proxies)) throw new RegistryError('not_found', nothingHere);
    const text = await metrics.render();
    response.set({ 'Content-Type': metrics.contentType, 'Cache-Control': 'no-store' }).send(text);
  });
  router.all('/metrics', onlyGet);
  return {
    router,
    // Each request is a span, and what is answered early would be none.
    isQuiet: !isLogged && tracer === undefined,
    count: (method, route, status, startedAt) =>
      metrics.observe(method, route, status, (performance.now() - startedAt) / 1000),
    observe(request, response, route, startedAt) {
      const milliseconds = performance.now() - startedAt;
      const { statusCode: status } = response;
      const method = request.method!;
      metrics.observe(method, route, status, milliseconds / 1000);
      if (isLogged) log('debug', 'request', { request: requestIdOf(request), method, route, status, milliseconds });
    },
  };
}
