import { RegistryError } from '../model/errors.ts';
import { encodeJson, parseJson } from '../model/json.ts';
import type { Bucket } from './bucket.ts';

/** The layout of a bucket that this version of Stele reads and writes (design §5). */
const current = 2;
const key = 'format';

/**
 * Makes sure that the bucket has the layout of this version; an empty bucket gets it. Rejects with
 * `unavailable` for any other, because writing to it would mix two layouts.
 */
export async function assertFormat(bucket: Bucket): Promise<void> {
  const bytes = await bucket.get(key);
  if (bytes === null) {
    const [old] = await bucket.list('refs/', { limit: 1 });
    if (old !== undefined) throw unknownFormat('1, that of Stele before its first release');
    await bucket.putIfAbsent(key, encodeJson({ format: current }));
    return;
  }
  const format = (parseJson(bytes) as { format?: unknown } | null | undefined)?.format;
  if (format !== current) throw unknownFormat(JSON.stringify(format) ?? 'that cannot be read');
}

function unknownFormat(format: string): RegistryError {
  const message = `The store has format ${format}; this version of Stele reads format ${current}. Use the version of Stele that wrote it, or point Stele to an empty folder and sync again: the same commits give the same digests.`;
  return new RegistryError('unavailable', message);
}
