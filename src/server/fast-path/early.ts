import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';

/** Writes the response to a request, or returns false and writes nothing. */
export type AnswerEarly = (request: IncomingMessage, socket: Socket) => boolean;

/** Fields of a connection in Node's server. They are not documented, so each one is checked. */
interface HttpSocket extends Socket {
  parser?: {
    incoming: IncomingMessage | null;
    onIncoming: (request: IncomingMessage, keepAlive: boolean) => number;
  } | null;
  /** The response that is being written. */
  _httpMessage?: unknown;
}

/**
 * Asks `answer` first for each request that Node's parser has read, before Node makes a response
 * object for it: that and its general machinery cost more than writing the bytes. Only where it
 * makes no difference: HTTP/1.1, the connection is kept, and everything before was written. Node's
 * server does the rest: parsing, limits, timeouts, pipelining.
 */
export function answerEarly(server: Server, { answer, keepAlive }: { answer: AnswerEarly; keepAlive: number }): void {
  server.on('connection', (socket: HttpSocket) => {
    const { parser } = socket;
    if (typeof parser?.onIncoming !== 'function') return;
    const usual = parser.onIncoming;
    let isTimed = false;
    parser.onIncoming = (request, isKept) => {
      if (isKept && isAlone(request, socket) && answer(request, socket)) {
        // Nobody reads the request: it has no body.
        parser.incoming = null;
        if (!isTimed) socket.setTimeout(keepAlive);
        isTimed = true;
        return 0;
      }
      // From here on, Node says how long the socket may be idle.
      if (isTimed) socket.setTimeout(0);
      isTimed = false;
      return usual(request, isKept);
    };
  });
}

function isAlone(request: IncomingMessage & { upgrade?: boolean }, socket: HttpSocket): boolean {
  const { httpVersionMajor, httpVersionMinor, upgrade } = request;
  const { _httpMessage: response, writableLength, writable } = socket;
  const isPlain = httpVersionMajor === 1 && httpVersionMinor === 1 && !upgrade;
  return isPlain && (response ?? null) === null && writableLength === 0 && writable;
}
