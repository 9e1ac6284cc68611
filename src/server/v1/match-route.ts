import { closest } from '../../model/errors.ts';
import type { Operation } from './api-description.ts';
import { decodeSegment } from '../../model/escape.ts';

/** A path of the description with its operations. */
export interface Route {
  template: string;
  segments: string[];
  /** By method in lower case. */
  operations: Map<string, Operation>;
}

/** Groups operations by path. */
export function createRoutes(operations: readonly Operation[]): Route[] {
  const routes = new Map<string, Route>();
  for (const operation of operations) {
    const { path: template } = operation;
    const make = (): Route => ({ template, segments: template.split('/'), operations: new Map() });
    routes.getOrInsertComputed(template, make).operations.set(operation.method, operation);
  }
  return [...routes.values()];
}

/** The route of a raw path with its decoded parameters; null if there is none. */
export function matchRoute(
  routes: readonly Route[],
  path: string,
): { route: Route; values: Record<string, string> } | null {
  if (path.length > 2048) return null;
  const segments = path.split('/');
  for (const route of routes) {
    const values = matchSegments(route.segments, segments);
    if (values) return { route, values };
  }
  return null;
}

/** Parameters that take the rest of a path, with its slashes. */
const takesRest = ['{page}', '{file}'];

function matchSegments(template: readonly string[], all: readonly string[]): Record<string, string> | null {
  const last = template.at(-1)!;
  const hasRest = takesRest.includes(last) && all.length >= template.length;
  const rest = hasRest ? decodeRest(all.slice(template.length - 1)) : null;
  const segments = hasRest ? [...all.slice(0, template.length - 1), ''] : all;
  if (template.length !== segments.length) return null;
  const values: Record<string, string> = {};
  for (const [index, wanted] of template.entries()) {
    const segment = segments[index]!;
    if (!wanted.startsWith('{')) {
      if (segment !== wanted) return null;
      continue;
    }
    const value = hasRest && wanted === last ? rest : decoded(segment);
    if (value === null) return null;
    values[wanted.slice(1, -1)] = value;
  }
  return values;
}

function decoded(segment: string): string | null {
  return segment.includes('%') ? decodeSegment(segment) : segment;
}

/** The rest of a path, decoded. Clients may encode its slashes (RFC 3986 §2.2). */
function decodeRest(segments: readonly string[]): string | null {
  const parts = segments.flatMap((segment) => segment.split(/%2f/i)).map(decoded);
  return parts.includes(null) ? null : parts.join('/');
}

/** The methods of a route for `Allow`. */
export function allowedMethods({ operations }: Route): string {
  const methods = [...operations.keys()].flatMap((method) =>
    method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()],
  );
  return [...methods, 'OPTIONS'].join(', ');
}

/**
 * The message for an unknown path, with the nearest route if one is similar. Only for clients that
 * may know the routes.
 */
export function noRoute(routes: readonly Route[], path: string): string {
  const shown = path.slice(0, 200);
  const segments = shown.split('/');
  const candidates = routes.map((route) =>
    route.segments.map((wanted, index) => (wanted.startsWith('{') ? (segments[index] ?? wanted) : wanted)).join('/'),
  );
  return `The route ${shown} does not exist.${closest(shown, candidates)} /v1/openapi.json describes every route.`;
}
