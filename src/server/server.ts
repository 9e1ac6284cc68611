import type { RequestListener } from 'node:http';
import type { SyncQueue } from '../registry/queue.ts';
import type { Registry } from '../registry/registry.ts';
import type { CommandText } from '../site/docs-commands.ts';
import { createApp } from './app.ts';
import { listen } from './listen.ts';
import { createLogin } from './login/login.ts';
import { createV1 } from './v1/v1.ts';

/** A registry that answers over HTTP. */
export interface Server {
  /** The public base URL: the configuration's, else where it listens. */
  url: string;
  /** Says that it is no longer ready, stops accepting, lets what runs finish. */
  close(): Promise<void>;
}

/** Starts to serve. Rejects with `unavailable` when the address cannot be had, with `malformed` when the configuration's sign-in cannot be offered there. */
export async function openServer(
  registry: Registry,
  queue: SyncQueue,
  { commands, ...address }: { host: string; port: number; commands?: readonly CommandText[] },
): Promise<Server> {
  let isReady = true;
  let app: RequestListener = (_request, response) => void response.writeHead(503, { 'Retry-After': '1' }).end();
  // With port 0 the public URL is known only once it listens.
  const listening = await listen((request, response) => app(request, response), address);
  const url = registry.config.url ?? listening.url;
  try {
    const login = createLogin({ ...registry, url });
    const context = {
      registry,
      queue,
      url,
      isReady: () => isReady,
      ...(login && { login }),
      ...(commands && { commands }),
    };
    app = createApp({ ...context, v1: createV1(context) });
  } catch (error) {
    await listening.close(0);
    throw error;
  }
  return {
    url: listening.url,
    async close() {
      isReady = false;
      await listening.close();
    },
  };
}
