import type { IRouter } from 'express';
import { notFound } from '../../model/errors.ts';
import { formatPem } from '../../model/transparency/attestation.ts';
import { formatNote, formatVerifierKey } from '../../model/transparency/note.ts';
import { formatProof } from '../../model/transparency/checkpoint.ts';
import { parseTilePath } from '../../model/transparency/tree.ts';
import { nameOf } from '../../model/resource.ts';
import type { GrantedVersion } from '../../registry/read.ts';
import { publicLogOf, type PublicLog } from '../../registry/transparency/public-log.ts';
import type { Registry } from '../../registry/registry.ts';
import { onlyGet } from '../methods.ts';
import { orAbsent } from '../error-answers.ts';
import type { ReadLimit } from '../rate-limit.ts';
import { nameRoute } from '../request.ts';
import { bytesOf, sendPage } from '../send-page.ts';
import { sendBytes } from './send-document.ts';
import { sharing, type Lifetime } from './caching.ts';
import type { ReadRequest } from './read-request.ts';

const pattern = /^\/log\/(.+)$/;

/** The public log under `/log/` (C2SP tlog-tiles): `checkpoint`, tiles, bundles of leaves, its `key`, and the proof that the log announces it. */
export function addPublicLog(app: IRouter, registry: Registry, limit: ReadLimit | null): void {
  app.get(pattern, async (request, response) => {
    const path = request.path.slice('/log/'.length);
    nameRoute(request, `/log/${path.replace(/^tile\/.*/, 'tile/{tile}')}`);
    limit?.(request, response);
    const log = await publicLogOf(registry);
    const found = orAbsent(log && (await read(log, path)));
    const headers = sharing(registry.config, 'public', found.lifetime);
    if (typeof found.bytes !== 'string')
      return sendPage({ request, response }, registry, bytesOf(found.bytes), { mediaType: bundleType, headers });
    const content = { 'Content-Type': 'text/plain; charset=utf-8' };
    await sendBytes({ request, response }, Buffer.from(found.bytes), { common: headers, content });
  });
  app.all(pattern, onlyGet);
}

const bundleType = 'application/octet-stream';

/** What the log has at a path: text, the bytes of a tile, which never change, or null. */
async function read(log: PublicLog, path: string): Promise<{ bytes: string | Uint8Array; lifetime: Lifetime } | null> {
  const text = (bytes: string) => ({ bytes, lifetime: 'latest' }) as const;
  if (path === 'key') return text(`${formatVerifierKey(log.signer())}\n`);
  if (path === 'key.pem') return text(formatPem(log.signer()));
  if (path === 'checkpoint') return text(formatNote((await log.checkpoint()).note));
  if (path === 'key.proof') {
    const proof = await log.proveKey();
    return proof && text(formatProof(proof));
  }
  const name = parseTilePath(path);
  const bytes = name && (await log.tile(name));
  return bytes && { bytes, lifetime: 'pinned' };
}

/**
 * Sends the proof that a version is in the public log, as one file (C2SP tlog-proof). What was published
 * a moment ago enters the log first.
 */
export async function sendProof(
  { context: { registry }, request, response }: ReadRequest,
  { resource, version }: GrantedVersion,
): Promise<void> {
  const log = await publicLogOf(registry);
  const name = nameOf(resource);
  const prove = (): ReturnType<PublicLog['prove']> => log!.prove(name, version.label);
  let proof = log && (await prove());
  if (log && proof === null && resource.visibility === 'public') {
    await log.update([resource.org]);
    proof = await prove();
  }
  if (proof === null) {
    const why =
      log === null
        ? 'This registry has no public log.'
        : `${name}@${version.label} is not in the public log: only public versions are.`;
    throw notFound(why);
  }
  const headers = sharing(registry.config, resource.visibility, 'latest');
  await sendPage({ request, response }, registry, bytesOf(formatProof(proof)), {
    mediaType: 'text/plain; charset=utf-8',
    headers,
  });
}
