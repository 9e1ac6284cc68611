import type { Agent } from 'node:http';
import { LRUCache } from 'lru-cache';
import { listServerRefs, type GitHttpRequest, type GitHttpResponse, type ServerRef } from 'isomorphic-git';
import { createAgent, sendToServer, type GitServer } from './git-http.ts';

/** What servers said that they can do, by URL. Only of those that speak protocol version 2. */
export type Advertised = LRUCache<string, Buffer>;

/** Bytes of an answer. Parsing more would stop other requests, and git does it in a process of its own. */
const maxBytes = 256 * 1024;
/** Each has some hundred bytes. */
const maxServers = 20_000;

/** Creates an empty memory of servers. */
export function createAdvertised(): Advertised {
  return new LRUCache({ max: maxServers });
}

/**
 * Asks a git server for the refs whose names begin with a prefix, over http, with git's protocol
 * version 2 or the older one, without a process. Follows no redirect. A server whose abilities are
 * known is asked in one request, otherwise in two. Null: the answer was something else than refs;
 * git asks again, and can say why. Rejects only when the signal aborts.
 */
export async function askServerRefs(
  server: GitServer,
  prefix: string,
  advertised: Advertised,
): Promise<ServerRef[] | null> {
  const { url, authorization, signal } = server;
  const agent = createAgent(server);
  try {
    return await listServerRefs({
      http: { request: (sent) => send(sent, agent, server, advertised) },
      url,
      prefix,
      peelTags: true,
      // For the branch that it stands for.
      symrefs: prefix === 'HEAD',
      headers: authorization === null ? {} : { authorization },
    });
  } catch {
    advertised.delete(url);
    signal.throwIfAborted();
    return null;
  } finally {
    agent.destroy();
  }
}

async function send(
  { url, method = 'GET', headers = {}, body }: GitHttpRequest,
  agent: Agent,
  server: GitServer,
  advertised: Advertised,
): Promise<GitHttpResponse> {
  const refs = method === 'GET' ? advertised.get(server.url) : undefined;
  const bytes = refs ?? (await ask({ url, method, headers, body: Buffer.concat(await Array.fromAsync(body ?? [])) }));
  if (method === 'GET' && speaksVersion2(bytes)) advertised.set(server.url, bytes);
  const type = `application/x-git-upload-pack-${method === 'GET' ? 'advertisement' : 'result'}`;
  const answered = { url, method, statusCode: 200, statusMessage: 'OK' };
  return { ...answered, headers: { 'content-type': type }, body: iterate(bytes) };

  async function ask(message: Parameters<typeof sendToServer>[0]): Promise<Buffer> {
    const response = await sendToServer(message, agent, server);
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of response as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > maxBytes) throw new TypeError('The answer is too large.');
      chunks.push(chunk);
    }
    const whole = Buffer.concat(chunks);
    // gitprotocol-common(5): a flush packet ends the list. Without it the answer was cut off.
    if (whole.subarray(-4).toString('latin1') !== '0000') throw new TypeError('The answer was cut off.');
    return whole;
  }
}

/** Whether an advertisement is of protocol version 2, which names abilities and no refs. */
function speaksVersion2(advertisement: Buffer): boolean {
  return /^(?:001e# service=git-upload-pack\n0000)?000[de]version 2/.test(advertisement.toString('latin1', 0, 60));
}

async function* iterate(bytes: Uint8Array): AsyncIterableIterator<Uint8Array> {
  yield bytes;
}
