import { readEnvironment } from '../config.ts';
import { RegistryError } from '../model/errors.ts';

/** An answer of a registry's management API. */
export interface Answer {
  status: number;
  /** Empty where the answer has no body. */
  body: Record<string, unknown>;
}

/** The registry's address and the key for it, checked before anything is done. */
export function readTarget(registry: string): { base: string; key: string } {
  if (!/^https?:$/.test(URL.parse(registry)?.protocol ?? ''))
    throw new RegistryError('malformed', `${JSON.stringify(registry)} is no URL of a registry: write https://….`);
  const { key } = readEnvironment();
  if (!key) throw new RegistryError('malformed', 'Set STELE_KEY to an API key of that registry.');
  return { base: registry, key };
}

/** Asks a running registry, with the key in STELE_KEY. Rejects with `unreachable` where none answers; follows no redirect with the key. */
export async function askRegistry(registry: string, method: string, path: string, body?: unknown): Promise<Answer> {
  const { base, key } = readTarget(registry);
  const url = new URL(path, base);
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', accept: 'application/json' };
  const sent = {
    method,
    headers,
    redirect: 'error',
    ...(body !== undefined && { body: JSON.stringify(body) }),
  } as const;
  const response = await fetch(url, sent).catch((cause: unknown) => {
    throw new RegistryError('unreachable', `${url.origin} does not answer.`, { cause });
  });
  if (response.status === 204) return { status: 204, body: {} };
  const answered: unknown = await response.json().catch(() => null);
  if (answered === null || typeof answered !== 'object') {
    throw new RegistryError('unreachable', `${url.origin} answered ${response.status}, and not as a registry does.`);
  }
  return { status: response.status, body: answered as Record<string, unknown> };
}

/** The answer's body. What the registry refuses is refused here in its words. */
export async function demand(registry: string, method: string, path: string, body?: unknown): Promise<Answer['body']> {
  const answer = await askRegistry(registry, method, path, body);
  if (answer.status < 400) return answer.body;
  throw refusalOf(answer);
}

/** A refusal of the registry (RFC 9457), in its words and with all its members. */
export function refusalOf({ status, body }: Answer): RegistryError {
  const detail = String(body['detail'] ?? body['title'] ?? `The registry answered ${status}.`);
  return new RegistryError(status >= 500 ? 'unavailable' : 'refused', detail, { extra: body });
}

/** Every item of a list, page by page. */
export async function* demandAll<T>(registry: string, path: string): AsyncGenerator<T> {
  for (let next: string | null = ''; next !== null;) {
    const cursor: string = next === '' ? '' : `&cursor=${encodeURIComponent(next)}`;
    const page = (await demand(registry, 'GET', `${path}limit=100${cursor}`)) as { items: T[]; next: string | null };
    yield* page.items;
    next = page.next;
  }
}
