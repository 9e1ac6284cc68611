import { setTimeout as delay } from 'node:timers/promises';
import { RegistryError } from '../model/errors.ts';
import { createWaitingPlaces } from '../scheduling/places.ts';
import { untilClosed } from '../server/request.ts';
import type { RunRecord } from './run-view.ts';
import type { ConsoleRequest } from './console-request.ts';

/** Milliseconds between two looks at the run, and after which a stream ends. The page then opens another. */
const pause = 400;
const longest = 10 * 60_000;
/** Milliseconds of silence after which a comment is sent: proxies close connections that are silent for a minute. */
const silence = 20_000;
/** Streams at once. */
const places = createWaitingPlaces({ ofOne: 6, ofOrganization: 32, ofAll: 256 });

/**
 * Streams an event for each change of a run (server-sent events, HTML §9.2): `change`, and `end`
 * once it is over. `read` checks access each time. Throws `rate_limited` for too many streams.
 */
export async function streamRun(request: ConsoleRequest, read: () => Promise<RunRecord>): Promise<void> {
  const { http, response, context, session, org } = request;
  const { monotonic } = context.registry;
  let run = await read();
  const leave = places.take(org, session.principal.id);
  if (leave === null) {
    throw new RegistryError('rate_limited', 'Too many pages follow a run. Close some, or reload.', { retryAfter: 5 });
  }
  const closed = untilClosed(response);
  const end = monotonic() + longest;
  response.set({ 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no' });
  response.flushHeaders();
  try {
    let sent = '';
    let lastSent = monotonic();
    while (!closed.aborted && monotonic() < end && context.isReady()) {
      const state = JSON.stringify([run.state, run.progress, run.documents.length]);
      if (state !== sent || monotonic() - lastSent > silence) {
        response.write(state === sent ? ':\n\n' : `event: change\ndata: ${state}\n\n`);
        lastSent = monotonic();
      }
      sent = state;
      if (run.state !== 'queued' && run.state !== 'running') {
        response.write('event: end\ndata:\n\n');
        break;
      }
      await delay(pause, undefined, { signal: closed }).catch(() => undefined);
      // The stream ends when the reader signs out or their key is revoked.
      if (closed.aborted || (await context.login!.readSession(http)) === null) break;
      run = await read();
    }
  } finally {
    leave();
    response.end();
  }
}
