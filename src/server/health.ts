import { open } from 'node:fs/promises';
import { devNull } from 'node:os';
import type { IRouter, Request } from 'express';
import { isAllowed } from '../model/access.ts';
import { unavailable } from '../model/errors.ts';
import { publicLogDamages } from '../registry/transparency/public-log.ts';
import { shareWalk } from '../scheduling/turns.ts';
import { principalOf } from './authenticate.ts';
import { isLocal } from './request.ts';
import { forwardedFor } from './allowance.ts';
import type { ServerContext } from './server-context.ts';
import { onlyGet } from './methods.ts';

/**
 * Milliseconds for which one check of the store answers everyone, so that requests do not cause
 * more writes.
 */
const sharedFor = 1000;

/**
 * `/healthz`: the process runs. `/readyz`: it can answer and store; 503 during start and shutdown
 * and while the store is not writable, or a log or document cannot be read. With a damaged log it answers 200 and counts them: the other organizations are served.
 * `publicLog` says what of the public log is damaged.
 */
export function addHealth(app: IRouter, { isReady, registry }: Pick<ServerContext, 'isReady' | 'registry'>): void {
  const { bucket, config, monotonic, refs } = registry;
  const storeIsWell = shareWalk(sharedFor, monotonic, async () => {
    await bucket.check();
    await refs.check();
    // Documents have a folder of their own, which may be another user's.
    const [pack] = await bucket.list('packs/', { limit: 1 });
    if (pack !== undefined) await bucket.getPart(pack, 0, 1);
  });

  app.get('/healthz', (_request, response) => {
    response.set('Cache-Control', 'no-store').json({ status: 'ok' });
  });
  app.get('/readyz', async (request, response) => {
    if (!isReady()) throw unavailable('Not ready.', { retryAfter: 1 });
    // Fails if the process has no file descriptors left.
    await (await open(devNull)).close();
    await storeIsWell();
    const damages = refs.damages();
    const damaged = damages.length > 0 && {
      damagedLogs: damages.length,
      logs: damages.filter(({ log }) => mayKnow(request, log, config.proxies)),
    };
    const publicLog = publicLogDamages(registry);
    // `stele doctor` compares it with `proxies`.
    const forwarded = forwardedFor(request).length;
    response
      .set('Cache-Control', 'no-store')
      .json({
        status: 'ready',
        ...(forwarded > 0 && { forwarded }),
        ...damaged,
        ...(publicLog.length > 0 && { publicLog }),
      });
  });
  app.all(['/healthz', '/readyz'], onlyGet);
}

/** Whether the caller may know that there is an organization with this log: a program on this machine, or its administrator. */
function mayKnow(request: Request, log: string, proxies: number): boolean {
  if (isLocal(request, proxies)) return true;
  const principal = principalOf(request);
  return (
    principal.kind === 'key' && log === `@${principal.org}` && isAllowed(principal, 'admin', { org: principal.org })
  );
}
