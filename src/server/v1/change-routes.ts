import { readChanges, type AuditPosition } from '../../registry/audit.ts';
import { RegistryError } from '../../model/errors.ts';
import { parseJson } from '../../model/json.ts';
import { openSecret, sealSecret } from '../../registry/seal.ts';
import { untilClosed } from '../until-closed.ts';
import type { Call, Handler } from './call.ts';
import { isAuditPosition } from './organization-routes.ts';

/** Milliseconds between two looks for changes of other processes while a request waits. */
const pause = 500;

/** Answers with the changes after a cursor, oldest first. Waits for the first one if that is asked for. */
export const listChanges: Handler = async (call) => {
  const { registry, principal, query, request } = call;
  const position = positionIn(call);
  const limit = query['limit'] as number;
  const read = () => readChanges(registry, principal, principal.org, position, limit);
  const end = registry.monotonic() + (query['wait'] as number) * 1000;
  const closed = untilClosed(request.res!);
  let page = await read();
  while (page.entries.length === 0 && !page.hasMore && registry.monotonic() < end && !closed.aborted) {
    await nextChange(call, closed, Math.min(pause, end - registry.monotonic()));
    page = await read();
  }
  const next = Buffer.from(sealSecret(registry, JSON.stringify(page.position))).toString('base64url');
  return { status: 200, body: { items: page.entries, next, hasMore: page.hasMore } };
};

/** The position that the cursor hides: it counts changes that the reader may not see. */
function positionIn({ registry, query }: Call): AuditPosition | null {
  const cursor = query['after'];
  if (typeof cursor !== 'string') return null;
  let position: unknown;
  try {
    position = parseJson(openSecret(registry, Buffer.from(cursor, 'base64url').toString()));
  } catch {
    // Told below.
  }
  if (isAuditPosition(position)) return position;
  throw new RegistryError('malformed', 'This cursor is not one of /v1/changes. Start again without `after`.', {
    extra: { errors: [{ parameter: 'after', detail: 'is not `next` of an earlier response' }] },
  });
}

/** Resolves at the next change through this process, after a time, or when the request is over. */
function nextChange({ registry }: Call, closed: AbortSignal, milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      stop();
      closed.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, milliseconds);
    const stop = registry.refs.watch(done);
    closed.addEventListener('abort', done);
  });
}
