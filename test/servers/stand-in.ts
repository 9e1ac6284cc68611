import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

/** A request that a stand-in was sent. */
export interface Recorded {
  method: string;
  /** Without its query. */
  path: string;
  query: Record<string, string>;
  headers: IncomingMessage['headers'];
  /** As JSON; null where there was none. */
  body: Record<string, unknown> | null;
}

/** What a stand-in says. */
export interface Said {
  status: number;
  headers?: Record<string, string>;
  body?: unknown;
  /** Milliseconds before it says anything. */
  after?: number;
}

/** A server that stands for the API of a git host. */
export interface StandIn extends AsyncDisposable {
  url: string;
  requests: Recorded[];
  /** The next requests that fit get this in place of what they asked for. */
  fail(said: Said, times?: number, fits?: (request: Recorded) => boolean): void;
}

/** What the owner `acme` of a stand-in has. */
export interface Owned {
  /** As the API lists them. */
  repositories: unknown[];
  /** Whether it is a user, and no organization. */
  isUser: boolean;
}

/** Serves what `answer` says, on a port of its own. Null: 404. */
export async function openStandIn(answer: (request: Recorded) => Said | null): Promise<StandIn> {
  const requests: Recorded[] = [];
  const faults: { said: Said; left: number; fits: (request: Recorded) => boolean }[] = [];
  const stop = new AbortController();

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const recorded = await record(request);
    requests.push(recorded);
    const fault = faults.find(({ left, fits }) => left > 0 && fits(recorded));
    if (fault) fault.left--;
    const said = fault?.said ?? answer(recorded) ?? { status: 404, body: { message: 'Not Found' } };
    if (said.after) await wait(said.after, undefined, { signal: stop.signal });
    response.writeHead(said.status, { 'content-type': 'application/json; charset=utf-8', ...said.headers });
    response.end(said.body === undefined ? undefined : JSON.stringify(said.body));
  }

  const server = createServer((request, response) => {
    handle(request, response).catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    fail: (said, times = 1, fits = () => true) => void faults.push({ said, left: times, fits }),
    async [Symbol.asyncDispose]() {
      stop.abort();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

async function record(request: IncomingMessage): Promise<Recorded> {
  const url = new URL(request.url!, 'http://stand-in.test');
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return {
    method: request.method!,
    path: url.pathname,
    query: Object.fromEntries(url.searchParams),
    headers: request.headers,
    body: text === '' ? null : (JSON.parse(text) as Record<string, unknown>),
  };
}

/** One page of a list, with the link to the next (RFC 8288) where there is one. */
export function pageOf(
  { path, query }: Recorded,
  items: readonly unknown[],
  size: number,
): { page: unknown[]; headers: Record<string, string>; next: string | null } {
  const number = Number(query['page'] ?? 1);
  const page = items.slice((number - 1) * size, number * size);
  const hasMore = number * size < items.length;
  const next = hasMore ? `http://stand-in.test${path}?page=${number + 1}` : null;
  return { page, headers: next === null ? {} : { link: `<${next}>; rel="next"` }, next };
}
