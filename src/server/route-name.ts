import type { IncomingMessage } from 'node:http';

const names = new WeakMap<IncomingMessage, string>();

/** Says by which pattern a request was routed, for metrics and the log, where Express does not know it. */
export function nameRoute(request: IncomingMessage, pattern: string): void {
  names.set(request, pattern);
}

/** The pattern that a request was routed by, or null. */
export function routeNameOf(request: IncomingMessage): string | null {
  return names.get(request) ?? null;
}
