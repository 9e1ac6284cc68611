import type { IncomingMessage, ServerResponse } from 'node:http';
import { Router } from 'express';
import type { Registry } from '../registry/registry.ts';
import { principalOf } from './authenticate.ts';
import { assertMayReadMetrics } from './metrics-access.ts';
import type { Metrics } from './metrics.ts';
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
  /** `/metrics`. */
  router: Router;
}

/** Counts every request and, with `log.level: debug`, logs each. */
export function createObserver({ config, log }: Pick<Registry, 'config' | 'log'>, metrics: Metrics): Observer {
  const isLogged = config.log.level === 'debug';
  const router = Router({ caseSensitive: true, strict: true });
  router.get('/metrics', async (request, response) => {
    assertMayReadMetrics(request, principalOf(request), config.proxies);
    const text = await metrics.render();
    response.set({ 'Content-Type': metrics.contentType, 'Cache-Control': 'no-store' }).send(text);
  });
  router.all('/metrics', onlyGet);
  return {
    router,
    isQuiet: !isLogged,
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
