import type { RequestListener } from 'node:http';
import type { SyncQueue } from '../sync/queue.ts';
import type { Registry } from '../registry/registry.ts';
import type { CommandText } from '../site/docs/docs-commands.ts';
import { createApp } from './app.ts';
import { affordableConnections } from './connections.ts';
import type { Dev } from './dev.ts';
import { listen } from './listen.ts';
import { createLogin } from './login/login.ts';
import { readDescription } from './v1/api-description.ts';
import { createV1 } from './v1/v1.ts';

/** A registry that answers over HTTP. */
export interface Server {
  /** The public base URL: the configuration's, else where it listens. */
  url: string;
  /** Reads templates and documentation anew, and goes on as before where they are broken. Throws what is wrong with them. */
  reload(): void;
  /** Says that it is no longer ready, stops accepting, lets what runs finish: for at most `deadline` milliseconds, as `Listening` has it. */
  close(deadline?: number): Promise<void>;
}

/** Starts to serve. Rejects with `unavailable` when the address cannot be had, with `malformed` when the configuration's sign-in cannot be offered there. */
export async function openServer(
  registry: Registry,
  queue: SyncQueue,
  { commands, dev, ...address }: { host: string; port: number; commands?: readonly CommandText[]; dev?: Dev | null },
): Promise<Server> {
  let isReady = true;
  let open: () => RequestListener;
  let app: RequestListener = (_request, response) => void response.writeHead(503, { 'Retry-After': '1' }).end();
  // With port 0 the public URL is known only once it listens.
  const connections = affordableConnections(registry.config.connections);
  const listening = await listen((request, response) => app(request, response), { ...address, connections });
  const url = registry.config.url ?? listening.url;
  try {
    const login = createLogin({ ...registry, url });
    const context = {
      registry,
      queue,
      url,
      isReady: () => isReady,
      description: readDescription(),
      ...(login && { login }),
      ...(commands && { commands }),
      ...(dev && { dev }),
    };
    const whole = { ...context, v1: createV1(context) };
    open = () => createApp(whole);
    app = open();
  } catch (error) {
    await listening.close(0);
    throw error;
  }
  return {
    url: listening.url,
    reload() {
      app = open();
    },
    async close(deadline) {
      isReady = false;
      await listening.close(deadline);
    },
  };
}
