import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Connections above the limit that still get a response instead of being closed. */
const spare = 64;

/** The open connections of a server. */
export interface Connections {
  /** Whether this socket is above the limit, so that its request is answered with 503. */
  isExtra(socket: Socket): boolean;
  /** Notes a request that was answered without the server's event. */
  noteAnswered(socket: Socket): void;
}

/**
 * Limits a server to `most` open sockets. At the limit, a new socket replaces the one that has
 * waited longest without a complete request: one idle between two requests is closed, and one
 * before or within its first request gets `turnAway`. If every socket has a request in progress,
 * some more are accepted and answered with 503.
 */
export function capConnections(server: Server, max: number, turnAway: (socket: Socket) => void): Connections {
  // A set keeps the order in which sockets began to wait.
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
  server.maxConnections = max + spare;
  server.on('connection', (socket) => {
    const [longest] = waiting;
    if (open.size >= max && longest !== undefined) {
      leave(longest);
      if (requests.has(longest)) longest.destroy();
      else turnAway(longest);
    }
    open.add(socket);
    if (open.size > max) extra.add(socket);
    waiting.add(socket);
    socket.once('close', () => leave(socket));
  });
  const watch = ({ socket }: { socket: Socket }, response: ServerResponse) => {
    count(socket, 1);
    response.once('close', () => count(socket, -1));
  };
  server.prependListener('request', watch);
  server.prependListener('checkContinue', watch);
  return {
    isExtra: (socket) => extra.has(socket) && open.size > max,
    noteAnswered(socket) {
      if (!requests.has(socket)) requests.set(socket, 0);
      waiting.delete(socket);
      waiting.add(socket);
    },
  };
}

/** Sockets that may be open, unless the system allows fewer. */
export const maxConnections = 4096;

/**
 * How many sockets may be open: at most half of the file descriptors that the system allows this
 * process. The rest is for files, pipes and git.
 */
export function affordableConnections(): number {
  const { userLimits } = process.report.getReport() as { userLimits?: { open_files?: { soft: number | 'unlimited' } } };
  const descriptors = Number(userLimits?.open_files?.soft);
  const half = Number.isNaN(descriptors) ? maxConnections : Math.floor(descriptors / 2);
  return Math.max(1, Math.min(maxConnections, half));
}
