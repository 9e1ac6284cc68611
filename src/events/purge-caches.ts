import { setTimeout as delay } from 'node:timers/promises';
import { readSecret } from '../config/environment.ts';
import type { PurgeConfig } from '../config/purge-config.ts';
import { cacheKeysOf, cacheKeysOfSite } from '../model/cache-key.ts';
import type { Resource } from '../model/resource.ts';
import type { DocumentationSite } from '../sites/model/documentation-site.ts';
import type { Registry } from '../registry/registry.ts';
import type { Generation } from '../store/generations.ts';

/** Purges changed resources from shared caches until it is closed. */
export interface Purger {
  /** Starts nothing more. Resolves when the running request has ended, within 10 s. */
  close(): Promise<void>;
}

export interface PurgerOptions {
  /** Milliseconds between two checks for changes by other processes. */
  interval?: number;
  /** Milliseconds after which each key is purged a second time. */
  again?: number;
  /** Milliseconds before the first retry. Each further wait is twice as long, up to a minute. */
  retry?: number;
}

/** Keys per request. Every known CDN accepts this many. */
const atOnce = 30;
/** Records of what caches may hold. */
const prefixes = ['resources/', 'sites/'];
const longestWait = 60_000;
const timeLimit = 10_000;

/**
 * Purges changed resources and documentation sites from the operator's CDN (`cache.purge` in the configuration): the keys
 * of each changed resource that is or was public. Nothing waits for it, and it retries until it
 * succeeds. Each key is purged twice, because another process may have sent an old response for up
 * to half a second. After a restart it purges every change within the caches' lifetime; older
 * responses have expired. Returns null when nothing is configured.
 */
export function openPurger(registry: Registry, options: PurgerOptions = {}): Purger | null {
  const { cache } = registry.config;
  const { purge } = cache;
  if (purge === null) return null;
  const { interval = 15_000, again = 2000, retry = 1000 } = options;
  const horizon = 1000 * Math.max(cache.pinned, cache.latest, cache.shared ?? 0);
  const stop = new AbortController();
  const token = purge.token === null ? null : readSecret(purge.token);
  /** The last generation of each record that was examined. */
  const generations = new Map<string, number>();
  /** When each key must be purged. `isAgain`: this is the second time. */
  const due = new Map<string, { at: number; isAgain: boolean }>();
  let woken = Promise.withResolvers<void>();

  /** Notes the keys of a resource or site for which readers could see a change. */
  async function look(name: string, since: number): Promise<void> {
    const { newest, keys } = await changedKeys(registry, name, { known: generations.get(name) ?? 0, since });
    if (newest > 0) generations.set(name, newest);
    if (keys.length === 0) return;
    for (const key of keys) due.set(key, { at: 0, isAgain: false });
    woken.resolve();
  }

  async function lookAround(since: number): Promise<void> {
    for (const prefix of prefixes)
      for await (const { name, generation } of registry.refs.newest(prefix)) {
        if (stop.signal.aborted) return;
        if (generations.get(name) !== generation) await tryLook(name, since);
      }
  }

  async function tryLook(name: string, since: number): Promise<void> {
    await look(name, since).catch(notLookedAt);
  }

  function notLookedAt(error: unknown): void {
    warn('a change was not looked at', error);
  }

  function warn(event: string, error: unknown): void {
    if (!stop.signal.aborted) registry.log('warn', event, { error: String(error) });
  }

  async function purgeAll(to: PurgeConfig): Promise<void> {
    let wait = retry;
    while (!stop.signal.aborted) {
      const now = performance.now();
      const chosen = [...due].filter(([, { at }]) => at <= now).slice(0, atOnce);
      if (chosen.length === 0) {
        await sleep(Math.min(interval, ...[...due.values()].map(({ at }) => at - now)));
        continue;
      }
      try {
        await sendPurge(
          to,
          token,
          chosen.map(([key]) => key),
        );
        wait = retry;
        // One time for all of them, so that they are purged together again.
        const at = performance.now() + again;
        for (const [key, entry] of chosen) {
          if (due.get(key) !== entry) continue;
          if (entry.isAgain) due.delete(key);
          else due.set(key, { at, isAgain: true });
        }
      } catch (error) {
        warn('caches were not purged', error);
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
      warn('changes were not looked at', error),
    );
    while (!stop.signal.aborted) {
      await delay(interval, undefined, { ref: false, signal: stop.signal }).catch(() => undefined);
      if (!stop.signal.aborted)
        await lookAround(0).catch((error: unknown) => warn('changes were not looked at', error));
    }
  }

  const unwatch = registry.refs.watch((name) => {
    if (prefixes.some((prefix) => name.startsWith(prefix))) look(name, 0).catch(notLookedAt);
  });
  const work = [keepLooking(), purgeAll(purge)];
  return {
    async close() {
      stop.abort();
      unwatch();
      await Promise.all(work);
    },
  };
}

/**
 * The keys of a resource or site if readers could see any of it, now or before its last examined
 * change (generation `known`), and its newest generation; 0 if it has none.
 */
async function changedKeys(
  registry: Registry,
  name: string,
  { known: examined, since }: { known: number; since: number },
): Promise<{ newest: number; keys: readonly string[] }> {
  let newest: Generation<Resource | DocumentationSite> | null = null;
  let wasPublic = false;
  for await (const generation of registry.refs.history<Resource | DocumentationSite>(name)) {
    newest ??= generation;
    // The generation before the changes counts too, because it may have been public.
    wasPublic ||= generation.value.visibility === 'public';
    if (wasPublic || generation.generation <= examined || Date.parse(generation.at) < since) break;
  }
  if (newest === null) return { newest: 0, keys: [] };
  const { generation, value, at } = newest;
  if (!wasPublic || Date.parse(at) < since) return { newest: generation, keys: [] };
  return { newest: generation, keys: 'type' in value ? cacheKeysOf(value) : cacheKeysOfSite(value) };
}

/** Asks the CDN to drop these keys. Throws unless it answers 2xx within 10 s. */
async function sendPurge(purge: PurgeConfig, token: string | null, keys: readonly string[]): Promise<void> {
  const body = JSON.stringify({ ...purge.body, [purge.member]: keys });
  const value = purge.header.toLowerCase() === 'authorization' ? `Bearer ${token}` : token;
  const headers = {
    'content-type': 'application/json',
    ...(value !== null && token !== null && { [purge.header]: value }),
  };
  const signal = AbortSignal.timeout(timeLimit);
  const response = await fetch(purge.url, { method: 'POST', headers, body, signal, redirect: 'manual' });
  await response.body?.cancel();
  if (!response.ok) throw new Error(`The CDN answered ${response.status} instead of 2xx.`);
}
