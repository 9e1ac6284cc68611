import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

const ids = new WeakMap<IncomingMessage, string>();

/** The identifier of a request: the same UUID in its answer's `X-Request-Id`, in a problem's `instance` and in the log. Ours, never the client's. */
export function requestIdOf(request: IncomingMessage): string {
  let id = ids.get(request);
  if (id === undefined) {
    id = randomUUID();
    ids.set(request, id);
  }
  return id;
}
