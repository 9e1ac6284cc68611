import type { Check } from '../model/check.ts';
import { isRegistryError } from '../model/errors.ts';
import type { Repository } from '../model/connection.ts';
import { isTellable } from './checks.ts';
import { hostOf } from './host-of.ts';
import { readAmong } from './read-among.ts';
import { newId, type Registry } from './registry.ts';

/** What a git host is to be told: the value of one ref, written before anybody is told, so that a crash loses none of it. */
interface Telling {
  url: string;
  credential: string;
  checks: Check[];
  state: 'waiting' | 'told' | 'failed';
  attempts: number;
  /** When to try next: ISO 8601, UTC. Whoever tries moves it ahead first, so that one process does. */
  nextAt: string;
  /** Why it was not told; null where it was. */
  detail: string | null;
}

const minute = 60_000;
/** Milliseconds that telling one host may take: hosts want to be written to slowly. */
const claim = 15 * minute;
const mostAttempts = 10;
/** A host that did not answer for two days is not told any more. */
const window = 2 * 24 * 60 * minute;

/** Notes what the repository's host is to be told. Nothing is sent; nothing is noted for a host that cannot be told. */
export async function noteChecks(registry: Registry, repository: Repository, checks: readonly Check[]): Promise<void> {
  const { url, credential, org } = repository;
  if (checks.length === 0 || credential === null || !isTellable(registry, repository)) return;
  if (hostOf(registry, url) === null) return;
  const nextAt = registry.now().toISOString();
  const value: Telling = { url, credential, checks: [...checks], state: 'waiting', attempts: 0, nextAt, detail: null };
  const change = { actor: `sync:${org}`, origin: null, action: 'note checks' };
  await registry.refs.update<Telling>(`checks/${org}/${newId(registry)}`, () => ({ value, change }));
}

const finished = new WeakMap<Registry, Set<string>>();

/** Tells the hosts what was noted and is due. What a host does not take is tried again by a later call, for two days. */
export async function tellHosts(registry: Registry, org: string): Promise<void> {
  const done = finished.get(registry) ?? new Set();
  finished.set(registry, done);
  const oldest = registry.now().getTime() - window;
  const after = `checks/${org}/${oldest.toString(36).padStart(9, '0')}`;
  for await (const name of registry.refs.list(`checks/${org}/`, after)) {
    if (done.has(name)) continue;
    const telling = (await readAmong<Telling>(registry, name))?.value;
    if (telling?.state === 'waiting') await attempt(registry, name);
    else done.add(name);
  }
}

/** Tells one host, if it is time and nobody else does. */
async function attempt(registry: Registry, name: string): Promise<void> {
  const now = registry.now().getTime();
  let isOurs = false;
  const change = { actor: 'operator:hosts', origin: null, action: 'tell' };
  const claimed = await registry.refs.update<Telling>(name, (current) => {
    const value = current!.value;
    isOurs = value.state === 'waiting' && Date.parse(value.nextAt) <= now;
    if (!isOurs) return null;
    const nextAt = new Date(now + claim).toISOString();
    return { value: { ...value, attempts: value.attempts + 1, nextAt }, change };
  });
  if (!isOurs) return;
  const detail = await send(registry, claimed!.value);
  const isOver = detail !== null && claimed!.value.attempts >= mostAttempts;
  const state = detail === null ? 'told' : isOver ? 'failed' : 'waiting';
  const pause = minute * 2 ** Math.min(claimed!.value.attempts - 1, 7);
  const nextAt = new Date(registry.now().getTime() + pause).toISOString();
  await registry.refs.update<Telling>(name, (current) => ({
    value: { ...current!.value, state, nextAt, detail },
    change,
  }));
  if (detail !== null) registry.log('warn', 'host not told', { repository: claimed!.value.url, detail, isOver });
}

/** Why the host could not be told; null where it was. */
async function send(registry: Registry, { url, credential, checks }: Telling): Promise<string | null> {
  const found = hostOf(registry, url);
  if (found === null) return null;
  try {
    for (const check of checks) await found.host.tell({ name: found.name, credential }, check);
    return null;
  } catch (error) {
    if (!isRegistryError(error)) throw error;
    return error.message;
  }
}
