import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

const ids = new WeakMap<IncomingMessage, string>();

/**
 * The id of a request: the same UUID in `X-Request-Id`, in a problem's `instance` and in the log.
 * Never the client's.
 */
export function requestIdOf(request: IncomingMessage): string {
  return ids.getOrInsertComputed(request, () => randomUUID());
}
