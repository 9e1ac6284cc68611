import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A server that listens. */
export interface Listening {
  /** `http://host:port`, as somebody on this machine reaches it. */
  url: string;
  port: number;
  /**
   * Stops accepting, lets what runs finish, ends idle connections, and cuts off what is left after `deadline` milliseconds
   * (default 10,000). Resolves when nothing is open.
   */
  close(deadline?: number): Promise<void>;
}

/** Starts to listen; port 0 picks one. Rejects when the address cannot be had. */
export async function listen(app: RequestListener, { host, port }: { host: string; port: number }): Promise<Listening> {
  const server = createServer({ keepAlive: true }, app);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port }, resolve);
  });
  const actual = (server.address() as AddressInfo).port;
  const name = host.includes(':') ? `[${host}]` : host;
  return {
    url: `http://${name}:${actual}`,
    port: actual,
    async close(deadline = 10_000) {
      const cutOff = setTimeout(() => server.closeAllConnections(), deadline);
      const sweep = setInterval(() => server.closeIdleConnections(), 50);
      await new Promise<void>((resolve) => server.close(() => resolve()));
      clearTimeout(cutOff);
      clearInterval(sweep);
    },
  };
}
