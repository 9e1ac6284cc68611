import { RegistryError } from '../../../model/errors.ts';
import type { Principal } from '../../../model/access.ts';
import { createUpload } from '../../../source/upload.ts';
import type { Snapshot } from '../../../source/snapshot.ts';
import type { Call } from '../call.ts';

/**
 * The document in a request's body, under its `path`, with the `files` that it refers to: its original
 * bytes, so that no number loses a digit. It is read with the rights of who sends it. Throws `too_large`,
 * and `malformed` as `createUpload` does.
 */
export function uploadIn({ registry, body, principal }: Pick<Call, 'registry' | 'body'> & { principal: Principal }): {
  snapshot: Snapshot;
  entry: string;
  reader: Principal;
} {
  const bytes = body!.document!;
  const { path, files = {} } = body!.value as { path?: string; files?: Record<string, string> };
  const others = new Map(Object.entries(files).map(([name, text]) => [name, Buffer.from(text)]));
  const { fileBytes } = registry.config.limits;
  if ([bytes, ...others.values()].some(({ byteLength }) => byteLength > fileBytes)) {
    const extra = { limit: fileBytes };
    throw new RegistryError('too_large', `The document exceeds the limit of ${fileBytes} bytes.`, { extra });
  }
  const entry = path ?? (/^\s*[{[]/.test(bytes.toString('utf8', 0, 65_536)) ? 'document.json' : 'document.yaml');
  return { snapshot: createUpload(entry, bytes, others), entry, reader: principal };
}
