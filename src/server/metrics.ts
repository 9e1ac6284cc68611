import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { MemoryUse } from '../registry/answer-cache.ts';
import type { SyncQueue } from '../sync/queue.ts';

/**
 * Request metrics by route pattern. Not by path, because clients can invent any number of paths.
 */
export interface Metrics {
  observe(method: string, route: string, status: number, seconds: number): void;
  contentType: string;
  /** All metrics in the Prometheus text format. */
  render(): Promise<string>;
}

/** Creates the metrics of a server, its syncs, what it keeps in memory, and its process. */
export function createMetrics(
  queue: Pick<SyncQueue, 'counts'>,
  caches: () => Record<string, MemoryUse> = () => ({}),
): Metrics {
  const register = new Registry();
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
    observe: (method, route, status, seconds) => durations.observe({ method, route, status }, seconds),
    contentType: register.contentType,
    render: () => register.metrics(),
  };
}
