import { Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { afterAll, afterEach, beforeEach, vi } from 'vitest';
import { freeMemory } from './free-memory.ts';

// The registries that tests open in their own process share the worker's sandboxes.
vi.mock(import('../src/compile/sandbox/local-compiler.ts'), async () => {
  const { shareCompiler } = await import('./compile/shared-compiler.ts');
  return { openLocalCompiler: (mode) => shareCompiler(mode) };
});

// Half of what a short command costs is compiling its modules: the processes that tests start keep that for each other.
// Not the workers: each would write all that it compiled when it ends, which takes seconds.
process.env['NODE_COMPILE_CACHE'] ??= fileURLToPath(new URL('../node_modules/.cache/node-compile', import.meta.url));

// The same cases in every run. `scripts/properties.ts` draws others.
const seed = Number(process.env['STELE_TEST_SEED'] ?? 20_261_122);
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed });

// A worker runs this before each of its files, and does this after each: the next one finds the process as this one did.
const folder = process.cwd();
const mask = process.umask();
const signals = ['SIGHUP', 'SIGINT', 'SIGTERM', 'uncaughtException', 'unhandledRejection'] as const;

afterAll(() => {
  freeMemory();
  vi.useRealTimers();
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
  if (process.cwd() !== folder) throw new Error(`This file leaves ${process.cwd()} as the working folder.`);
  if (process.umask() !== mask) throw new Error('This file leaves another umask.');
  if (listenersOf() !== listening) throw new Error(`This file leaves listeners: ${listenersOf()}, not ${listening}.`);
});

// A test that hangs says what it waited for. `uptime` is no clock that a test replaces.
let begun = 0;
beforeEach(() => {
  begun = process.uptime();
});
afterEach(({ task }) => {
  if (process.uptime() - begun > 500)
    console.warn(`${task.name} waited for ${process.getActiveResourcesInfo().join()}.`);
});

/** How many listeners the process has for what ends it. */
function listenersOf(): string {
  return signals.map((name) => `${name} ${process.listenerCount(name)}`).join(', ');
}

/**
 * Tests reach no other machine: a connection to anything but this one is refused in every test's own process.
 * Paths (Unix sockets) are this machine too.
 */
const local = new Set(['localhost', '127.0.0.1', '::1', '0.0.0.0', '::']);
const connect = Socket.prototype.connect;

function refuseOthers(this: Socket, ...args: unknown[]): Socket {
  const host = hostOf(args);
  // Names below `localhost` are this machine too (RFC 6761).
  if (host !== null && !local.has(host) && !host.endsWith('.localhost')) {
    this.destroy(new Error(`Tests reach no other machine, and ${host} is one.`));
    return this;
  }
  return Reflect.apply(connect, this, args);
}

// Once in a worker. What a stopped worker has open, such as its browser, is cleared away when it exits.
if (connect.name !== refuseOthers.name) {
  Socket.prototype.connect = refuseOthers;
  process.on('SIGTERM', () => process.exit());
  let last = process.uptime();
  setInterval(() => {
    const pause = process.uptime() - last - 1;
    last += pause + 1;
    if (pause > 60) process.stderr.write(`This process stood still for ${pause.toFixed()} s: is the machine paused?\n`);
  }, 1000).unref();
}
const listening = listenersOf();

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
