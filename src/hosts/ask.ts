import { setTimeout as wait } from 'node:timers/promises';
import { RegistryError } from '../model/errors.ts';
import { createFetch, readRetryAfter } from './host-fetch.ts';
import type { HostRepository } from './host.ts';
import { refusalOf, type ApiCredential, type HostSettings } from './host-settings.ts';
import { parseJson } from '../model/json.ts';

/** A successful response of an API. */
export interface Answer {
  status: number;
  headers: Headers;
  /** The body parsed as JSON, or undefined. */
  json: unknown;
}

/**
 * Sends a request about a repository to a host's API, with the repository's credential. Rejects
 * with `unreachable` if it finally fails.
 */
export type Ask = (repository: HostRepository, request: ApiRequest, signal: AbortSignal) => Promise<Answer>;

export interface ApiRequest {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path after the API's URL, with the query. */
  path: string;
  body?: object | readonly object[];
  /** Whether this failure means that the work is already done. */
  isDone?: (status: number, text: string) => boolean;
}

const attempts = 5;

/**
 * Creates a client for a host's API. Retries after 429 and 5xx, at the time in `Retry-After` or
 * with growing delays.
 */
export function createAsk(
  host: string,
  { apiUrl, credential, second }: HostSettings,
  authorize: (credential: ApiCredential & { kind: 'token' }) => string,
): Ask {
  const fetches = new Map<string | null, typeof fetch>();

  function authorization(name: string | null): Record<string, string> {
    const secret = credential(name);
    return secret?.kind === 'token' ? { authorization: authorize(secret) } : {};
  }

  return async ({ name, credential: credentialName }, { method, path, body, isDone }, signal) => {
    const headers = {
      accept: 'application/json',
      'user-agent': 'stele',
      ...(body && { 'content-type': 'application/json' }),
      ...authorization(credentialName),
    };
    const init = { method, headers, signal, ...(body && { body: JSON.stringify(body) }) };
    const fetchApi = fetches.getOrInsertComputed(credentialName, () => createFetch(apiUrl, second));
    for (let attempt = 1; ; attempt++) {
      const response = await fetchApi(apiUrl + path, init).catch((error: unknown) => notAnswering(host, error));
      const text = response instanceof Response ? await response.text() : '';
      if (response instanceof Response) {
        // Azure DevOps sends its sign-in page with 203 for a token that it does not accept.
        if (response.status === 203) throw refusalOf(host, name, 401);
        if (response.ok || isDone?.(response.status, text)) {
          const { status, headers: fields } = response;
          return { status, headers: fields, json: parseJson(text) };
        }
        if (response.status !== 429 && response.status < 500) throw refusalOf(host, name, response.status);
      }
      const asked = response instanceof Response ? readRetryAfter(response.headers) : null;
      const seconds = asked ?? 2 ** (attempt - 1);
      if (attempt === attempts || seconds > 60) {
        if (response instanceof Response) throw refusalOf(host, name, response.status, asked ?? undefined);
        throw response;
      }
      await wait(seconds * second, undefined, { signal });
    }
  };
}

/** The error for a failure below HTTP. Contains only the system's error code. */
export function notAnswering(host: string, error: unknown): RegistryError {
  const { code } = ((error as { cause?: unknown }).cause ?? {}) as { code?: unknown };
  return new RegistryError('unreachable', `${host} does not answer${typeof code === 'string' ? ` (${code})` : ''}.`);
}
