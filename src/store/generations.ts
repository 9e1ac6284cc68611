import { parseJson } from '../model/json.ts';
import type { Digest } from '../model/digest.ts';
import { RegistryError } from '../model/errors.ts';
import type { Bucket } from './bucket.ts';

/** One entry in a ref's history: a JSON document that never changes. */
export interface Generation<T> {
  /** 1 for the first. */
  generation: number;
  /** Digest of the previous generation's bytes; null for the first. */
  previous: Digest | null;
  /** Id of this write, so that a writer that got no reply can recognize its own write. */
  writeId: string;
  /** ISO 8601, UTC. */
  at: string;
  /** Who made the change: a principal or a part of Stele. Holds no secret. */
  actor: string;
  /** Where it came from: a network address, a sync run, `cli`; null if unknown. */
  origin: string | null;
  /** What was done, such as `publish 1.4.0`. */
  action: string;
  /** Id of the repeatable request that caused it, so that a retry recognizes its own write. */
  operation?: string;
  value: T;
}

const highest = 10 ** 15 - 1;

/**
 * Returns the bucket key of a generation. The newest sorts first, so that listing one key finds it.
 */
export function generationKey(name: string, generation: number): string {
  return `refs/${name}/${String(highest - generation).padStart(15, '0')}`;
}

/** Parses the key of a generation; null for any other key. */
export function parseGenerationKey(key: string): { name: string; generation: number } | null {
  const [, name, number] = /^refs\/(.+\/.+)\/(\d{15})$/.exec(key) ?? [];
  return name === undefined || Number(number) >= highest ? null : { name, generation: highest - Number(number) };
}

/**
 * Yields the generations with the prefix (after a key) in order, page by page. Skips foreign files.
 */
export async function* listGenerations(
  bucket: Pick<Bucket, 'list'>,
  prefix: string,
  start?: string,
): AsyncGenerator<{ name: string; generation: number }[]> {
  let after = start;
  for (;;) {
    const keys = await bucket.list(prefix, after === undefined ? {} : { after });
    if (keys.length === 0) return;
    yield keys.flatMap((key) => parseGenerationKey(key) ?? []);
    const last = parseGenerationKey(keys.at(-1)!);
    // `~` sorts after every generation of the last name.
    after = last === null ? keys.at(-1)! : `refs/${last.name}/~`;
  }
}

/**
 * Yields the newest generation's number for each name with the prefix, in order. It only lists and
 * reads nothing: for callers that keep many refs in memory and need to know which have changed.
 */
export async function* newestGenerations(
  bucket: Pick<Bucket, 'list'>,
  prefix: string,
): AsyncGenerator<{ name: string; generation: number }> {
  let last: string | null = null;
  for await (const page of listGenerations(bucket, `refs/${prefix}`)) {
    for (const found of page) {
      if (found.name !== last) yield found;
      last = found.name;
    }
  }
}

/** Decodes the generation stored under a key. Throws `corrupt` for anything else. */
export function decodeGeneration<T>(key: string, bytes: Uint8Array): Generation<T> {
  const decoded = parseJson(bytes) as Partial<Generation<T>> | null | undefined;
  if (decoded?.generation !== parseGenerationKey(key)!.generation || typeof decoded.writeId !== 'string') {
    throw corrupt(`${key} does not hold its generation.`);
  }
  return decoded as Generation<T>;
}

/**
 * Returns the error for damaged stored data. `detail` goes only to the log: it names keys of the
 * store.
 */
export function corrupt(detail: string): RegistryError {
  const message = 'A record in the store is damaged. The operator should run `stele fsck`.';
  return new RegistryError('corrupt', message, { cause: new Error(detail) });
}
