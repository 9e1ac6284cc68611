import { createKey, type NewKey } from '../../../src/registry/keys/keys.ts';
import type { Registry } from '../../../src/registry/registry.ts';
import { createApp } from '../../../src/server/app.ts';
import { listen } from '../../../src/server/listen.ts';
import { createV1 } from '../../../src/server/v1/v1.ts';
import { createPulls } from '../../../src/pulls/pulls.ts';
import { createSyncQueue } from '../../../src/sync/queue.ts';
import type { UserConfig } from '../../../src/config.ts';
import { createTestRegistry } from '../registry.ts';
import { breaches } from './described.ts';

export interface Ask {
  key?: string | null;
  body?: unknown;
  /** Sent as it is in place of `body`. */
  raw?: string | Uint8Array<ArrayBuffer>;
  headers?: Record<string, string>;
}

export interface Answered {
  status: number;
  headers: Headers;
  text: string;
  /** The body as JSON; undefined where there is none. */
  json: Record<string, unknown>;
}

/** The management API of a registry, on a port of its own. Every answer is held against the description. */
export interface Api extends AsyncDisposable {
  registry: Registry;
  url: string;
  /** A key of `acme` with the scope `admin`. */
  admin: string;
  call(method: string, path: string, ask?: Ask): Promise<Answered>;
  makeKey(given?: Partial<NewKey>): Promise<string>;
}

const author = { actor: 'operator:test', origin: null };
/** So high that no test meets it by chance. */
export const unlimited: UserConfig = { rateLimit: { key: 1_000_000, address: 1_000_000, failures: 1_000_000 } };

export async function openApi(
  registry: Registry = createTestRegistry(unlimited),
  middle: (registry: Registry) => Registry = (same) => same,
): Promise<Api> {
  const served = middle(registry);
  const queue = createSyncQueue(served, createPulls);
  let url = '';
  const context = { registry: served, queue, isReady: () => true, url: 'http://registry.test' };
  const listening = await listen(createApp({ ...context, v1: (site) => createV1({ ...context, site }) }), {
    host: '127.0.0.1',
    port: 0,
  });
  url = listening.url;
  async function makeKey(given: Partial<NewKey> = {}): Promise<string> {
    const whole: NewKey = { org: 'acme', name: 'test', scopes: ['admin'], ...given };
    return (await createKey(registry, whole, author)).text;
  }
  const admin = await makeKey();
  return {
    registry: served,
    url,
    admin,
    makeKey,
    async call(method, path, { key = admin, body, raw, headers = {} } = {}) {
      const sent = raw ?? (body === undefined ? undefined : JSON.stringify(body));
      const response = await fetch(url + path, {
        method,
        redirect: 'manual',
        headers: {
          ...(key !== null && { authorization: `Bearer ${key}` }),
          ...(sent !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(sent !== undefined && { body: sent }),
      });
      const text = await response.text();
      const { status } = response;
      if (path.startsWith('/v1')) {
        const [first] = breaches({ method, target: path, status, headers: response.headers, text });
        if (first !== undefined) throw new Error(`${method} ${path}: the answer ${first}`);
      }
      const isJson = /^application\/(?:[\w.-]+\+)?json\b/.test(response.headers.get('content-type') ?? '');
      const json = isJson && text !== '' ? (JSON.parse(text) as unknown) : undefined;
      return { status, headers: response.headers, text, json: json as Record<string, unknown> };
    },
    [Symbol.asyncDispose]: async () => {
      await queue.close();
      await listening.close(500);
    },
  };
}

/** The text of an OpenAPI document for the test registry's compiler. */
export function documentOf(version: string | null, title = 'Payments'): string {
  return JSON.stringify({ openapi: '3.1.0', info: { title, ...(version !== null && { version }) }, paths: {} });
}
