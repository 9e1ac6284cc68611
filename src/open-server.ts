import type { RequestListener } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { RequestHandler } from 'express';
import type { SyncQueue } from './sync/queue.ts';
import type { Registry } from './registry/registry.ts';
import type { Site } from './site/site.ts';
import { createApp } from './server/app.ts';
import { affordableConnections, listen, type App, type Listening, listenForMetrics } from './server/listen.ts';
import { createConsole } from './console/console.ts';
import type { Peers } from './server/allowance.ts';
import type { Dev } from './server/dev.ts';
import type { AnswerEarly } from './server/fast-path.ts';
import { isOnThisMachine } from './server/login/same-site.ts';
import type { Login } from './server/server-context.ts';
import { createLocalLogin } from './server/login/local-login.ts';
import { createLogin } from './server/login/login.ts';
import { createOperations, type Operations } from './server/v1/operations.ts';
import { createV1 } from './server/v1/v1.ts';

/** A registry served over HTTP. */
export interface Server {
  /** Public base URL: the configured one, else where it listens. */
  url: string;
  /** A URL that signs in once, as the operator. Null unless this is a machine on its own. */
  signInUrl(): string | null;
  /** Reloads templates and documentation. Throws, and keeps the old ones, if they are invalid. */
  reload(): void;
  /** Reports not ready, and ends what waits for news. Everything else is answered until `close`, and ends its connection. */
  drain(): void;
  /**
   * Drains, stops accepting, and waits at most `deadline` milliseconds for running requests, as
   * `Listening` does.
   */
  close(deadline?: number): Promise<void>;
}

/** Milliseconds that readers wait for a page that is being made, before the answer says so. */
const pagePatience = 5_000;
/** Milliseconds after a start at which the server is ready, whatever it has not read yet. */
const warmPatience = 5_000;

/** Where to serve, and with what. */
interface ServerOptions {
  host: string;
  port: number;
  dev?: Dev | null;
  peers?: Peers | undefined;
  /** Reads what first requests need. The server is not ready before that, or for some seconds; it answers all the same. */
  warm?: Promise<unknown>;
}

/**
 * Starts to serve. Rejects with `unavailable` if the address cannot be used, and with `malformed`
 * if the configured sign-in cannot work there.
 */
export async function openServer(
  registry: Registry,
  queue: SyncQueue,
  { dev, peers, warm, ...address }: ServerOptions,
): Promise<Server> {
  let isWarm = warm === undefined;
  let isDraining = false;
  const beWarm = () => void (isWarm = true);
  if (warm) Promise.race([warm, delay(warmPatience, undefined, { ref: false })]).then(beWarm, beWarm);
  let open: () => App;
  let login: Login | null;
  let metrics: Listening | null = null;
  let app: App = (_request, response) => void response.writeHead(503, { 'Retry-After': '1' }).end();
  // With port 0, the public URL is known only after listening.
  const connections = affordableConnections();
  const current: App = Object.assign(((request, response) => app(request, response)) satisfies RequestListener, {
    early: ((request, socket) => app.early?.(request, socket) ?? false) satisfies AnswerEarly,
  });
  const listening = await listen(current, { ...address, connections });
  const url = registry.config.url ?? listening.url;
  try {
    login = createLogin({ ...registry, url }) ?? createLocalLogin(registry, url, peers);
    const context = {
      registry,
      queue,
      url,
      isReady: () => isWarm && !isDraining,
      pagePatience,
      ...(login && { login }),
      ...(dev && { dev }),
      ...(peers && { peers }),
    };
    // When they are first needed: reading the API's description takes 0.3 s.
    let created: { operations: Operations; site: Site } | null = null;
    const operations = (site: Site) => {
      if (created?.site !== site) created = { operations: createOperations({ ...context, site }), site };
      return created.operations;
    };
    const whole = {
      ...context,
      v1: (site: Site) => atFirstRequest(() => createV1({ ...context, site }, operations(site))),
      ...(login && {
        console: (site: Site) => atFirstRequest(() => createConsole({ context, site, operations: operations(site) })),
      }),
    };
    open = () => createApp(whole);
    app = open();
    const { metrics: own } = registry.config;
    if (own !== null) metrics = await listenForMetrics(own, () => app.metrics, registry.log);
  } catch (error) {
    await listening.close(0);
    throw error;
  }
  const drain = (): void => {
    isDraining = true;
    listening.drain();
  };
  return {
    url: listening.url,
    signInUrl: () =>
      login?.signInLink && [url, listening.url].every(isOnThisMachine) ? url + login.signInLink() : null,
    reload() {
      app = open();
    },
    drain,
    async close(deadline) {
      drain();
      await listening.close(deadline);
      await metrics?.close(0);
    },
  };
}

function atFirstRequest(create: () => RequestHandler): RequestHandler {
  let handler: RequestHandler | null = null;
  return (request, response, next) => (handler ??= create())(request, response, next);
}
