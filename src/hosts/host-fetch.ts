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

/**
 * Creates a `fetch` for one API. It rejects other origins, so that credentials stay with their
 * host; follows the redirects of a renamed repository within the API and treats others as 404; times
 * out after 20 s; and reads at most 16 MiB.
 */
export function createFetch(apiUrl: string, second: number): typeof fetch {
  const api = new URL(apiUrl);
  return async (input, init = {}) => {
    let url = new URL(input instanceof Request ? input.url : input);
    if (url.origin !== api.origin) throw new TypeError(`${url.origin} is not ${api.origin}.`);
    const signals = [AbortSignal.timeout(patience * second), ...(init.signal ? [init.signal] : [])];
    const signal = AbortSignal.any(signals);
    for (let redirects = 0; ; redirects++) {
      const response = await fetch(url, { ...init, redirect: 'manual', signal });
      const { status, headers } = response;
      const body = await readBody(response);
      if (status < 300 || status >= 400) return new Response(body.byteLength === 0 ? null : body, { status, headers });
      const target = moved.includes(status) ? targetOf(headers.get('location'), url, api) : null;
      if (target === null || redirects === maxRedirects) return new Response(null, { status: 404 });
      url = target;
    }
  };
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
