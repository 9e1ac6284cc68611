import { readEnvironment } from '../config/environment.ts';
import { RegistryError } from '../model/errors.ts';
import { problemAtFile, type Problem } from '../model/problem.ts';

/** A response of a registry's management API. */
export interface Answer {
  status: number;
  /** Empty if the response has no body. */
  body: Record<string, unknown>;
}

/**
 * Returns the registry's URL and the key in STELE_KEY. Throws `malformed` if either is missing or
 * invalid.
 */
export function readTarget(registry: string): { base: string; key: string } {
  if (!/^https?:$/.test(URL.parse(registry)?.protocol ?? ''))
    throw new RegistryError(
      'malformed',
      `${JSON.stringify(registry)} is not the URL of a registry. Use a URL such as https://registry.example.com.`,
    );
  const { key } = readEnvironment();
  if (!key) throw new RegistryError('malformed', 'Set STELE_KEY to an API key of that registry.');
  return { base: registry, key };
}

/**
 * Sends a request with the key in STELE_KEY. Rejects with `unreachable` without a valid response,
 * or on a redirect: the key must not go to another server.
 */
export async function askRegistry(registry: string, method: string, path: string, body?: unknown): Promise<Answer> {
  return send(registry, method, path, 'application/json', body === undefined ? undefined : JSON.stringify(body));
}

/**
 * Sends a file as it is to this path. Returns what is wrong with it, if the registry does not take
 * such a file.
 */
export async function sendFile(
  registry: string,
  path: string,
  name: string,
  bytes: Uint8Array,
): Promise<Problem | null> {
  const place = path + name.split('/').map(encodeURIComponent).join('/');
  const answer = await send(registry, 'PUT', place, 'application/octet-stream', bytes);
  if (answer.status < 400) return null;
  if (![400, 404, 413, 415].includes(answer.status)) throw refusalOf(answer);
  return problemAtFile('site-file', name, String(answer.body['detail']), 'warning');
}

async function send(
  registry: string,
  method: string,
  path: string,
  mediaType: string,
  body?: string | Uint8Array,
): Promise<Answer> {
  const { base, key } = readTarget(registry);
  const url = new URL(base.replace(/\/$/, '') + path);
  const headers = { authorization: `Bearer ${key}`, 'content-type': mediaType, accept: 'application/json' };
  const sent = { method, headers, redirect: 'error', ...(body !== undefined && { body }) } as const;
  const response = await fetch(url, sent).catch((cause: unknown) => {
    throw new RegistryError('unreachable', `${url.origin} cannot be reached.`, { cause });
  });
  if (response.status === 204) return { status: 204, body: {} };
  const answered: unknown = await response.json().catch(() => null);
  if (answered === null || typeof answered !== 'object') {
    throw new RegistryError(
      'unreachable',
      `${url.origin} returned ${response.status} without a JSON body. Check that this is a Stele registry.`,
    );
  }
  return { status: response.status, body: answered as Record<string, unknown> };
}

/**
 * As `askRegistry`, but returns the body and throws the registry's own error for a status of 400 or
 * more.
 */
export async function demand(registry: string, method: string, path: string, body?: unknown): Promise<Answer['body']> {
  const answer = await askRegistry(registry, method, path, body);
  if (answer.status < 400) return answer.body;
  throw refusalOf(answer);
}

/** Returns the error in a response (RFC 9457), with all its members. */
export function refusalOf({ status, body }: Answer): RegistryError {
  const detail = String(body['detail'] ?? body['title'] ?? `The registry returned status ${status}.`);
  return new RegistryError(status >= 500 ? 'unavailable' : 'refused', detail, { extra: body });
}

/** Yields every item of a list, page by page. */
export async function* demandAll<T>(registry: string, path: string): AsyncGenerator<T> {
  for (let next: string | null = ''; next !== null;) {
    const cursor: string = next === '' ? '' : `&cursor=${encodeURIComponent(next)}`;
    const page = (await demand(registry, 'GET', `${path}limit=100${cursor}`)) as { items: T[]; next: string | null };
    yield* page.items;
    next = page.next;
  }
}
