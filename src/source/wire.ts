import { Agent as PlainAgent, request as requestPlain, type IncomingMessage } from 'node:http';
import { Agent, request as requestSafely } from 'node:https';
import { lookupAmong } from './location.ts';
import { readAtMost } from '../scheduling/waiting.ts';
import { readRetryAfter } from '../scheduling/retry-after.ts';
import { LRUCache } from 'lru-cache';
import { listServerRefs, type GitHttpRequest, type GitHttpResponse, type ServerRef } from 'isomorphic-git';

/** A repository on a git server, and as whom it is asked. */
interface GitServer {
  /** An http or https URL. */
  url: string;
  /** Checked addresses of its host. No other is connected to. */
  addresses: readonly string[];
  /** The value of the `Authorization` header, or null. */
  authorization: string | null;
  /** The URL of the proxy, which resolves the host itself; null: none. */
  proxy: string | null;
  /** Called when it limits requests, with the seconds for which it says so. */
  onLimit: (seconds: number | null) => void;
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
function createAgent({ url, proxy }: Pick<GitServer, 'url' | 'proxy'>): PlainAgent {
  const proxyEnv = proxy === null ? {} : { http_proxy: proxy, https_proxy: proxy };
  const options = { keepAlive: true, maxSockets: 1, proxyEnv };
  return url.startsWith('https:') ? new Agent(options) : new PlainAgent(options);
}

/**
 * Sends one request to a git server. Follows no redirect. Fails unless the server answers 200 with
 * the type that git servers answer with.
 */
async function sendToServer(
  { url, method, headers, body }: GitHttpMessage,
  agent: PlainAgent,
  { addresses, proxy, onLimit, signal }: GitServer,
): Promise<IncomingMessage> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const start = url.startsWith('https:') ? requestSafely : requestPlain;
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
  const { date = '', 'retry-after': after } = answered;
  if (statusCode === 429) onLimit(readRetryAfter(new Headers({ date, ...(after && { 'retry-after': after }) })));
  throw new TypeError(`The server answered ${statusCode} with ${answered['content-type']}.`);
}

/** What servers said that they can do, by URL. Only of those that speak protocol version 2. */
export type Advertised = LRUCache<string, Buffer>;

/** Bytes of an answer. Parsing more would stop other requests, and git does it in a process of its own. */
const maxAnswer = 256 * 1024;
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
  agent: PlainAgent,
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
    const whole = await readAtMost(response, maxAnswer, () => new TypeError('The answer is too large.'));
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

/** Objects to fetch. */
export interface PackRequest {
  /** Ids of commits, or of single blobs. */
  wants: readonly string[];
  /** Commits that are here with all their trees. The server may also leave out what is in their history. */
  haves: readonly string[];
  /** Commits up to each of the `wants`. Absent for single blobs, and for all up to the `haves`. */
  depth?: number;
  /** Which objects to leave out, as in git-rev-list(1). */
  filter: string;
  maxBytes: number;
}

/**
 * Asks a git server for a pack, over http with protocol version 2 (gitprotocol-v2(5)), without a
 * process, and at once. Unlike `git fetch`, it does not allow the server to send a file as the
 * difference from one that is not in the pack, so `haves` may lack blobs. What it returns fails,
 * also in the middle of the pack, when the answer is anything else than a whole pack. The signal
 * ends the connection.
 */
export function receivePack(server: GitServer, request: PackRequest): AsyncIterable<Buffer> {
  const { url, authorization, signal } = server;
  const headers = {
    'content-type': 'application/x-git-upload-pack-request',
    accept: 'application/x-git-upload-pack-result',
    'git-protocol': 'version=2',
    ...(authorization !== null && { authorization }),
  };
  const message = { url: `${url}/git-upload-pack`, method: 'POST', headers, body: encodeRequest(request) };
  const agent = createAgent(server);
  signal.addEventListener('abort', () => agent.destroy(), { once: true });
  const answer = sendToServer(message, agent, server);
  answer.catch(() => undefined);
  return packIn(answer, request.maxBytes);
}

/** Whether a server said that it can be asked with `receivePack`: that it cuts histories, filters, and uses SHA-1. */
export function canReceive(advertisement: Buffer | undefined): boolean {
  const text = advertisement?.toString('latin1') ?? '';
  const features = /^.{4}fetch=(.*)$/m.exec(text)?.[1]?.split(' ') ?? [];
  const format = /^.{4}object-format=(.*)$/m.exec(text)?.[1] ?? 'sha1';
  return features.includes('shallow') && features.includes('filter') && format === 'sha1';
}

function encodeRequest({ wants, haves, depth, filter }: PackRequest): Buffer {
  const lines = [
    'no-progress',
    'ofs-delta',
    ...wants.map((id) => `want ${id}`),
    ...haves.map((id) => `have ${id}`),
    ...(depth === undefined ? [] : [`deepen ${depth}`]),
    `filter ${filter}`,
    'done',
  ];
  const head = [packetOf('command=fetch'), packetOf('agent=git/stele'), marks.delimiter];
  return Buffer.from([...head, ...lines.map((line) => packetOf(`${line}\n`)), marks.flush].join(''));
}

/** The pack in an answer: after the section `packfile`, in the first of three bands. */
async function* packIn(answer: Promise<AsyncIterable<Buffer>>, maxBytes: number): AsyncGenerator<Buffer> {
  let isPack = false;
  let isOver = false;
  let bytes = 0;
  for await (const packet of readPackets(await answer)) {
    if (isOver) throw new TypeError('The server sent more after the pack.');
    if (!isPack) {
      if (packet === 'flush' || packet === 'end') throw new TypeError('The server sent no pack.');
      const text = packet === 'delimiter' ? '' : packet.toString('latin1');
      if (text.startsWith('ERR ')) throw new TypeError('The server refused.');
      isPack = /^packfile\n?$/.test(text);
      continue;
    }
    if (packet === 'flush') {
      isOver = true;
      continue;
    }
    if (typeof packet === 'string' || packet[0] === 3) throw new TypeError('The server gave up.');
    if (packet[0] !== 1) continue;
    bytes += packet.length - 1;
    if (bytes > maxBytes) throw new TypeError('The pack is too large.');
    yield packet.subarray(1);
  }
  if (!isOver) throw new TypeError('The pack was cut off.');
}

/** A line of git's protocol, or one of its marks. */
type Packet = Buffer | 'flush' | 'delimiter' | 'end';

function packetOf(text: string): string {
  return `${(Buffer.byteLength(text) + 4).toString(16).padStart(4, '0')}${text}`;
}

/** Ends a message, and divides one. */
const marks = { flush: '0000', delimiter: '0001' } as const;

const markOf = ['flush', 'delimiter', 'end'] as const;

/** The lines of a stream (gitprotocol-common(5)). Fails for anything else, and for a line that is cut off. */
async function* readPackets(chunks: AsyncIterable<Buffer>): AsyncGenerator<Packet> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of chunks) {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let position = 0;
    while (rest.length - position >= 4) {
      const digits = rest.toString('latin1', position, position + 4);
      if (!/^[0-9a-fA-F]{4}$/.test(digits)) throw new TypeError('This is not a line of git’s protocol.');
      const length = Number.parseInt(digits, 16);
      const mark = markOf[length];
      if (mark === undefined && length < 4) throw new TypeError('A line of git’s protocol has no such length.');
      if (rest.length - position < Math.max(length, 4)) break;
      yield mark ?? rest.subarray(position + 4, position + length);
      position += Math.max(length, 4);
    }
    rest = rest.subarray(position);
  }
  if (rest.length > 0) throw new TypeError('A line of git’s protocol is cut off.');
}
