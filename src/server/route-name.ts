import type { IncomingMessage } from 'node:http';

const names = new WeakMap<IncomingMessage, string>();

/** Sets the route pattern of a request for metrics and the log, where Express does not know it. */
export function nameRoute(request: IncomingMessage, pattern: string): void {
  names.set(request, pattern);
}

/** The route pattern of a request, or null. */
export function routeNameOf(request: IncomingMessage): string | null {
  return names.get(request) ?? null;
}
