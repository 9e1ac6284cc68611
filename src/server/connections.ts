import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Sockets beyond the cap that are still told to come back, rather than closed. */
const spare = 64;

/** The open connections of a server. */
export interface Connections {
  /** Whether this socket is one more than may be open, so that its request is to be refused. */
  isExtra(socket: Socket): boolean;
}

/**
 * Keeps a server's open sockets at `most`. At the cap a new socket takes the place of the one that
 * has waited longest without a request: idle between two, which is closed, or before its first one
 * or with half of it sent, which is turned away. Where every socket has a request under way, some
 * more are let in for an answer that says so.
 */
export function capConnections(server: Server, most: number, turnAway: (socket: Socket) => void): Connections {
  // A set remembers the order in which sockets began to wait.
  const waiting = new Set<Socket>();
  const open = new Set<Socket>();
  const extra = new WeakSet<Socket>();
  const requests = new WeakMap<Socket, number>();
  const count = (socket: Socket, by: 1 | -1) => {
    const left = (requests.get(socket) ?? 0) + by;
    requests.set(socket, left);
    if (left > 0) waiting.delete(socket);
    else if (open.has(socket)) waiting.add(socket);
  };
  const leave = (socket: Socket) => {
    open.delete(socket);
    waiting.delete(socket);
  };
  server.maxConnections = most + spare;
  server.on('connection', (socket) => {
    const [longest] = waiting;
    if (open.size >= most && longest !== undefined) {
      leave(longest);
      if (requests.has(longest)) longest.destroy();
      else turnAway(longest);
    }
    open.add(socket);
    if (open.size > most) extra.add(socket);
    waiting.add(socket);
    socket.once('close', () => leave(socket));
  });
  const watch = ({ socket }: { socket: Socket }, response: ServerResponse) => {
    count(socket, 1);
    response.once('close', () => count(socket, -1));
  };
  server.prependListener('request', watch);
  server.prependListener('checkContinue', watch);
  return { isExtra: (socket) => extra.has(socket) && open.size > most };
}

/**
 * How many sockets may be open: as many as are wanted, but at most half of the descriptors that the
 * system lets this process have. The rest is for files, pipes and git.
 */
export function affordableConnections(wanted: number): number {
  const { userLimits } = process.report.getReport() as { userLimits?: { open_files?: { soft: number | 'unlimited' } } };
  const descriptors = Number(userLimits?.open_files?.soft);
  return Number.isNaN(descriptors) ? wanted : Math.max(1, Math.min(wanted, Math.floor(descriptors / 2)));
}
