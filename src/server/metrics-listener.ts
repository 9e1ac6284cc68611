import { inspect } from 'node:util';
import type { Log } from '../registry/registry.ts';
import { listen, type App, type Listening } from './listen.ts';
import type { Metrics } from './metrics.ts';

/** Serves `/metrics`, and nothing else, to whoever reaches the address. `current`: the metrics of the app that answers now. */
export function listenForMetrics(
  address: { host: string; port: number },
  current: () => Metrics | undefined,
  log: Log,
): Promise<Listening> {
  const answer: App = (request, response) => {
    const metrics = current();
    if (metrics === undefined || request.url !== '/metrics') return void response.writeHead(404).end();
    if (request.method !== 'GET') return void response.writeHead(405, { Allow: 'GET' }).end();
    metrics.render().then(
      (text) => response.writeHead(200, { 'Content-Type': metrics.contentType, 'Cache-Control': 'no-store' }).end(text),
      (error: unknown) => {
        log('error', 'metrics could not be read', { error: inspect(error) });
        response.writeHead(500).end();
      },
    );
  };
  return listen(answer, { ...address, connections: 16 });
}
