import { Agent as PlainAgent, request as requestPlain, type IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { listServerRefs, type GitHttpRequest, type GitHttpResponse, type ServerRef } from 'isomorphic-git';
import { lookupAmong } from './allowed-address.ts';

/** Where to ask, and as whom. */
export interface RefsRequest {
  /** An http or https URL. */
  url: string;
  /** Checked addresses of its host. No other is connected to. */
  addresses: readonly string[];
  /** The value of the `Authorization` header, or null. */
  authorization: string | null;
  /** Only refs whose names begin so. */
  prefix: string;
  signal: AbortSignal;
}

/** Bytes of an answer. Parsing more would stop other requests, and git does it in a process of its own. */
const mostBytes = 256 * 1024;

/**
 * Asks a git server for refs over http, with git's protocol version 2 or the older one, without a
 * process. Follows no redirect. Null: the answer was something else than refs; git asks again, and
 * can say why. Rejects only when the signal aborts.
 */
export async function askServerRefs(asked: RefsRequest): Promise<ServerRef[] | null> {
  const { url, authorization, prefix, signal } = asked;
  // The second request uses the connection of the first.
  const options = { keepAlive: true, maxSockets: 1 };
  const agent = url.startsWith('https:') ? new Agent(options) : new PlainAgent(options);
  try {
    return await listServerRefs({
      http: { request: (sent) => send(sent, agent, asked) },
      url,
      prefix,
      peelTags: true,
      headers: authorization === null ? {} : { authorization },
    });
  } catch {
    signal.throwIfAborted();
    return null;
  } finally {
    agent.destroy();
  }
}

async function send(
  { url, method = 'GET', headers = {}, body }: GitHttpRequest,
  agent: Agent | PlainAgent,
  { addresses, signal }: RefsRequest,
): Promise<GitHttpResponse> {
  const sent = Buffer.concat(await Array.fromAsync(body ?? []));
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const start = url.startsWith('https:') ? request : requestPlain;
    const options = { method, headers: { 'user-agent': 'git/stele', ...headers }, agent, signal };
    start(url, { ...options, lookup: lookupAmong(addresses) }, resolve)
      .on('error', reject)
      .end(sent);
  });
  const statusCode = response.statusCode!;
  const type = response.headers['content-type'];
  const expected = `application/x-git-upload-pack-${method === 'GET' ? 'advertisement' : 'result'}`;
  if (statusCode !== 200 || type !== expected) {
    response.destroy();
    throw new TypeError(`The server answered ${statusCode} with ${type}.`);
  }
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > mostBytes) throw new TypeError('The answer is too large.');
    chunks.push(chunk);
  }
  const bytes = Buffer.concat(chunks);
  // gitprotocol-common(5): a flush packet ends the list. Without it the answer was cut off.
  if (bytes.subarray(-4).toString('latin1') !== '0000') throw new TypeError('The answer was cut off.');
  const answered = { url, method, statusCode, statusMessage: response.statusMessage! };
  return { ...answered, headers: { 'content-type': type }, body: iterate(bytes) };
}

async function* iterate(bytes: Uint8Array): AsyncIterableIterator<Uint8Array> {
  yield bytes;
}
