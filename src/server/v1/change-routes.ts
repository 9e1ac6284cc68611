import { readChanges, type AuditPosition } from '../../registry/audit.ts';
import { RegistryError } from '../../model/errors.ts';
import { createWaitingPlaces } from '../../scheduling/places.ts';
import { openValue, sealValue } from '../../registry/seal.ts';
import type { Call, Handler } from './call.ts';
import { isAuditPosition } from './organization-routes.ts';

/** Milliseconds between two looks for changes of other processes while a request waits. */
const pause = 500;
/** Requests that may wait at once. More are answered without waiting. */
const places = createWaitingPlaces({ ofOne: 4, ofOrganization: 32, ofAll: 256 });

/** Answers with the changes after a cursor, oldest first. Waits for the first one if that is asked for. */
export const listChanges: Handler = async (call) => {
  const { context, registry, principal, org, query, asker } = call;
  const limit = query['limit'] as number;
  const read = (position: AuditPosition | null) => readChanges(registry, principal, org, position, limit);
  const end = registry.monotonic() + (query['wait'] as number) * 1000;
  const closed = asker.closed();
  let page = await read(positionIn(call));
  const isOver = () => closed.aborted || registry.monotonic() >= end || !context.isReady();
  const mayWait = () => page.entries.length === 0 && !isOver();
  const leave = mayWait() ? places.take(org, principal.id) : null;
  if (leave !== null) {
    try {
      while (mayWait()) {
        await nextChange(call, closed, Math.min(pause, end - registry.monotonic()));
        page = await read(page.position);
      }
    } finally {
      leave();
    }
  }
  const { own, keys, at = '', affected = '' } = page.position;
  // Padded to one length, since the length would reveal the number of changes.
  const hidden = [...[own, keys].map((count) => String(count).padStart(12, '0')), at.padEnd(24), affected];
  const next = Buffer.from(sealValue(registry, purposeOf(call), hidden), 'base64').toString('base64url');
  return { status: 200, body: { items: page.entries, next, hasMore: page.hasMore } };
};

/** A cursor is valid only for the key that got it, since it counts changes that others may not see. */
function purposeOf({ principal, org }: Call): string {
  return `changes ${org} ${principal.id}`;
}

function positionIn(call: Call): AuditPosition | null {
  const cursor = call.query['after'];
  if (typeof cursor !== 'string') return null;
  const sealed = Buffer.from(cursor, 'base64url').toString('base64');
  const counts = openValue(call.registry, purposeOf(call), sealed);
  const [own, keys, at, affected] = Array.isArray(counts) ? counts : [];
  const time = typeof at === 'string' ? at.trim() : '';
  const position = {
    own: Number(own),
    keys: Number(keys),
    ...(time !== '' && { at: time }),
    ...(typeof affected === 'string' && { affected }),
  };
  if (isAuditPosition(position)) return position;
  throw new RegistryError('malformed', 'This cursor is not one of this key. Start again without `after`.', {
    extra: { errors: [{ parameter: 'after', detail: 'is not `next` of an earlier response to this key' }] },
  });
}

/** Resolves at the next change of the organization or a key, after a time, or when the request is over. */
function nextChange({ registry, org }: Call, closed: AbortSignal, milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      stop();
      closed.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, milliseconds);
    const stop = registry.refs.watch((name) => {
      const [kind, owner] = name.split('/');
      if (kind === 'keys' || (kind === 'resources' && owner === org)) done();
    });
    closed.addEventListener('abort', done);
  });
}
