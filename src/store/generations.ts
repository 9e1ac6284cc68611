import { parseJson } from '../model/json.ts';
import type { Digest } from '../model/digest.ts';
import { RegistryError } from '../model/errors.ts';
import type { Bucket } from './bucket.ts';

/** One step in a ref's history: a JSON document that is never changed. */
export interface Generation<T> {
  /** 1 for the first. */
  generation: number;
  /** Digest of the previous generation's bytes; null for the first. */
  previous: Digest | null;
  /** Names this one write, so that a writer whose answer was lost can tell its own write from another's. */
  writeId: string;
  /** ISO 8601, UTC. */
  at: string;
  /** Who did it: a principal, or the part of Stele that did. Holds no secret. */
  actor: string;
  /** Where it came from: a network address, a sync run, `cli`; null where nothing is known. */
  origin: string | null;
  /** What was done, in one word or two: `publish 1.4.0`. */
  action: string;
  /** Names the request that asked for it, where that may be repeated; a repetition knows its own write by it. */
  operation?: string;
  value: T;
}

const highest = 10 ** 15 - 1;

/** The bucket key of a generation: newest sorts first, so that a list of one key finds it. */
export function generationKey(name: string, generation: number): string {
  return `refs/${name}/${String(highest - generation).padStart(15, '0')}`;
}

/** The name and generation that a bucket key stands for; null for the key of a file that somebody else left among them. */
export function parseGenerationKey(key: string): { name: string; generation: number } | null {
  const [, name, number] = /^refs\/(.+\/.+)\/(\d{15})$/.exec(key) ?? [];
  return name === undefined || Number(number) >= highest ? null : { name, generation: highest - Number(number) };
}

/** The keys of generations with the prefix (and after a key), in order, page by page; what else lies among them is passed over. */
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
    // `~` follows every generation of the last name.
    after = last === null ? keys.at(-1)! : `refs/${last.name}/~`;
  }
}

/**
 * The number of the newest generation of each name with the prefix, in order of the names: one listing, nothing is read. For what keeps many refs in
 * mind and wants to know which of them changed.
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

/** The generation that is stored under the key. Throws `corrupt` for anything else. */
export function decodeGeneration<T>(key: string, bytes: Uint8Array): Generation<T> {
  const decoded = parseJson(bytes) as Partial<Generation<T>> | null | undefined;
  if (decoded?.generation !== parseGenerationKey(key)!.generation || typeof decoded.writeId !== 'string') {
    throw corrupt(`${key} does not hold its generation.`);
  }
  return decoded as Generation<T>;
}

/** What is stored under a name is damaged. The names in the store are for the log alone. */
export function corrupt(detail: string): RegistryError {
  const message = 'A record in the store is damaged. Whoever runs this registry should run `stele fsck`.';
  return new RegistryError('corrupt', message, { cause: new Error(detail) });
}
