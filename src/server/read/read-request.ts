import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Principal } from '../../model/access.ts';
import type { Resource } from '../../model/resource.ts';
import type { Sent } from '../fast-path/hits.ts';
import type { ServerContext } from '../server-context.ts';
import type { Links } from '../../site/links.ts';
import type { Site } from '../../site/site.ts';

/** A parsed request for something in the registry. */
export interface ReadRequest {
  context: ServerContext & { site: Site };
  links: Links;
  request: IncomingMessage;
  response: ServerResponse;
  principal: Principal;
  /** Keeps what was sent, for later requests. `resource`: see `Basis`. Absent: nothing is kept. */
  keep?: (resource: Resource | null, sent: Sent, bytes: Uint8Array | null) => void;
  /** The raw query string, without `?`. */
  query: string;
}

/**
 * Splits a request target into its raw path and query, without decoding. Of a target with scheme
 * and host (RFC 9112 §3.2.2), only the path counts.
 */
export function splitTarget(target: string): { path: string; query: string } {
  const local = target.startsWith('/') ? target : target.replace(/^https?:\/\/[^/?#]*/i, '');
  const mark = local.indexOf('?');
  return mark < 0 ? { path: local, query: '' } : { path: local.slice(0, mark), query: local.slice(mark + 1) };
}
