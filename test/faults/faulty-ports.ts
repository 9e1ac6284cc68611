import { setImmediate } from 'node:timers/promises';
import type { Sandboxes } from '../../src/compile/sandboxes.ts';
import type { Host } from '../../src/hosts/host.ts';
import { RegistryError } from '../../src/model/errors.ts';
import type { Source } from '../../src/source/source.ts';
import type { Bucket } from '../../src/store/bucket.ts';
import type { Cache } from '../../src/store/cache.ts';

/** Ports of a registry. Of all their calls one rejects, by its number. */
export interface FaultyPorts {
  bucket(port: Bucket): Bucket;
  cache(port: Cache): Cache;
  source(port: Source): Source;
  compiler(port: Sandboxes): Sandboxes;
  host(port: Host): Host;
  /** From now on: the call that rejects; null: none does. `isBug`: with what no port promises. */
  failAt(call: number | null, isBug: boolean): void;
  /** Whether the last call that was to reject was made. */
  hasFailed(): boolean;
}

export function createFaultyPorts(): FaultyPorts {
  let left = 0;
  let isBug = false;
  let hasFailed = false;

  function wrap<P extends object>(port: P, names: readonly (keyof P & string)[]): P {
    const faulty = Object.create(port) as Record<string, unknown>;
    for (const name of names) {
      const call = port[name] as ((...args: unknown[]) => unknown) | undefined;
      if (call === undefined) continue;
      faulty[name] = async (...args: unknown[]) => {
        if (left > 0 && --left === 0) {
          hasFailed = true;
          throw isBug ? new Error(`A bug in ${name}.`) : unavailable(name);
        }
        return Reflect.apply(call, port, args);
      };
    }
    return faulty as P;
  }

  return {
    bucket: (port) => wrap(port, ['get', 'getPart', 'putIfAbsent', 'list', 'delete', 'check']),
    cache: (port) => wrap(port, ['get', 'put', 'clear']),
    source: (port) => wrap(port, ['tip', 'tags', 'snapshot', 'history', 'bring', 'bringBlobs', 'merge', 'ancestry']),
    compiler: (port) =>
      wrap(port, [
        'compile',
        'detect',
        'ignored',
        'readSettings',
        'readVersion',
        'outline',
        'excerpt',
        'compare',
        'render',
        'renderPages',
      ]),
    host: (port) =>
      wrap(port, [
        'isGenuine',
        'listRepositories',
        'findRepository',
        'listPulls',
        'reportCheck',
        'comment',
        'gitCredential',
      ]),
    failAt(call, bug) {
      left = call ?? 0;
      isBug = bug;
      hasFailed &&= call === null;
    },
    hasFailed: () => hasFailed,
  };
}

function unavailable(name: string): RegistryError {
  return new RegistryError('unavailable', `${name} does not answer.`);
}

/** Runs the work. Returns the rejections that nobody listened to, which would end a process. */
export async function unheardDuring(work: () => Promise<void>): Promise<unknown[]> {
  const unheard: unknown[] = [];
  const hear = (error: unknown): void => void unheard.push(error);
  // Alone, so that a test fails by what it says and not by the runner's own listener.
  const others = process.listeners('unhandledRejection');
  process.removeAllListeners('unhandledRejection');
  process.on('unhandledRejection', hear);
  try {
    await work();
    await setImmediate();
    return unheard;
  } finally {
    process.removeAllListeners('unhandledRejection');
    for (const other of others) process.on('unhandledRejection', other);
  }
}
