import type { IncomingMessage, ServerResponse } from 'node:http';
import { Router } from 'express';
import type { Registry } from '../registry/registry.ts';
import { isLocal, requestIdOf } from './request.ts';
import { absent } from './error-answers.ts';
import { onlyGet } from './methods.ts';
import { collectDefaultMetrics, Gauge, Histogram, Registry as MetricsRegistry } from 'prom-client';
import type { MemoryUse } from '../registry/answer-cache.ts';
import type { SyncQueue } from '../sync/queue.ts';

export type Observer = ReturnType<typeof createObserver>;

/** Counts every request and, with `log.level: debug`, logs each. */
export function createObserver({ config, log, tracer }: Pick<Registry, 'config' | 'log' | 'tracer'>, metrics: Metrics) {
  const isLogged = config.log.level === 'debug';
  const router = Router({ caseSensitive: true, strict: true });
  router.get('/metrics', async (request, response) => {
    if (config.metrics !== null || !isLocal(request, config.proxies)) throw absent();
    const text = await metrics.render();
    response.set({ 'Content-Type': metrics.contentType, 'Cache-Control': 'no-store' }).send(text);
  });
  router.all('/metrics', onlyGet);
  return {
    /**
     * `/metrics` for programs on this machine, unless it has a listener of its own. No key opens it: it is about all
     * organizations.
     */
    router,
    /** Whether requests are only counted, and not logged. */
    // Each request is a span, and what is answered early would be none.
    isQuiet: !isLogged && tracer === undefined,
    /** Counts a request that was answered at once. `startedAt` is from `performance.now()`. */
    count: (method: string, route: string, status: number, startedAt: number): void =>
      metrics.observe(method, route, status, (performance.now() - startedAt) / 1000),
    /** Called once for each request. `route` is a pattern; `startedAt` is from `performance.now()`. */
    observe(request: IncomingMessage, response: ServerResponse, route: string, startedAt: number): void {
      const milliseconds = performance.now() - startedAt;
      const { statusCode: status } = response;
      const method = request.method!;
      metrics.observe(method, route, status, milliseconds / 1000);
      if (isLogged) log('debug', 'request', { request: requestIdOf(request), method, route, status, milliseconds });
    },
  };
}

/**
 * Request metrics by route pattern. Not by path, because clients can invent any number of paths.
 */
export type Metrics = ReturnType<typeof createMetrics>;

/** Creates the metrics of a server, its syncs, what it keeps in memory, and its process. */
export function createMetrics(queue: Pick<SyncQueue, 'counts'>, caches: () => Record<string, MemoryUse> = () => ({})) {
  const register = new MetricsRegistry();
  collectDefaultMetrics({ register });
  const durations = new Histogram({
    name: 'stele_http_request_seconds',
    help: 'Seconds from a request to its answer, by method, route pattern and status.',
    labelNames: ['method', 'route', 'status'] as const,
    buckets: [0.001, 0.005, 0.025, 0.1, 0.5, 2, 10],
    registers: [register],
  });
  const syncs = new Gauge({
    name: 'stele_syncs',
    help: 'Syncs of repositories in this process, by whether they run or wait.',
    labelNames: ['state'] as const,
    registers: [],
    collect() {
      const { running, waiting } = queue.counts();
      this.set({ state: 'running' }, running);
      this.set({ state: 'waiting' }, waiting);
    },
  });
  register.registerMetric(syncs);
  const uses = [
    ['bytes', 'Bytes that this process keeps in memory, by cache.'],
    ['limit', 'Bytes after which the cache drops what was used least recently.'],
  ] as const;
  for (const [member, help] of uses) {
    const gauge = new Gauge({
      name: `stele_cache_${member === 'bytes' ? 'bytes' : 'limit_bytes'}`,
      help,
      labelNames: ['cache'] as const,
      registers: [],
      collect() {
        for (const [cache, use] of Object.entries(caches())) this.set({ cache }, use[member]);
      },
    });
    register.registerMetric(gauge);
  }
  return {
    observe: (method: string, route: string, status: number, seconds: number): void =>
      durations.observe({ method, route, status }, seconds),
    contentType: register.contentType as string,
    /** All metrics in the Prometheus text format. */
    render: () => register.metrics(),
  };
}
