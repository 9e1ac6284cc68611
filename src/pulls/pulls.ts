import { type PullCheck, pullRef } from '../model/check.ts';
import { repositoryId, repositoryRef, type Repository } from '../model/connection.ts';
import { isRegistryError, unavailable } from '../model/errors.ts';
import type { Pull } from '../hosts/host.ts';
import { canReportChecks } from '../sync/checks.ts';
import { hostOf, remoteOf } from '../registry/remote.ts';
import { createAlarms, dueAt } from '../scheduling/waiting.ts';
import { createPlaces, createQueues } from '../scheduling/places.ts';
import { sweepPreviews } from '../store/previews.ts';
import { type Registry, newId } from '../registry/registry.ts';
import type { PullChecks } from '../sync/queue.ts';
import type { Proposal } from './check-pull.ts';
import { firstPause, longestPause, mayPass, passOver, runCheck } from './run-check.ts';
import { endPull } from '../registry/approval/hold.ts';
import { readAmong } from '../registry/stored.ts';

interface Running {
  head: string;
  base: string;
  stop: AbortController;
  /** Whether the target branch has moved meanwhile. */
  isOutdated: boolean;
}

export interface PullsOptions {
  /** Milliseconds that one check may take, including the wait for a sandbox. */
  patience?: number;
}

const minute = 60_000;
/** Milliseconds after which a remote or host that does not answer no longer holds up others. */
const slow = 3000;

/**
 * Creates the pull request checks of this process. A newer head replaces the one that is being
 * checked. A head is checked once for each tip of the target branch; when the remote does not
 * answer, the check is retried after ever longer waits. `report` reports saved checks to the
 * organization's hosts.
 */
export function createPulls(
  registry: Registry,
  report: (org: string) => void,
  { patience = 10 * minute }: PullsOptions = {},
): PullChecks {
  const { concurrency } = registry.config.sync;
  const checks = createPlaces(Math.ceil(concurrency / 2));
  const looks = createPlaces(concurrency, { patience: slow });
  const asks = createPlaces(concurrency, { patience: slow });
  const lanes = createQueues(1);
  const running = new Map<string, Running>();
  const closing = new AbortController();
  const alarms = createAlarms((key) => look(key.split('/')[1]!, key));
  /** Pull requests that their host did not list as open when it was last asked. */
  const unlisted = new Set<string>();
  /** How often in turn a remote did not answer, by pull request. */
  const misses = new Map<string, number>();

  /** Asks the remote for the head and checks it, unless that was done or is being done. */
  function look(org: string, key: string): void {
    if (lanes.waiting(key) > 0) return; // the waiting one will see the same head
    lanes
      .add(key, () => looks.take(org, () => begin(key)))
      .then(() => misses.delete(key))
      .catch((error: unknown) => {
        // Once: each reconciliation looks again.
        if (!misses.has(key)) logError(registry, key, error);
        if (mayPass(error)) lookLater(key);
      });
  }

  /** Until the next reconciliation, or where there is none, somebody would wait for the check. */
  function lookLater(key: string): void {
    const count = misses.get(key) ?? 0;
    misses.set(key, count + 1);
    alarms.set(key, Math.min(firstPause * 2 ** count, longestPause));
  }

  async function begin(key: string): Promise<void> {
    if (closing.signal.aborted) return;
    const pull = (await registry.refs.read<PullCheck>(key))?.value;
    const repository = pull && (await registry.refs.read<Repository>(repositoryRef(pull.org, pull.repository)))?.value;
    if (!pull || !repository) return;
    if (pull.state === 'closed') return running.get(key)?.stop.abort();
    if (repository.gone) return changePull(registry, key, { state: 'closed', detail: repository.gone });
    const tip = await registry.source.tip(await remoteOf(registry, repository, pull.ref), closing.signal);
    if (!tip.found) return changePull(registry, key, { state: 'closed', detail: tip.detail });
    const target = await registry.source.tip(await remoteOf(registry, repository), closing.signal);
    if (!target.found) return changePull(registry, key, { state: 'closed', detail: target.detail });
    const followed = repository.branch ?? target.branch;
    if (pull.into !== undefined && followed !== undefined && pull.into !== followed) {
      running.get(key)?.stop.abort();
      const change = await passOver(registry, pull, repository, followed);
      if (change !== null) await changePull(registry, key, change);
      return report(pull.org);
    }
    const [head, base] = [tip.commit, target.commit];
    const current = running.get(key);
    if (current?.head === head) {
      // The check ends first, so that a busy branch cannot keep it from ever ending.
      current.isOutdated ||= current.base !== base;
      return;
    }
    if (isDone(registry, pull, head, base))
      return pull.state === 'wanted' ? changePull(registry, key, { state: 'checked' }) : undefined;
    current?.stop.abort();
    const now: Running = { head, base, stop: new AbortController(), isOutdated: false };
    running.set(key, now);
    checks
      .take(pull.org, () => check(key, pull, repository, { ref: pull.ref, head, base }, now.stop.signal))
      .catch((error: unknown) => logError(registry, key, error))
      .finally(() => {
        if (running.get(key) === now) running.delete(key);
        if (now.isOutdated) look(pull.org, key);
      });
  }

  async function check(
    key: string,
    pull: PullCheck,
    repository: Repository,
    proposal: Proposal,
    superseded: AbortSignal,
  ): Promise<void> {
    try {
      const signals = { superseded, closing: closing.signal, patience };
      const change = await runCheck(registry, pull, repository, proposal, signals);
      if (change !== null) await changePull(registry, key, change);
      if (change?.nextAt !== undefined && change.state === 'failed')
        alarms.set(key, Date.parse(change.nextAt) - registry.now().getTime());
    } finally {
      report(repository.org);
    }
  }

  async function ask(repository: Repository): Promise<void> {
    const host = canReportChecks(registry, repository) ? hostOf(registry, repository.url) : null;
    if (host === null) return;
    await asks.take(repository.org, async () => {
      if (closing.signal.aborted) return;
      const { pulls, isComplete } = await host.host.listPulls({ name: host.name, credential: repository.credential });
      const id = repositoryId(repository.url, repository.branch);
      // This runs with every reconciliation, so nothing is written for a pull request that was
      // checked.
      for (const pull of pulls) await request(repository.org, id, pull, true, false);
      if (isComplete)
        await closeUnlisted(repository.org, id, new Set<number | null>(pulls.map(({ number }) => number)));
    });
  }

  /** Closes what the host lists as open no more, twice in turn: pages shift while they are read. */
  async function closeUnlisted(org: string, id: string, listed: ReadonlySet<number | null>): Promise<void> {
    for await (const [key, { state, number }] of listPulls(registry, `pulls/${org}/${id}/`)) {
      const wasUnlisted = unlisted.delete(key);
      if (number === null || state === 'closed' || listed.has(number)) continue;
      if (!wasUnlisted) unlisted.add(key);
      else {
        // One that is opened again is checked again.
        await changePull(registry, key, { state: 'closed', head: null });
        running.get(key)?.stop.abort();
      }
    }
  }

  async function request(org: string, id: string, pull: Pull, isOpen: boolean, isPushed = true): Promise<void> {
    if (closing.signal.aborted) throw unavailable('The registry is shutting down.');
    const key = await savePull(registry, { org, id }, pull, { isOpen, isPushed });
    if (key !== null) look(org, key);
  }

  return {
    request,

    async recheck(org, id) {
      for await (const [key, { state }] of listPulls(registry, `pulls/${org}/${id}/`))
        if (state !== 'closed') look(org, key);
    },

    async again(org, id, commit) {
      for await (const [key, { head }] of listPulls(registry, `pulls/${org}/${id}/`)) {
        if (head !== commit) continue;
        await wantAgain(registry, key, commit);
        look(org, key);
      }
    },

    async reconcile(repositories) {
      await sweepPreviews(registry);
      for await (const [key, { org, state }] of listPulls(registry, 'pulls/'))
        if (state === 'wanted' || state === 'failed') look(org, key);
      // An error in one repository or host must not stop the others.
      await Promise.all(
        repositories.map((repository) =>
          ask(repository).catch((error: unknown) => logError(registry, repository.url, error)),
        ),
      );
    },

    async close() {
      closing.abort(unavailable('The registry is shutting down.'));
      alarms.close();
      await lanes.onIdle();
      await checks.onIdle();
    },
  };
}

function logError(registry: Registry, key: string, error: unknown): void {
  const text = isRegistryError(error) ? error.message : error instanceof Error ? error.stack : String(error);
  registry.log('warn', 'check of a pull request failed', { pull: key, error: text });
}

/** Changes a saved pull request. What a closed one held is held no more. */
async function changePull(registry: Registry, key: string, change: Partial<PullCheck>): Promise<void> {
  const changed = await registry.refs.update<PullCheck>(key, (current) => ({
    value: { ...current!.value, ...change },
    change: { actor: `sync:${current!.value.org}`, origin: null, action: `pull ${change.state ?? ''}` },
  }));
  const { org, repository: id, number } = changed!.value;
  const repository = change.state === 'closed' && (await registry.refs.read<Repository>(repositoryRef(org, id)))?.value;
  if (repository) await endPull(registry, repository, number);
}

/**
 * Saves that a pull request of a followed repository is open or closed. `isPushed`: a push was reported,
 * so it is saved even when it was checked before. Returns its key; null when it does not concern
 * the repository's branch, and did not before, or its host has no ref for it.
 */
async function savePull(
  registry: Registry,
  { org, id }: { org: string; id: string },
  pull: Pull,
  { isOpen, isPushed }: { isOpen: boolean; isPushed: boolean },
): Promise<string | null> {
  const repository = (await registry.refs.read<Repository>(repositoryRef(org, id)))?.value;
  if (!repository) return null;
  const { number, ref, base: into } = pull;
  if (ref === null) {
    // Not at each look.
    if (isPushed) registry.log('info', 'pull request passed over', { org, repository: id, number });
    return null;
  }
  const key = pullRef(org, id, { number, ref });
  // The comment of before a rename is edited, too.
  const { formerId } = repository;
  const former = formerId && (await registry.refs.read<PullCheck>(pullRef(org, formerId, { number, ref })))?.value;
  const isOther = repository.branch !== null && repository.branch !== into;
  if (isOther && !former && (await registry.refs.read<PullCheck>(key)) === null) return null;
  await registry.refs.update<PullCheck>(key, (current) => {
    const recorded = current?.value;
    const isSame =
      recorded && (recorded.state !== 'closed') === isOpen && recorded.ref === ref && recorded.into === into;
    if (isSame && !(isPushed && recorded.state === 'checked')) return null;
    const state = isOpen ? 'wanted' : 'closed';
    const mark = (former && former.mark) || newId(registry);
    const fresh: PullCheck = {
      org,
      repository: id,
      number,
      ref,
      into,
      state,
      head: null,
      checks: [],
      detail: null,
      mark,
    };
    const change = { actor: `sync:${org}`, origin: null, action: `pull ${state}` };
    // One that is opened again is checked again.
    return { value: { ...fresh, ...recorded, ref, into, state, ...(!isOpen && { head: null }) }, change };
  });
  if (!isOpen) await endPull(registry, repository, number);
  return key;
}

async function* listPulls(registry: Registry, prefix: string): AsyncGenerator<[key: string, pull: PullCheck]> {
  for await (const key of registry.refs.list(prefix)) {
    const pull = (await readAmong<PullCheck>(registry, key))?.value;
    if (pull) yield [key, pull];
  }
}

/** Saves that the check of this head shall run again, unless that is saved or the head is another by now. */
export async function wantAgain(registry: Registry, key: string, commit: string): Promise<void> {
  await registry.refs.update<PullCheck>(key, (current) => {
    const { value } = current!;
    if (value.state === 'closed' || value.head !== commit || value.isAgain === true) return null;
    const change = { actor: `sync:${value.org}`, origin: null, action: 'pull wanted' };
    return { value: { ...value, state: 'wanted', isAgain: true }, change };
  });
}

/** Whether this head of a pull request needs no check, or none yet. */
export function isDone(registry: Registry, pull: PullCheck, head: string, base: string): boolean {
  if (pull.head !== head || pull.base !== base || pull.isAgain === true) return false;
  if (pull.state !== 'failed') return true;
  const now = registry.now().getTime();
  return pull.nextAt !== undefined && dueAt(pull.nextAt, now, longestPause) > now;
}
