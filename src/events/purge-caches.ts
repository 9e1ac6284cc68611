import { setTimeout as delay } from 'node:timers/promises';
import { readSecret } from '../config.ts';
import { cacheKeysOf } from '../model/cache-key.ts';
import type { Resource } from '../model/resource.ts';
import type { Registry } from '../registry/registry.ts';
import { newestGenerations, type Generation } from '../store/generations.ts';

/** Clears shared caches of what changed, until it is closed. */
export interface Purger {
  /** Begins nothing any more; resolves when the request under way has ended, within 10 s. */
  close(): Promise<void>;
}

export interface PurgerOptions {
  /** Milliseconds between two looks at what other processes changed. */
  interval?: number;
  /** Milliseconds after which what was purged is purged once more. */
  again?: number;
  /** Milliseconds that the first retry waits; each further one twice as long, up to a minute. */
  retry?: number;
}

/** Keys in one request: what every known CDN takes. */
const atOnce = 30;
const longestWait = 60_000;
const timeLimit = 10_000;

/**
 * Tells the operator's CDN (`cache.purge` of the configuration) what to forget: the keys of each resource of which anything changed that was or is
 * public. Nothing waits for it, and it is tried until it succeeds. Everything is purged a second time, since another process may have answered with
 * what it knew for half a second longer. After a restart all that changed within the lifetime of caches is purged: what is older they have forgotten.
 * Null where nothing is configured.
 */
export function openPurger(registry: Registry, options: PurgerOptions = {}): Purger | null {
  const { cache } = registry.config;
  const { purge } = cache;
  if (purge === null) return null;
  const { interval = 15_000, again = 2000, retry = 1000 } = options;
  const horizon = 1000 * Math.max(cache.pinned, cache.latest, cache.shared ?? 0);
  const stop = new AbortController();
  const token = purge.token === null ? null : readSecret(purge.token);
  /** The generation of each ref up to which it was looked at. */
  const seen = new Map<string, number>();
  /** Keys by when they are to be purged; those that were purged once already are not purged a third time. */
  const due = new Map<string, { at: number; isAgain: boolean }>();
  let woken = Promise.withResolvers<void>();

  /** Purges the keys of a resource if a reader could have got anything of it, now or before what changed since it was looked at last. */
  async function look(name: string, since: number): Promise<void> {
    const known = seen.get(name) ?? 0;
    let newest: Generation<Resource> | null = null;
    let wasPublic = false;
    for await (const generation of registry.refs.history<Resource>(name)) {
      newest ??= generation;
      // Between generations something may have been public, so the one before the changes counts, too.
      wasPublic ||= generation.value.visibility === 'public';
      if (wasPublic || generation.generation <= known || Date.parse(generation.at) < since) break;
    }
    if (newest === null) return;
    seen.set(name, newest.generation);
    if (!wasPublic || Date.parse(newest.at) < since) return;
    for (const key of cacheKeysOf(newest.value)) due.set(key, { at: 0, isAgain: false });
    woken.resolve();
  }

  async function lookAround(since: number): Promise<void> {
    for await (const { name, generation } of newestGenerations(registry.bucket, 'resources/')) {
      if (stop.signal.aborted) return;
      if (seen.get(name) !== generation) await tryLook(name, since);
    }
  }

  function tryLook(name: string, since: number): Promise<void> {
    return look(name, since).catch((error: unknown) => tell('a change was not looked at', error));
  }

  function tell(event: string, error: unknown): void {
    if (!stop.signal.aborted) registry.log('warn', event, { error: String(error) });
  }

  async function send(keys: string[]): Promise<void> {
    const body = JSON.stringify({ ...purge!.body, [purge!.member]: keys });
    const value = purge!.header.toLowerCase() === 'authorization' ? `Bearer ${token}` : token;
    const headers = {
      'content-type': 'application/json',
      ...(value !== null && token !== null && { [purge!.header]: value }),
    };
    const signal = AbortSignal.timeout(timeLimit);
    const response = await fetch(purge!.url, { method: 'POST', headers, body, signal, redirect: 'manual' });
    await response.body?.cancel();
    if (!response.ok) throw new Error(`It answered ${response.status}, where 2xx is wanted.`);
  }

  async function purgeAll(): Promise<void> {
    let wait = retry;
    while (!stop.signal.aborted) {
      const now = performance.now();
      const chosen = [...due].filter(([, { at }]) => at <= now).slice(0, atOnce);
      if (chosen.length === 0) {
        await sleep(Math.min(interval, ...[...due.values()].map(({ at }) => at - now)));
        continue;
      }
      try {
        await send(chosen.map(([key]) => key));
        wait = retry;
        for (const [key, entry] of chosen) {
          if (due.get(key) !== entry) continue;
          if (entry.isAgain) due.delete(key);
          else due.set(key, { at: performance.now() + again, isAgain: true });
        }
      } catch (error) {
        tell('caches were not purged', error);
        await sleep(wait, false);
        wait = Math.min(2 * wait, longestWait);
      }
    }
  }

  async function sleep(milliseconds: number, isWoken = true): Promise<void> {
    woken = Promise.withResolvers();
    const timer = new AbortController();
    const signal = AbortSignal.any([stop.signal, timer.signal]);
    const over = delay(milliseconds, undefined, { ref: false, signal }).catch(() => undefined);
    await Promise.race(isWoken ? [over, woken.promise] : [over]);
    timer.abort();
  }

  async function keepLooking(): Promise<void> {
    await lookAround(registry.now().getTime() - horizon).catch((error: unknown) =>
      tell('changes were not looked at', error),
    );
    while (!stop.signal.aborted) {
      await delay(interval, undefined, { ref: false, signal: stop.signal }).catch(() => undefined);
      if (!stop.signal.aborted)
        await lookAround(0).catch((error: unknown) => tell('changes were not looked at', error));
    }
  }

  const unwatch = registry.refs.watch((name) => {
    if (name.startsWith('resources/')) void tryLook(name, 0);
  });
  const work = [keepLooking(), purgeAll()];
  return {
    async close() {
      stop.abort();
      unwatch();
      await Promise.all(work);
    },
  };
}
