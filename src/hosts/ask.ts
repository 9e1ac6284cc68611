import { type RegistryError, unreachable } from '../model/errors.ts';
import { readAtMost, untilAborted } from '../scheduling/waiting.ts';
import { longestLimit, longestUnnamed, readRetryAfter, timeOf } from '../scheduling/retry-after.ts';
import { setTimeout as wait } from 'node:timers/promises';
import type { HostRepository } from './host.ts';
import { parseJson } from '../model/json.ts';

/** A credential for the API of a host. */
export type ApiCredential =
  { kind: 'token'; username: string; token: string } | { kind: 'app'; appId: string; privateKey: string };

/** The configuration of a host's adapter, with defaults. */
export interface HostSettings {
  /** Its name in the configuration. */
  name: string;
  /** Base URL of its repositories, without a trailing slash. */
  url: string;
  /** Base URL of its API, without a trailing slash. */
  apiUrl: string;
  /**
   * The credential with this name. Null without a name, and for one that is useless to an API (an
   * ssh key). Throws `malformed` when its configuration is incomplete, and `forbidden` when it is
   * bound to another host.
   */
  credential(name: string | null): ApiCredential | null;
  /** Milliseconds per second of waiting: 1,000, and less in tests. */
  second: number;
  /** Ends the waits for limits, for a registry that stops. */
  stopping: AbortController;
}

/** The value of `Authorization` for Basic (RFC 7617). */
export function basic(username: string, password: string): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
}

/** User names that git sends with an access token, and that name no user. */
const tokenNames = ['x-access-token', 'x-token-auth'];

/** A token as `Bearer`, or as `Basic` if the configuration names its user. */
export function bearerOrBasic({ username, token }: ApiCredential & { kind: 'token' }): string {
  return tokenNames.includes(username) ? `Bearer ${token}` : basic(username, token);
}

/** The error for a failed request. Contains nothing of the response. */
export function refusalOf(host: string, repository: string, status: number, retryAfter?: number): RegistryError {
  const why = explain(host, repository, status);
  return unreachable(`${why} (${status}).`, retryAfter === undefined ? {} : { retryAfter });
}

function explain(host: string, repository: string, status: number): string {
  if (status === 401 || status === 403) return `${host} rejected the credential for ${repository}`;
  if (status === 404 || status === 410) return `${host} has no repository ${repository} that the credential can see`;
  if (status === 429) return `${host} limits the rate of requests with the credential for ${repository}`;
  if (status >= 500) return `${host} answered with a server error for ${repository}`;
  return `${host} rejected the request for ${repository}`;
}

/** The most bytes of a response. A hundred pull requests have two million. */
const maxBytes = 16 * 1024 * 1024;
/** Seconds for one request. */
const patience = 20;
/** Seconds for all requests of a call, including waits. */
const deadline = 60;

/** Redirects that are followed for one request. A repository may have been renamed more than once. */
const maxRedirects = 3;
/** What hosts answer for a repository that was renamed. The same request is sent again, with its method and body. */
const moved = [301, 307, 308];

/** A larger number of seconds is a time. */
const longestDelay = 366 * 24 * 3600;

/**
 * Creates a `fetch` for one API and one credential. It rejects other origins, so that credentials stay with their
 * host; follows the redirects of a renamed repository within the API and treats others as 404; times
 * out after 20 s; and reads at most 16 MiB. Once the host says that the budget of the credential is
 * used up, it sends nothing until the reset, and answers 429 itself. What refuses for that has a `Retry-After`.
 */
export function createFetch(apiUrl: string, second: number): typeof fetch {
  const api = new URL(apiUrl);
  /** When requests may go on, on the monotonic clock. */
  let limitedUntil = 0;
  /** Limits in a row that named no time. */
  let unnamed = 0;
  const limit = (seconds: number) => {
    limitedUntil = Math.max(limitedUntil, performance.now() + Math.min(seconds, longestLimit) * second);
  };
  return async (input, init = {}) => {
    let url = new URL(input instanceof Request ? input.url : input);
    if (url.origin !== api.origin) throw new TypeError(`${url.origin} is not ${api.origin}.`);
    const signals = [AbortSignal.timeout(patience * second), ...(init.signal ? [init.signal] : [])];
    const signal = AbortSignal.any(signals);
    for (let redirects = 0; ; redirects++) {
      const left = Math.ceil((limitedUntil - performance.now()) / second);
      if (left > 0) return limited(left);
      const response = await fetch(url, { ...init, redirect: 'manual', signal });
      const { status } = response;
      const headers = new Headers(response.headers);
      let seconds = limitIn(headers);
      limit(seconds);
      const body = await readAtMost(response.body ?? [], maxBytes, () => new TypeError('The answer is too large.'));
      if (status < 400) unnamed = 0;
      if (seconds === 0 && status === 403 && isSecondary(body)) seconds = longestUnnamed;
      if (seconds === 0 && status === 429) seconds = Math.min(2 ** unnamed++, longestUnnamed);
      limit(seconds);
      if (seconds > 0 && status >= 400) headers.set('retry-after', String(Math.ceil(seconds)));
      if (status < 300 || status >= 400) return new Response(body.byteLength === 0 ? null : body, { status, headers });
      const target = moved.includes(status) ? targetOf(headers.get('location'), url, api) : null;
      if (target === null || redirects === maxRedirects) return new Response(null, { status: 404 });
      url = target;
    }
  };
}

/** Whether GitHub says, in words alone, that requests come too fast. */
function isSecondary(body: Uint8Array): boolean {
  return /\bsecondary rate\b/i.test(Buffer.from(body).toString());
}

/** For how many seconds the host wants no more requests with this credential. 0: it may be asked. */
function limitIn(headers: Headers): number {
  const asked = readRetryAfter(headers) ?? 0;
  const [remaining, reset] = ['remaining', 'reset'].map(
    (name) => headers.get(`x-ratelimit-${name}`) ?? headers.get(`ratelimit-${name}`),
  );
  if (remaining !== '0' || !/^\d{1,12}$/.test(reset ?? '')) return asked;
  // A time, or the seconds from now (the draft of the IETF).
  return Math.max(asked, Number(reset) > longestDelay ? Number(reset) - timeOf(headers) : Number(reset));
}

/** What a host answers, in the words of Octokit's plugin, too. */
function limited(seconds: number): Response {
  const now = Date.now();
  const headers = {
    date: new Date(now).toUTCString(),
    'retry-after': String(seconds),
    'x-ratelimit-remaining': '0',
    'x-ratelimit-reset': String(Math.floor(now / 1000) + seconds),
  };
  return new Response(null, { status: 429, headers });
}

/** Where a redirect leads, if that is in the same API: elsewhere on the host are pages for people. */
function targetOf(location: string | null, from: URL, api: URL): URL | null {
  const target = location === null ? null : URL.parse(location, from.href);
  if (target === null || target.origin !== api.origin || target.username !== '' || target.password !== '') return null;
  return target.pathname.startsWith(`${api.pathname.replace(/\/$/, '')}/`) ? target : null;
}

/**
 * Runs the work with a limit of 60 s. Then its signal aborts and the call rejects with
 * `unreachable`.
 */
export async function inTime<T>(host: string, second: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const late = new AbortController();
  const onLate = () => late.abort(unreachable(`${host} did not answer in time.`));
  const timer = setTimeout(onLate, deadline * second);
  return untilAborted(work(late.signal), late.signal).finally(() => clearTimeout(timer));
}

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

/** Sends a request about the repository that a call is about. */
export type Send = (request: ApiRequest) => Promise<Answer>;

interface ApiRequest {
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
  { apiUrl, credential, second, stopping }: HostSettings,
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
      let refused: RegistryError;
      let asked: number | null = null;
      if (response instanceof Response) {
        const { headers: fields } = response;
        asked = readRetryAfter(fields);
        // Azure DevOps sends its sign-in page with 203 for a token that it does not accept.
        const isLimit = response.status === 403 && asked !== null;
        const status = response.status === 203 ? 401 : isLimit ? 429 : response.status;
        if (status < 300 || isDone?.(status, text)) return { status, headers: fields, json: parseJson(text) };
        refused = refusalOf(host, name, status, asked ?? undefined);
        if (status !== 429 && status < 500) throw refused;
      } else refused = response;
      const seconds = asked ?? 2 ** (attempt - 1);
      if (attempt === attempts || seconds > 60) throw refused;
      await wait(seconds * second, undefined, { signal: AbortSignal.any([signal, stopping.signal]) }).catch(() => {
        throw refused;
      });
    }
  };
}

/** The error for a failure below HTTP. Contains only the system's error code. */
export function notAnswering(host: string, error: unknown): RegistryError {
  const { code } = ((error as { cause?: unknown }).cause ?? {}) as { code?: unknown };
  return unreachable(`${host} does not answer${typeof code === 'string' ? ` (${code})` : ''}.`);
}

/** One page of a list. Null stands for an item that could not be parsed. */
interface Page<T> {
  items: readonly (T | null)[];
  /** Where the next page begins, as the host counts; null: this is the last. */
  next: number | null;
}

/**
 * The items of all pages, up to `max`, of at most `maxPages` pages. `first`: where the first begins.
 * Does not follow links in responses. `isComplete` is false when there are more.
 */
export async function readPages<T>(
  max: number,
  maxPages: number,
  ask: (at: number) => Promise<Page<T>>,
  first = 1,
): Promise<{ items: T[]; isComplete: boolean }> {
  const all: T[] = [];
  let at: number | null = first;
  for (let pages = 0; at !== null && pages < maxPages && all.length < max; pages++) {
    const page: Page<T> = await ask(at);
    all.push(...page.items.filter((item) => item !== null));
    at = page.next;
  }
  return { items: all.slice(0, max), isComplete: at === null && all.length <= max };
}
