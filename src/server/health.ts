import { open } from 'node:fs/promises';
import { devNull } from 'node:os';
import { Router } from 'express';
import { RegistryError } from '../model/errors.ts';
import type { ServerContext } from './server-context.ts';
import { onlyGet } from './methods.ts';

/** `/healthz`: the process runs. `/readyz`: it can answer; 503 before that, and from when it shuts down. */
export function createHealth({ isReady }: Pick<ServerContext, 'isReady'>): Router {
  const router = Router({ caseSensitive: true, strict: true });
  router.get('/healthz', (_request, response) => {
    response.set('Cache-Control', 'no-store').json({ status: 'ok' });
  });
  router.get('/readyz', async (_request, response) => {
    if (!isReady()) throw new RegistryError('unavailable', 'Not ready.', { retryAfter: 1 });
    // Fails where no file can be opened.
    await (await open(devNull)).close();
    response.set('Cache-Control', 'no-store').json({ status: 'ready' });
  });
  router.all(['/healthz', '/readyz'], onlyGet);
  return router;
}
