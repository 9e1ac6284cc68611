import { RegistryError } from '../model/errors.ts';
import { untilAborted } from '../scheduling/waiting.ts';

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

/** The longest that a host's word of its rate limit is believed, in seconds. */
const longestLimit = 3600;

/** A larger number of seconds is a time. */
const longestDelay = 366 * 24 * 3600;

/**
 * Creates a `fetch` for one API and one credential. It rejects other origins, so that credentials stay with their
 * host; follows the redirects of a renamed repository within the API and treats others as 404; times
 * out after 20 s; and reads at most 16 MiB. Once the host says that the budget of the credential is
 * used up, it sends nothing until the reset, and answers 429 itself.
 */
export function createFetch(apiUrl: string, second: number): typeof fetch {
  const api = new URL(apiUrl);
  /** When requests may go on, on the monotonic clock. */
  let limitedUntil = 0;
  return async (input, init = {}) => {
    const left = Math.ceil((limitedUntil - performance.now()) / second);
    if (left > 0) return limited(left);
    let url = new URL(input instanceof Request ? input.url : input);
    if (url.origin !== api.origin) throw new TypeError(`${url.origin} is not ${api.origin}.`);
    const signals = [AbortSignal.timeout(patience * second), ...(init.signal ? [init.signal] : [])];
    const signal = AbortSignal.any(signals);
    for (let redirects = 0; ; redirects++) {
      const response = await fetch(url, { ...init, redirect: 'manual', signal });
      const { status, headers } = response;
      const limit = limitIn(headers);
      if (limit > 0) limitedUntil = performance.now() + Math.min(limit, longestLimit) * second;
      const body = await readBody(response);
      if (status < 300 || status >= 400) return new Response(body.byteLength === 0 ? null : body, { status, headers });
      const target = moved.includes(status) ? targetOf(headers.get('location'), url, api) : null;
      if (target === null || redirects === maxRedirects) return new Response(null, { status: 404 });
      url = target;
    }
  };
}

/** Parses `Retry-After` (RFC 9110 §10.2.3), which may be a date. Returns seconds, or null. */
export function readRetryAfter(headers: Headers): number | null {
  const value = headers.get('retry-after');
  if (value === null) return null;
  if (/^\d{1,9}$/.test(value)) return Number(value);
  const seconds = (Date.parse(value) - Date.now()) / 1000;
  return Number.isNaN(seconds) ? null : Math.max(0, Math.ceil(seconds));
}

/** For how many seconds the host wants no more requests with this credential. 0: it may be asked. */
function limitIn(headers: Headers): number {
  const asked = readRetryAfter(headers) ?? 0;
  const [remaining, reset] = ['remaining', 'reset'].map(
    (name) => headers.get(`x-ratelimit-${name}`) ?? headers.get(`ratelimit-${name}`),
  );
  if (remaining !== '0' || !/^\d{1,12}$/.test(reset ?? '')) return asked;
  // A time by the host's own clock, or the seconds from now (the draft of the IETF).
  const now = Date.parse(headers.get('date') ?? '') / 1000 || Date.now() / 1000;
  return Math.max(asked, Number(reset) > longestDelay ? Number(reset) - now : Number(reset));
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

async function readBody(response: Response): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    if (size > maxBytes) throw new TypeError('The answer is too large.');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/**
 * Runs the work with a limit of 60 s. Then its signal aborts and the call rejects with
 * `unreachable`.
 */
export async function inTime<T>(host: string, second: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const late = new AbortController();
  const onLate = () => late.abort(new RegistryError('unreachable', `${host} did not answer in time.`));
  const timer = setTimeout(onLate, deadline * second);
  return untilAborted(work(late.signal), late.signal).finally(() => clearTimeout(timer));
}
