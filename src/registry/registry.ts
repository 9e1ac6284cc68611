import type { Config } from '../config.ts';
import type { Compiler } from '../compile/compile.ts';
import type { Source } from '../source/source.ts';
import type { Host } from '../hosts/host.ts';
import type { Bucket } from '../store/bucket.ts';
import type { Cache } from '../store/cache.ts';
import type { OwnKey } from '../store/own-key.ts';
import type { Objects } from '../store/objects.ts';
import type { Refs } from '../store/refs.ts';

/** Where things that happened are told. Fields hold no secret and no document. */
export type Log = (level: 'debug' | 'info' | 'warn' | 'error', event: string, fields?: Record<string, unknown>) => void;

/** All that the verbs work on: the ports, the configuration, and what varies (time, randomness). Made by `open.ts`. */
export interface Registry {
  config: Config;
  bucket: Bucket;
  objects: Objects;
  refs: Refs;
  cache: Cache;
  source: Source;
  /** The git hosts that this registry knows how to speak with. */
  hosts: readonly Host[];
  compiler: Compiler;
  /** Seals what the store has to hold where no `secretKey` is configured. Absent for a registry without a folder. */
  ownKey?: OwnKey;
  /** What the clock on the wall says: for what is written down. It may be stepped back and forth. */
  now: () => Date;
  /** Milliseconds that never go back, since some moment: for what ages within this process. */
  monotonic: () => number;
  /** Cryptographically random bytes. */
  randomBytes: (length: number) => Uint8Array;
  log: Log;
}

/** Who asks for a change and from where, as it is recorded with it. */
export interface Author {
  actor: string;
  /** A network address, a sync run, `cli`; null where nothing is known. */
  origin: string | null;
  /** Names a request that may be repeated (`Generation.operation`). */
  operation?: string;
}

/** An identifier that sorts by time and that nobody can guess: 9 characters of time in base 36, 11 random ones. */
export function newId(registry: Pick<Registry, 'now' | 'randomBytes'>): string {
  const time = registry.now().getTime().toString(36).padStart(9, '0');
  const random = Array.from(registry.randomBytes(11), (byte) => (byte % 32).toString(32)).join('');
  return `${time}${random}`;
}
