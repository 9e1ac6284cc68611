import { open } from 'node:fs/promises';
import { devNull } from 'node:os';
import { Router } from 'express';
import { RegistryError } from '../model/errors.ts';
import { shareWalk } from '../scheduling/shared-walk.ts';
import type { ServerContext } from './server-context.ts';
import { onlyGet } from './methods.ts';

/**
 * Milliseconds for which one check of the store answers everyone, so that requests do not cause
 * more writes.
 */
const sharedFor = 1000;

/**
 * `/healthz`: the process runs. `/readyz`: it can answer and store; 503 during start and shutdown
 * and while the store is not writable.
 */
export function createHealth({ isReady, registry }: Pick<ServerContext, 'isReady' | 'registry'>): Router {
  const { bucket, monotonic } = registry;
  const storeIsWell = shareWalk(sharedFor, monotonic, () => bucket.check());

  const router = Router({ caseSensitive: true, strict: true });
  router.get('/healthz', (_request, response) => {
    response.set('Cache-Control', 'no-store').json({ status: 'ok' });
  });
  router.get('/readyz', async (_request, response) => {
    if (!isReady()) throw new RegistryError('unavailable', 'Not ready.', { retryAfter: 1 });
    // Fails if the process has no file descriptors left.
    await (await open(devNull)).close();
    await storeIsWell();
    response.set('Cache-Control', 'no-store').json({ status: 'ready' });
  });
  router.all(['/healthz', '/readyz'], onlyGet);
  return router;
}
