import type { IncomingMessage, ServerResponse } from 'node:http';
import { digestOf, hexOf } from '../model/digest.ts';
import type { Config } from '../config.ts';
import type { Sandboxes } from '../compile/sandboxes.ts';
import type { Source } from '../source/source.ts';
import type { Host } from '../hosts/host.ts';
import type { Bucket } from '../store/bucket.ts';
import type { Cache } from '../store/cache.ts';
import type { OwnKey } from '../store/own-key.ts';
import type { Objects } from '../store/objects.ts';
import type { Refs } from '../store/refs.ts';
import type { AnswerCache, MemoryUse } from './answer-cache.ts';

/** Writes one log line. Fields must not contain secrets or documents. */
export type Log = (level: 'debug' | 'info' | 'warn' | 'error', event: string, fields?: Record<string, unknown>) => void;

/** Notes how long work takes, as spans of distributed traces. Attributes name nothing that is private. */
export interface Tracer {
  span<T>(name: string, attributes: Record<string, string | number | boolean>, work: () => Promise<T>): Promise<T>;
  /** As `span`, for a request, whose headers may continue a trace. `routeOf`: its pattern, once it is answered. */
  request(
    request: IncomingMessage,
    response: ServerResponse,
    routeOf: () => string,
    work: () => Promise<void>,
  ): Promise<void>;
}

/** Does the work, in a span if there is a tracer. */
export async function inSpan<T>(
  { tracer }: Pick<Registry, 'tracer'>,
  name: string,
  attributes: Record<string, string | number | boolean>,
  work: () => Promise<T>,
): Promise<T> {
  return tracer === undefined ? work() : tracer.span(name, attributes, work);
}

/** What the functions of this folder work on: ports, configuration, time and randomness. Made by `open.ts`. */
export interface Registry {
  config: Config;
  bucket: Bucket;
  objects: Objects;
  refs: Refs;
  cache: Cache;
  source: Source;
  hosts: readonly Host[];
  compiler: Sandboxes;
  /** Encrypts stored secrets if `secretKey` is not configured. */
  ownKey: OwnKey;
  /** What the key of the public log is made of if `publicLog.key` is not configured. Absent without a data folder. */
  logKey?: OwnKey;
  /** Wall clock, for recorded times. It may go back. */
  now: () => Date;
  /** Milliseconds since an arbitrary moment, never going back. For durations within this process. */
  monotonic: () => number;
  /**
   * The wall clock for what expires: keys, sessions, links. It never goes back, also over a restart, so
   * that what has expired stays so (`createExpiryClock`).
   */
  expiryTime: () => Date;
  /** Cryptographically random bytes. */
  randomBytes: (length: number) => Uint8Array;
  log: Log;
  /** Absent: the environment asks for no traces. */
  tracer?: Tracer;
  /** What is kept in memory, by name. Absent where nobody asks. */
  caches?: () => Record<string, MemoryUse>;
  /** Answers in memory. A view with other records has its own. */
  answers: AnswerCache;
}

/** Who makes a change and from where, as recorded with it. */
export interface Author {
  actor: string;
  /** A network address, a sync run or `cli`; null if unknown. */
  origin: string | null;
  /** Identifies a request that may be repeated (`Generation.operation`). */
  operation?: string;
}

/** A unique, unguessable id that sorts by time: 9 characters of time in base 36, 11 random ones. */
export function newId(registry: Pick<Registry, 'now' | 'randomBytes'>): string {
  const time = registry.now().getTime().toString(36).padStart(9, '0');
  const random = Array.from(registry.randomBytes(11), (byte) => (byte % 32).toString(32)).join('');
  return `${time}${random}`;
}

/** An id of 20 characters that all attempts of an operation have; null: its author does not repeat it. */
export function attemptId({ operation }: Author): string | null {
  return operation === undefined ? null : hexOf(digestOf(operation)).slice(0, 20);
}
