import { realpathSync } from 'node:fs';
import { RegistryError, malformed, notFound, unreachable, tooLarge } from '../../model/errors.ts';
import { requireCoordinate } from '../command-context.ts';
import { keyFor, refuseUnreachable, requireRegistry } from '../registry-client.ts';
import { createUpload } from '../../source/upload.ts';
import { openFolder, type FolderLimits } from '../../source/folder.ts';
import type { Snapshot } from '../../source/snapshot.ts';
import { readAtMost } from '../../scheduling/waiting.ts';

const maxSeconds = 60;

/** Whether an argument is the URL of a document. */
export function isUrl(text: string): boolean {
  return /^https?:\/\//i.test(text);
}

/** The URL of a version in a registry. Throws `malformed` if either is not valid. */
export function urlIn(registry: string, coordinate: string): string {
  requireCoordinate(coordinate);
  return new URL(`${requireRegistry(registry)}/${coordinate}`).href;
}

/**
 * Downloads a document: a snapshot of that one file, and the address that it was served from. The key in STELE_KEY is sent to the origin of
 * `registry` only. Throws `malformed` for an invalid URL, `not_found`, `too_large`, or `unreachable`.
 */
export async function fetchDocument(
  text: string,
  limit: number,
  registry: string | undefined,
): Promise<{ snapshot: Snapshot; entry: string; address: string }> {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol))
    throw malformed(`${JSON.stringify(text)} is not the URL of a document.`);
  const isTrusted = registry !== undefined && URL.parse(registry)?.origin === url.origin;
  const key = isTrusted ? keyFor(registry) : undefined;
  const headers = {
    accept: 'application/json, application/yaml;q=0.9, */*;q=0.1',
    ...(key && { authorization: `Bearer ${key}` }),
  };
  const response = await fetch(url, { headers, signal: AbortSignal.timeout(maxSeconds * 1000) }).catch(
    refuseUnreachable(url.origin),
  );
  if (response.status === 404 || response.status === 410)
    throw notFound(`There is no document at ${text}. If it is private, set STELE_KEY and --registry.`);
  if (!response.ok) throw unreachable(`${text} returned status ${response.status}.`);
  const bytes = await readAnswerBody(response, limit, text);
  const address = response.headers.get('content-location') ?? response.url;
  return { ...alone(bytes), address };
}

/** Bytes as a snapshot of one file, which is named by what it looks like. */
function alone(bytes: Buffer): { snapshot: Snapshot; entry: string } {
  const isJson = /^\s*[{[]/.test(bytes.toString('utf8', 0, 1024));
  const entry = isJson ? 'document.json' : 'document.yaml';
  return { snapshot: createUpload(entry, bytes), entry };
}

/** Opens a file with its folder (`openFolder`), or standard input for `-`. Throws `too_large`, and what `openFolder` does. */
export async function openDocument(file: string, limits: FolderLimits): ReturnType<typeof openFolder> {
  if (file !== '-') return openFolder(file, limits);
  const bytes = await readAtMost(process.stdin, limits.fileBytes, () => moreThan('Standard input', limits.fileBytes));
  return { ...alone(bytes), root: realpathSync('.'), isRepository: true };
}

/** Reads a body of at most `limit` bytes. Rejects with `too_large`, or `unreachable` if it is cut. */
export async function readAnswerBody(response: Response, limit: number, name: string): Promise<Buffer> {
  return readAtMost(response.body ?? [], limit, () => moreThan(name, limit)).catch((cause: unknown) => {
    if (cause instanceof RegistryError) throw cause;
    throw unreachable(`${name} could not be read to its end.`, { cause });
  });
}

function moreThan(name: string, limit: number): RegistryError {
  return tooLarge(`${name} has more than ${limit} bytes.`);
}
