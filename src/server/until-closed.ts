import type { ServerResponse } from 'node:http';
import { RegistryError } from '../model/errors.ts';

/** A signal that aborts when the client disconnects. */
export function untilClosed(response: ServerResponse): AbortSignal {
  const closed = new AbortController();
  response.once('close', () => closed.abort(new RegistryError('malformed', 'The client closed the connection.')));
  return closed.signal;
}
