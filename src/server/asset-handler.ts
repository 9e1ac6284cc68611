import { Router, type Request, type Response } from 'express';
import { digestOf } from '../model/digest.ts';
import { RegistryError } from '../model/errors.ts';
import type { Site } from '../site/site.ts';
import { pageHeaders } from './headers.ts';
import { nothingHere } from './nothing-here.ts';
import { onlyGet } from './methods.ts';
import { splitTarget } from './read/read-request.ts';
import { sendPage } from './send-page.ts';

/**
 * `current`: the path contains a hash of the content. `other`: an older page asks for a file that
 * an update replaced, and gets the new one.
 */
const lifetimes = { current: 'public, max-age=31536000, immutable', other: 'public, max-age=60' };

/** Serves the stylesheets, scripts and images of pages. */
export function createAssetFiles({ assets, registry }: Site): Router {
  async function send(request: Request, response: Response): Promise<void> {
    const found = assets.find(splitTarget(request.url).path);
    if (found === null) throw new RegistryError('not_found', nothingHere);
    const { bytes, mediaType } = found.asset;
    const lifetime = lifetimes[found.isCurrent ? 'current' : 'other'];
    const page = { digest: digestOf(bytes), size: bytes.byteLength, open: async () => bytes };
    const headers = { 'Cache-Control': lifetime, Vary: 'Accept-Encoding', ...pageHeaders() };
    await sendPage({ request, response }, registry.cache, page, { mediaType, headers });
  }

  const router = Router({ caseSensitive: true, strict: true });
  router.get('/assets/*path', (request, response) => send(request, response));
  router.all('/assets/*path', onlyGet);
  return router;
}
