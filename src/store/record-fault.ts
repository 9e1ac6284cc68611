import { parseJson } from '../model/json.ts';
import { headIn, parseHeadKey } from './log/heads.ts';
import { isPreview, previewDigest } from './previews.ts';
import { isGenerationOf, parseWorkKey } from './work.ts';

/**
 * What is wrong with the bytes of a record that expires, of a preview or of a part of one; null: nothing that can be known.
 * Previews have a digest: of the others it is known whether they are JSON, and a record tells its own number, that of a head
 * also its log.
 */
export function faultOfRecord(key: string, bytes: Uint8Array): string | null {
  if (!isPreview(key, bytes)) return 'The bytes do not match their digest.';
  if (previewDigest(key) !== null) return null;
  const isWork = key.startsWith('work/');
  if (isWork && parseWorkKey(key) === null) return 'Stele did not write this file and ignores it. Move it away.';
  const record = parseJson(bytes);
  if (record === undefined) return 'The record is not JSON.';
  if (parseHeadKey(key) !== null && headIn(key, record) === null) return 'It is the record of another log or entry.';
  return isWork && !isGenerationOf(key, record) ? 'It is another record.' : null;
}
