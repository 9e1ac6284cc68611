import PQueue from 'p-queue';
import type { Check } from '../model/check.ts';
import { isRegistryError } from '../model/errors.ts';
import type { Repository } from '../model/connection.ts';
import { isTellable } from './checks.ts';
import { hostOf } from '../registry/host-of.ts';
import { readAmong } from '../registry/read-among.ts';
import { newId, type Registry } from '../registry/registry.ts';

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
const change = { actor: 'operator:hosts', origin: null, action: 'tell' };
/** Milliseconds that telling one host may take: hosts want to be written to slowly. */
const claim = 15 * minute;
const mostAttempts = 10;
/** A host that did not answer for two days is not told any more. */
const window = 2 * 24 * 60 * minute;

/** Checks that are told by one claim: as many as a host that wants a second between two of them takes in its time. */
const mostAtOnce = 50;
/** Repositories whose hosts are told at the same time. */
const repositoriesAtOnce = 4;

/** Notes what the repository's host is to be told. Nothing is sent; nothing is noted for a host that cannot be told. */
export async function noteChecks(registry: Registry, repository: Repository, checks: readonly Check[]): Promise<void> {
  const { url, credential, org } = repository;
  if (checks.length === 0 || credential === null || !isTellable(registry, repository)) return;
  if (hostOf(registry, url) === null) return;
  const nextAt = registry.now().toISOString();
  const noted = { actor: `sync:${org}`, origin: null, action: 'note checks' };
  for (let start = 0; start < checks.length; start += mostAtOnce) {
    const some = checks.slice(start, start + mostAtOnce);
    const value: Telling = { url, credential, checks: some, state: 'waiting', attempts: 0, nextAt, detail: null };
    await registry.refs.update<Telling>(`checks/${org}/${newId(registry)}`, () => ({ value, change: noted }));
  }
}

/** By organization: what needs not be looked at again. */
const finished = new WeakMap<Registry, Map<string, Set<string>>>();

/**
 * Tells the hosts what was noted and is due, those of several repositories side by side. What a host does not take is tried again by a later call, for two
 * days. Begins nothing more once the signal says so.
 */
export async function tellHosts(registry: Registry, org: string, signal?: AbortSignal): Promise<void> {
  const known = finished.get(registry) ?? new Map<string, Set<string>>();
  finished.set(registry, known);
  const before = known.get(org) ?? new Set<string>();
  const over = new Set<string>();
  const waiting = new Map<string, { name: string; telling: Telling }[]>();
  const oldest = registry.now().getTime() - window;
  const after = `checks/${org}/${oldest.toString(36).padStart(9, '0')}`;
  for await (const name of registry.refs.list(`checks/${org}/`, after)) {
    if (before.has(name)) {
      over.add(name);
      continue;
    }
    const telling = (await readAmong<Telling>(registry, name))?.value;
    if (telling?.state !== 'waiting' || !isTellable(registry, { org, credential: telling.credential })) over.add(name);
    else waiting.set(telling.url, [...(waiting.get(telling.url) ?? []), { name, telling }]);
  }
  known.set(org, over);
  const queue = new PQueue({ concurrency: repositoriesAtOnce });
  await queue.addAll([...waiting.values()].map((tellings) => () => tellInOrder(registry, tellings, signal)));
}

/** Tells the host of one repository, the oldest first, until it does not take one. */
async function tellInOrder(
  registry: Registry,
  tellings: readonly { name: string; telling: Telling }[],
  signal: AbortSignal | undefined,
): Promise<void> {
  const keyOf = ({ commit, name }: Check) => `${commit} ${name}`;
  for (const [index, { name, telling }] of tellings.entries()) {
    if (signal?.aborted) return;
    const later = new Set(tellings.slice(index + 1).flatMap((each) => each.telling.checks.map(keyOf)));
    const isStale = (check: Check) => later.has(keyOf(check));
    // It may be told when what comes later was: the newest word is to stand.
    if (telling.checks.some(isStale)) await leaveOut(registry, name, isStale);
    if (!(await attempt(registry, name, signal))) return;
  }
}

async function leaveOut(registry: Registry, name: string, isStale: (check: Check) => boolean): Promise<void> {
  await registry.refs.update<Telling>(name, (current) => {
    const { value } = current!;
    const checks = value.checks.filter((check) => !isStale(check));
    if (value.state !== 'waiting' || checks.length === value.checks.length) return null;
    return { value: { ...value, checks, state: checks.length === 0 ? 'told' : 'waiting' }, change };
  });
}

/** Tells one host, if it is time and nobody else does. False: it did not take it. */
async function attempt(registry: Registry, name: string, signal: AbortSignal | undefined): Promise<boolean> {
  const now = registry.now().getTime();
  let isOurs = false;
  const claimed = await registry.refs.update<Telling>(name, (current) => {
    const value = current!.value;
    isOurs = value.state === 'waiting' && Date.parse(value.nextAt) <= now;
    if (!isOurs) return null;
    const nextAt = new Date(now + claim).toISOString();
    return { value: { ...value, attempts: value.attempts + 1, nextAt }, change };
  });
  if (!isOurs) return true;
  const detail = await send(registry, claimed!.value, signal);
  const isOver = detail !== null && claimed!.value.attempts >= mostAttempts;
  const state = detail === null ? 'told' : isOver ? 'failed' : 'waiting';
  const pause = minute * 2 ** Math.min(claimed!.value.attempts - 1, 7);
  const nextAt = new Date(registry.now().getTime() + pause).toISOString();
  await registry.refs.update<Telling>(name, (current) => ({
    value: { ...current!.value, state, nextAt, detail },
    change,
  }));
  if (detail !== null) registry.log('warn', 'host not told', { repository: claimed!.value.url, detail, isOver });
  return detail === null;
}

/** Why the host could not be told; null where it was. */
async function send(
  registry: Registry,
  { url, credential, checks }: Telling,
  signal: AbortSignal | undefined,
): Promise<string | null> {
  const found = hostOf(registry, url);
  if (found === null) return null;
  try {
    for (const check of checks) {
      if (signal?.aborted) return 'The registry was shut down; the next start goes on.';
      await found.host.tell({ name: found.name, credential }, check);
    }
    return null;
  } catch (error) {
    if (!isRegistryError(error)) throw error;
    return error.message;
  }
}
