import { Agent as PlainAgent, request as requestPlain, type IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { lookupAmong } from '../allowed-address.ts';

/** A repository on a git server, and as whom it is asked. */
export interface GitServer {
  /** An http or https URL. */
  url: string;
  /** Checked addresses of its host. No other is connected to. */
  addresses: readonly string[];
  /** The value of the `Authorization` header, or null. */
  authorization: string | null;
  /** The URL of the proxy, which resolves the host itself; null: none. */
  proxy: string | null;
  signal: AbortSignal;
}

/** A request for a git server. */
export interface GitHttpMessage {
  url: string;
  method: string;
  headers: Readonly<Record<string, string>>;
  body: Uint8Array;
}

/** Keeps the connection for a second request. */
export function createAgent({ url, proxy }: Pick<GitServer, 'url' | 'proxy'>): PlainAgent {
  const proxyEnv = proxy === null ? {} : { http_proxy: proxy, https_proxy: proxy };
  const options = { keepAlive: true, maxSockets: 1, proxyEnv };
  return url.startsWith('https:') ? new Agent(options) : new PlainAgent(options);
}

/**
 * Sends one request to a git server. Follows no redirect. Fails unless the server answers 200 with
 * the type that git servers answer with.
 */
export async function sendToServer(
  { url, method, headers, body }: GitHttpMessage,
  agent: PlainAgent,
  { addresses, proxy, signal }: GitServer,
): Promise<IncomingMessage> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const start = url.startsWith('https:') ? request : requestPlain;
    const length = body.byteLength > 0 ? { 'content-length': String(body.byteLength) } : {};
    const all = { 'user-agent': 'git/stele', ...headers, ...length };
    const pinned = proxy === null ? { lookup: lookupAmong(addresses) } : {};
    start(url, { method, headers: all, agent, signal, ...pinned }, resolve)
      .on('error', reject)
      .end(body);
  });
  const { statusCode, headers: answered } = response;
  const expected = `application/x-git-upload-pack-${method === 'GET' ? 'advertisement' : 'result'}`;
  if (statusCode === 200 && answered['content-type'] === expected) return response;
  response.destroy();
  throw new TypeError(`The server answered ${statusCode} with ${answered['content-type']}.`);
}
