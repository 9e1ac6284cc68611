import fs from 'node:fs';
import { builtinModules, registerHooks, syncBuiltinESMExports } from 'node:module';
import { Writable } from 'node:stream';
import type { ChildMessage } from './sandbox-messages.ts';

/** Names, separated by spaces. */
function words(...lines: string[]): string[] {
  return lines.flatMap((line) => line.split(' '));
}

/**
 * The builtin modules that the compiler still calls once it is loaded. Every other one is emptied,
 * or refused if it was never loaded.
 */
const neededModules: ReadonlySet<string> = new Set(
  words(
    'async_hooks buffer crypto diagnostics_channel events path perf_hooks process querystring',
    'stream stream/promises string_decoder timers url util util/types zlib',
  ),
);

/**
 * What stays of the process object: what Node's own code looks up on it, and what tells without
 * doing.
 */
const neededMembers: ReadonlySet<string> = new Set(
  words(
    'version versions arch platform release features',
    '_events _eventsCount _maxListeners domain shapeMode kCapture Symbol.toStringTag',
    'exit reallyExit exitCode _exiting _fatalException emitWarning _rawDebug',
    'nextTick _tickCallback hrtime uptime cwd',
    'memoryUsage resourceUsage cpuUsage threadCpuUsage',
    // Node's end of the channel to the parent. What sends on it is not among them.
    'channel connected _handleQueue _pendingMessage',
  ),
);

/** Globals of Node that reach the network, keep something, or run code of another kind. */
const closedGlobals = words(
  'fetch Request Response Headers FormData WebSocket CloseEvent EventSource',
  'BroadcastChannel MessageChannel MessagePort Storage localStorage sessionStorage',
  'Navigator navigator WebAssembly SharedArrayBuffer Atomics',
);

/**
 * Takes away what the process can do beyond what the compiler needs, and answers the one way to the
 * parent. Call it once, when the whole program is loaded. It is a fence against accidents: it
 * leaves nothing to call for a document that made a parser run its text. Whoever writes into the
 * memory of the process gets past it; the walls against that are Node's permission model and bwrap
 * (`isolation.ts`).
 */
export function closeProcess(): (message: ChildMessage) => void {
  const send = takeSender();
  registerHooks({ resolve: refuse });
  closeModules();
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  for (const key of Reflect.ownKeys(process)) if (!neededMembers.has(nameOf(key))) Reflect.deleteProperty(process, key);
  // Packages write warnings; Node calls `disconnect` when the parent is gone.
  Object.assign(process, { env: {}, stdout: silent, stderr: silent, disconnect: () => process.exit(0) });
  for (const name of closedGlobals) Reflect.deleteProperty(globalThis, name);
  return send;
}

/**
 * `process.send` without the process: it looks for its parts there at each call, also when they are
 * gone.
 */
function takeSender(): (message: ChildMessage) => void {
  const { _send } = process as unknown as { _send(this: typeof process, message: ChildMessage): boolean };
  return (message) => void _send.call(process, message);
}

/**
 * Empties the modules that are loaded, so that who holds one holds nothing. Two functions stay:
 * Redocly asks whether there is a plugin, and the validator reads its schemas when it first needs
 * them. What they may read is up to Node's permission model.
 */
function closeModules(): void {
  const { existsSync, readFileSync } = fs;
  const loaded = new Set((process as unknown as { moduleLoadList: string[] }).moduleLoadList);
  for (const name of builtinModules) {
    if (neededModules.has(name) || !loaded.has(`NativeModule ${name}`)) continue;
    const exports = process.getBuiltinModule(name) as unknown as { prototype?: object };
    if (exports.prototype) empty(exports.prototype);
    empty(exports);
  }
  Object.assign(fs, { existsSync, readFileSync });
  syncBuiltinESMExports();
}

function empty(exports: object): void {
  for (const key of Reflect.ownKeys(exports)) Reflect.deleteProperty(exports, key);
}

function nameOf(key: string | symbol): string {
  return typeof key === 'string' ? key : (key.description ?? '');
}

function refuse(specifier: string): never {
  throw new Error(`The sandbox loads nothing more: ${JSON.stringify(specifier)}.`);
}
