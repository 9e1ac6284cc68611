import { isRegistryError } from '../../model/errors.ts';
import { listOrganizations } from '../maintenance/organizations.ts';
import type { Author, Registry } from '../registry.ts';
import { beat, estateRef, replayEstate, type EstateReplay, type ReplayRequest } from './replay-estate.ts';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

/** How far the replay of everything is. */
export interface ReplayState {
  /** The last request. Null: nobody asked. */
  requestedAt: string | null;
  startedAt: string | null;
  /** Null: it has not ended. */
  endedAt: string | null;
}

type Kept = { request: ReplayRequest | null; replay: EstateReplay | null; isRunning: boolean };

/** Reads how far the replay of an organization is. */
export async function replayState(registry: Registry, org: string): Promise<ReplayState> {
  return stateOf(await readKept(registry, org));
}

/** Asks for a replay of everything of an organization, unless one waits or runs. */
export async function requestReplay(registry: Registry, org: string, author: Author): Promise<ReplayState> {
  const kept = await readKept(registry, org);
  if (isAsked(kept) || kept.isRunning) return stateOf(kept);
  const request: ReplayRequest = { at: registry.now().toISOString() };
  const change = { actor: author.actor, origin: author.origin, action: 'request' };
  await registry.refs.update<ReplayRequest>(estateRef(org, 'request'), () => ({ value: request, change }));
  return stateOf({ ...kept, request });
}

function stateOf({ request, replay }: Kept): ReplayState {
  return {
    requestedAt: request?.at ?? null,
    startedAt: replay?.startedAt ?? null,
    endedAt: replay?.endedAt ?? null,
  };
}

async function readKept({ refs, now }: Registry, org: string): Promise<Kept> {
  const request = (await refs.read<ReplayRequest>(estateRef(org, 'request')))?.value ?? null;
  const newest = await refs.read<EstateReplay>(estateRef(org, 'replay'));
  const replay = newest?.value ?? null;
  // Each keeps what it has now and then, however long it waits for a turn: rather one too many than none.
  const isRunning = replay?.endedAt === null && now().getTime() - Date.parse(newest!.at) < 10 * beat;
  return { request, replay, isRunning };
}

function isAsked({ request, replay }: Kept): boolean {
  return request !== null && (replay === null || request.at > replay.startedAt);
}

/**
 * Replays everything of each organization, one after the other: when somebody asked, and once a day. Logs what goes wrong,
 * and tries again at the next look.
 */
export function openReplays(registry: Registry): { close(): Promise<void> } {
  const stopping = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  // A server starts with other work.
  let allAt = registry.monotonic() + hour / 4;
  /** The generations of the requests that were looked at. */
  let seen = new Map<string, number>();

  const plan = (pause: number): void => {
    clearTimeout(timer);
    if (!stopping.signal.aborted) timer = setTimeout(look, pause).unref();
  };
  const look = (): void => {
    running = running
      .then(replayDue)
      .catch((error: unknown) => {
        if (!stopping.signal.aborted) registry.log('warn', 'not replayed', { error: String(error) });
      })
      .then(() => plan(minute));
  };
  async function replayDue(): Promise<void> {
    stopping.signal.throwIfAborted();
    const requests = new Map<string, number>();
    for await (const { name, generation } of registry.refs.newest('estate/'))
      if (name.endsWith('/request')) requests.set(name.split('/')[1]!, generation);
    const isDaily = registry.monotonic() >= allAt;
    if (isDaily) allAt = registry.monotonic() + hour;
    const changed = [...requests.keys()].filter((org) => seen.get(org) !== requests.get(org));
    seen = requests;
    for (const org of isDaily ? await listOrganizations(registry) : changed) {
      const kept = await readKept(registry, org);
      // Another process is at it, or was when it ended: look again.
      if (kept.isRunning) seen.delete(org);
      if (kept.isRunning || !(isAsked(kept) || (isDaily && isOld(kept.replay)))) continue;
      await replayEstate(registry, org, stopping.signal).catch((error: unknown) => {
        if (stopping.signal.aborted || !isRegistryError(error)) throw error;
        registry.log('warn', 'not replayed', { org, code: error.code });
      });
    }
  }

  function isOld(replay: EstateReplay | null): boolean {
    return !replay?.endedAt || registry.now().getTime() - Date.parse(replay.startedAt) >= day;
  }

  const unwatch = registry.refs.watch((name) => void (/^estate\/.*\/request$/.test(name) && plan(0)));
  plan(minute);
  return {
    async close() {
      stopping.abort();
      unwatch();
      clearTimeout(timer);
      await running;
    },
  };
}
