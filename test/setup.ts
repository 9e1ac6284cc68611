import { Socket } from 'node:net';

/**
 * Tests reach no other machine: a connection to anything but this one is refused in every test's own process.
 * Paths (Unix sockets) are this machine too.
 */
const local = new Set(['localhost', '127.0.0.1', '::1', '0.0.0.0', '::']);
const connect = Socket.prototype.connect;

Socket.prototype.connect = function refuseOthers(this: Socket, ...args: unknown[]): Socket {
  const host = hostOf(args);
  if (host !== null && !local.has(host)) {
    this.destroy(new Error(`Tests reach no other machine, and ${host} is one.`));
    return this;
  }
  return Reflect.apply(connect, this, args);
};

/** The host that these arguments of `Socket.connect` name; null for a path. */
function hostOf(args: unknown[]): string | null {
  const [first, second] = Array.isArray(args[0]) ? (args[0] as unknown[]) : args;
  if (typeof first === 'object' && first !== null) {
    const { host, path } = first as { host?: string; path?: string };
    return path === undefined || path === null ? (host ?? 'localhost') : null;
  }
  if (typeof first === 'string' && Number.isNaN(Number(first))) return null;
  return typeof second === 'string' ? second : 'localhost';
}
