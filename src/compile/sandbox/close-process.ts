import fs from 'node:fs';
import { Writable } from 'node:stream';
import { receiveWhole, type Piece, type Slim } from './pieces.ts';
import type { ChildMessage, ParentMessage } from './sandbox-messages.ts';

function words(...lines: string[]): string[] {
  return lines.flatMap((line) => line.split(' '));
}

/**
 * The builtin modules that the compiler calls after loading. All others are emptied, or blocked if
 * they are not loaded yet.
 */
const neededModules: ReadonlySet<string> = new Set(
  words(
    'async_hooks buffer crypto diagnostics_channel events path perf_hooks process querystring',
    'stream stream/promises string_decoder timers url util util/types zlib',
  ),
);

/**
 * Members of `process` that remain: those that Node's own code uses, and those that only return
 * information.
 */
const neededMembers: ReadonlySet<string> = new Set(
  words(
    'version versions arch platform release features',
    '_events _eventsCount _maxListeners domain shapeMode kCapture Symbol.toStringTag',
    'exit reallyExit exitCode _exiting _fatalException emitWarning _rawDebug',
    'nextTick _tickCallback hrtime uptime cwd',
    // Says which rule is at work.
    'title',
    'memoryUsage resourceUsage cpuUsage threadCpuUsage',
    // Node's end of the channel to the parent, without the functions that send.
    'channel connected _handleQueue _pendingMessage',
  ),
);

/** Globals of Node that access the network, store something or run code. */
const closedGlobals = words(
  'fetch Request Response Headers FormData WebSocket CloseEvent EventSource',
  'BroadcastChannel MessageChannel MessagePort Storage localStorage sessionStorage',
  'Navigator navigator WebAssembly SharedArrayBuffer Atomics',
);

/** Sends a message, or a part of one, to the parent. */
type Send = (part: Piece | Slim<ChildMessage>) => void;

/**
 * Removes what the process can do beyond what the compiler needs, and returns the only way to send
 * to the parent. Call it once, after the whole program is loaded. It guards against accidents: a
 * document that makes a parser run its text finds nothing to call. It does not stop code that
 * writes to the memory of the process; Node's permission model and bwrap do (`isolation.ts`).
 */
export function closeProcess({ keepsWebAssembly = false } = {}): Send {
  const send = takeSender();
  closeModules();
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  for (const key of Reflect.ownKeys(process))
    if (!neededMembers.has(typeof key === 'string' ? key : (key.description ?? '')))
      Reflect.deleteProperty(process, key);
  // Packages write warnings. Node calls `disconnect` when the parent is gone.
  Object.assign(process, { env: {}, stdout: silent, stderr: silent, disconnect: () => process.exit(0) });
  for (const name of closedGlobals)
    if (name !== 'WebAssembly' || !keepsWebAssembly) Reflect.deleteProperty(globalThis, name);
  return send;
}

/**
 * Receives the messages of the parent, and sends it `ready`. A shutdown signals every process of a service:
 * only the parent decides when this one ends, so that no document is rejected because of it.
 */
export function listen(send: Send, receive: (message: ParentMessage) => void): void {
  for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined);
  process.on('message', receiveWhole(receive));
  send({ type: 'ready' });
}

/** The most memory that this process had, in bytes: from the kernel, because a sandbox without /proc has no other source. */
export function usedMemory(): number {
  return process.resourceUsage().maxRSS * 1024;
}

/**
 * `process.send` without the rest of the process. At each call it looks up its parts on the
 * process, also after they were removed there.
 */
function takeSender(): Send {
  const { _send } = process as unknown as { _send(this: typeof process, part: Parameters<Send>[0]): boolean };
  return (part) => void _send.call(process, part);
}

/**
 * Empties the loaded modules, so that references to them are useless. Two functions remain: Redocly
 * checks whether a plugin exists, and the validator reads its schemas when it first needs them.
 * Node's permission model limits what they may read.
 */
function closeModules(): void {
  // Not imported: a startup snapshot cannot hold this module.
  const { builtinModules, registerHooks, syncBuiltinESMExports } = process.getBuiltinModule('node:module');
  registerHooks({ resolve: refuse });
  const { existsSync, readFileSync } = fs;
  const loaded = new Set((process as unknown as { moduleLoadList: string[] }).moduleLoadList);
  for (const name of builtinModules) {
    if (neededModules.has(name) || !loaded.has(`NativeModule ${name}`)) continue;
    const exports = process.getBuiltinModule(name) as unknown as { prototype?: object };
    if (exports.prototype) empty(exports.prototype);
    empty(exports);
  }
  Object.assign(fs, { existsSync, readFileSync });
  // A bundle's own, which no hook sees (`scripts/bundle.ts`).
  (globalThis as { closeRequire?: () => void }).closeRequire?.();
  syncBuiltinESMExports();
}

function empty(exports: object): void {
  for (const key of Reflect.ownKeys(exports)) Reflect.deleteProperty(exports, key);
}

function refuse(specifier: string): never {
  throw new Error(`The sandbox loads nothing more: ${JSON.stringify(specifier)}.`);
}
