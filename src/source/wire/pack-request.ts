import { createAgent, sendToServer, type GitServer } from './git-http.ts';

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
  /** The most bytes to receive. */
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
  const lines =
    advertisement
      ?.toString('latin1')
      .split('\n')
      .map((line) => line.slice(4)) ?? [];
  const features =
    lines
      .find((line) => line.startsWith('fetch='))
      ?.slice('fetch='.length)
      .split(' ') ?? [];
  const format = lines.find((line) => line.startsWith('object-format=')) ?? 'object-format=sha1';
  return features.includes('shallow') && features.includes('filter') && format === 'object-format=sha1';
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

/** A text as a line. */
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
