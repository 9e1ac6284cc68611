import type { IncomingMessage, ServerResponse } from 'node:http';
import { Router } from 'express';
import { digestOf } from '../model/digest.ts';
import { RegistryError } from '../model/errors.ts';
import type { Site } from '../site/site.ts';
import { assetHeaders } from './headers.ts';
import { nothingHere } from './nothing-here.ts';
import { onlyGet } from './methods.ts';
import { splitTarget } from './read/read-request.ts';
import { sendPage } from './send-page.ts';

/**
 * `current`: the path contains a hash of the content. `other`: an older page asks for a file that
 * an update replaced, and gets the new one.
 */
const lifetimes = { current: 'public, max-age=31536000, immutable', other: 'public, max-age=60' };

/** Headers of every response that matter for pages only. Loading a page once would send them five times. */
const ofPages = [
  'Cross-Origin-Opener-Policy',
  'Origin-Agent-Cluster',
  'Referrer-Policy',
  'X-DNS-Prefetch-Control',
  'X-Download-Options',
  'X-Permitted-Cross-Domain-Policies',
  'X-XSS-Protection',
];

/** Serves the stylesheets, scripts and images of pages. */
export function createAssetFiles(site: Site): Router {
  const router = Router({ caseSensitive: true, strict: true });
  router.get('/assets/*path', (request, response) =>
    sendAsset(site, { request, response }, splitTarget(request.url).path),
  );
  router.all('/assets/*path', onlyGet);
  return router;
}

/** Sends the file at a path. Throws `not_found` if there is none. */
export async function sendAsset(
  { assets, registry }: Pick<Site, 'assets' | 'registry'>,
  { request, response }: { request: IncomingMessage; response: ServerResponse },
  path: string,
): Promise<void> {
  const asset = assets.find(path);
  if (asset === null) throw new RegistryError('not_found', nothingHere);
  const { bytes, mediaType } = asset.asset;
  const lifetime = lifetimes[asset.isCurrent ? 'current' : 'other'];
  const page = { digest: digestOf(bytes), size: bytes.byteLength, isLasting: true, open: async () => bytes };
  for (const name of ofPages) response.removeHeader(name);
  const headers = { 'Cache-Control': lifetime, Vary: 'Accept-Encoding', ...assetHeaders };
  await sendPage({ request, response }, registry, page, { mediaType, headers });
}
