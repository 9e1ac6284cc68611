import { RegistryError } from '../model/errors.ts';

/** The most bytes of a response. A hundred pull requests have two million. */
const mostBytes = 16 * 1024 * 1024;
/** Seconds for one request. */
const patience = 20;
/** Seconds for all requests of a call, including waits. */
const deadline = 60;

/**
 * Creates a `fetch` for one API. It rejects other origins, so that credentials stay with their
 * host; does not follow redirects and treats them as 404 (a renamed repository); times out after 20
 * s; and reads at most 16 MiB.
 */
export function createFetch(apiUrl: string, second: number): typeof fetch {
  const { origin } = new URL(apiUrl);
  return async (input, init = {}) => {
    const url = new URL(input instanceof Request ? input.url : input);
    if (url.origin !== origin) throw new TypeError(`${url.origin} is not ${origin}.`);
    const signals = [AbortSignal.timeout(patience * second), ...(init.signal ? [init.signal] : [])];
    const response = await fetch(url, { ...init, redirect: 'manual', signal: AbortSignal.any(signals) });
    const { status, headers } = response;
    const body = await readBody(response);
    if (status >= 300 && status < 400) return new Response(null, { status: 404 });
    return new Response(body.byteLength === 0 ? null : body, { status, headers });
  };
}

async function readBody(response: Response): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    if (size > mostBytes) throw new TypeError('The answer is too large.');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/**
 * Runs the work with a limit of 60 s. Then its signal aborts and the call rejects with
 * `unreachable`.
 */
export async function inTime<T>(host: string, second: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const stop = new AbortController();
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    late.reject(new RegistryError('unreachable', `${host} did not answer in time.`));
    stop.abort();
  }, deadline * second);
  try {
    return await Promise.race([work(stop.signal), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
