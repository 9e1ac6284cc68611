import PQueue from 'p-queue';
import { pullRef, repositoryId, repositoryRef, type PullCheck, type Repository } from '../model/connection.ts';
import { isRegistryError, RegistryError, type ErrorCode } from '../model/errors.ts';
import { dueAt } from '../model/due.ts';
import type { Check, CheckState } from '../model/check.ts';
import type { Pull } from '../hosts/host.ts';
import { checkPull } from './check-pull.ts';
import { concludeChecks, isTellable, plain, wholeCheck } from '../sync/checks.ts';
import { hostOf } from '../registry/host-of.ts';
import { createPlaces } from '../scheduling/organization-places.ts';
import { readAmong } from '../registry/read-among.ts';
import type { Registry } from '../registry/registry.ts';
import { remoteOf } from '../registry/remote.ts';
import type { PullChecks } from '../sync/pull-checks.ts';
import { newRun } from '../sync/runs.ts';
import { noteChecks } from '../sync/tell.ts';

interface Running {
  head: string;
  stop: AbortController;
}

export interface PullsOptions {
  /** Milliseconds that one check may take, including the wait for a sandbox. */
  patience?: number;
}

const minute = 60_000;
/** Milliseconds between two checks of a head that failed. */
const longestPause = 1024 * minute;
/** Errors that a retry of the same commit may not meet again. */
const passing: readonly ErrorCode[] = ['unreachable', 'unavailable', 'outcome_unknown'];

/**
 * Creates the pull request checks of this process. A newer head replaces the one that is being
 * checked. A head is checked once; when the remote does not answer, the check is retried after ever
 * longer waits. `tell` reports saved checks to the organization's hosts.
 */
export function createPulls(
  registry: Registry,
  tell: (org: string) => void,
  { patience = 10 * minute }: PullsOptions = {},
): PullChecks {
  const { concurrency } = registry.config.sync;
  const checks = createPlaces(Math.ceil(concurrency / 2));
  const looks = createPlaces(concurrency);
  const asks = createPlaces(concurrency);
  const lanes = new Map<string, PQueue>();
  const running = new Map<string, Running>();
  const closing = new AbortController();

  /** Asks the remote for the head and checks it, unless that was done or is being done. */
  function look(org: string, id: string, number: number): void {
    const key = pullRef(org, id, number);
    const lane = lanes.get(key) ?? new PQueue({ concurrency: 1 });
    lanes.set(key, lane);
    if (lane.size > 0) return; // the waiting one will see the same head
    void lane
      .add(() => looks.take(org, () => begin(key)))
      .catch((error: unknown) => tellError(registry, key, error))
      .finally(() => lane.size === 0 && lane.pending === 0 && lanes.delete(key));
  }

  async function begin(key: string): Promise<void> {
    if (closing.signal.aborted) return;
    const pull = (await registry.refs.read<PullCheck>(key))?.value;
    const repository = pull && (await registry.refs.read<Repository>(repositoryRef(pull.org, pull.repository)))?.value;
    if (!pull || !repository) return;
    if (pull.state === 'closed') return running.get(key)?.stop.abort();
    const tip = await registry.source.tip(await remoteOf(registry, repository, pull.ref), closing.signal);
    if (!tip.found) return record(key, { state: 'closed', detail: tip.detail });
    const current = running.get(key);
    if (current?.head === tip.commit) return;
    if (isDone(pull, tip.commit)) return pull.state === 'wanted' ? record(key, { state: 'checked' }) : undefined;
    current?.stop.abort();
    const stop = new AbortController();
    running.set(key, { head: tip.commit, stop });
    void checks
      .take(pull.org, () => check(key, pull, repository, tip.commit, stop.signal))
      .catch((error: unknown) => tellError(registry, key, error))
      .finally(() => running.get(key)?.stop === stop && running.delete(key));
  }

  /** Whether this head needs no check, or none yet. */
  function isDone({ state, head, nextAt }: PullCheck, commit: string): boolean {
    if (head !== commit) return false;
    if (state !== 'failed') return true;
    const now = registry.now().getTime();
    return nextAt !== undefined && dueAt(nextAt, now, longestPause) > now;
  }

  async function check(
    key: string,
    pull: PullCheck,
    repository: Repository,
    head: string,
    superseded: AbortSignal,
  ): Promise<void> {
    const run = newRun(registry, repository, pull.repository, 'hook');
    const late = AbortSignal.timeout(patience);
    const signal = AbortSignal.any([superseded, closing.signal, late]);
    try {
      signal.throwIfAborted();
      void tellNow(registry, repository, wholeCheckOf(head, 'running', 'Checking'));
      const found = await checkPull(registry, repository, pull, head, run, signal);
      const told = concludeChecks(found, head);
      await noteChecks(registry, repository, told);
      const names = told.map(({ name }) => name);
      await record(key, { state: 'checked', head, checks: names, detail: null, tries: 0 });
    } catch (error) {
      if (closing.signal.aborted) return; // the next start resumes it
      if (superseded.aborted)
        return noteChecks(registry, repository, [wholeCheckOf(head, 'cancelled', 'A newer commit is checked')]);
      const detail = late.aborted ? tookTooLong(patience) : explain(error);
      if (!late.aborted && !isRegistryError(error)) tellError(registry, key, error);
      await noteChecks(registry, repository, [wholeCheckOf(head, 'failure', detail)]);
      const mayPass = !late.aborted && isRegistryError(error) && passing.includes(error.code);
      await record(key, mayPass ? later(pull, head, detail) : { state: 'checked', head, detail, tries: 0 });
    } finally {
      tell(repository.org);
    }
  }

  function later(pull: PullCheck, head: string, detail: string): Partial<PullCheck> {
    const tries = pull.head === head ? (pull.tries ?? 0) + 1 : 1;
    const pause = Math.min(minute * 2 ** (tries - 1), longestPause);
    const nextAt = new Date(registry.now().getTime() + pause).toISOString();
    return { state: 'failed', head, detail, tries, nextAt };
  }

  async function record(key: string, change: Partial<PullCheck>): Promise<void> {
    await registry.refs.update<PullCheck>(key, (current) => ({
      value: { ...current!.value, ...change },
      change: { actor: `sync:${current!.value.org}`, origin: null, action: `pull ${change.state ?? ''}` },
    }));
  }

  /** Asks a repository's host for its open pull requests. */
  async function ask(repository: Repository): Promise<void> {
    const found = isTellable(registry, repository) ? hostOf(registry, repository.url) : null;
    if (found === null) return;
    await asks.take(repository.org, async () => {
      if (closing.signal.aborted) return;
      const open = await found.host.listPulls({ name: found.name, credential: repository.credential });
      const id = repositoryId(repository.url, repository.branch);
      // This runs with every reconciliation, so nothing is written for a pull request that was
      // checked.
      for (const pull of open) await request(repository.org, id, pull, true, false);
    });
  }

  /**
   * `isPushed`: a push was reported, so the request is saved even when the pull request was checked
   * before.
   */
  async function request(org: string, id: string, pull: Pull, isOpen: boolean, isPushed = true): Promise<void> {
    if (closing.signal.aborted) throw new RegistryError('unavailable', 'The registry is shutting down.');
    const repository = (await registry.refs.read<Repository>(repositoryRef(org, id)))?.value;
    if (!repository || (repository.branch !== null && repository.branch !== pull.base)) return;
    const { number, ref } = pull;
    if (ref === null) return registry.log('info', 'pull request passed over', { org, repository: id, number });
    const key = pullRef(org, id, number);
    await registry.refs.update<PullCheck>(key, (current) => {
      const known = current?.value;
      const isSame = known && (known.state !== 'closed') === isOpen && known.ref === ref;
      if (isSame && !(isPushed && known.state === 'checked')) return null;
      const state = isOpen ? 'wanted' : 'closed';
      const fresh: PullCheck = { org, repository: id, number, ref, state, head: null, checks: [], detail: null };
      const change = { actor: `sync:${org}`, origin: null, action: `pull ${state}` };
      return { value: { ...fresh, ...known, ref, state }, change };
    });
    look(org, id, number);
  }

  return {
    request,

    async reconcile(repositories) {
      for await (const name of registry.refs.list('pulls/')) {
        const pull = (await readAmong<PullCheck>(registry, name))?.value;
        if (pull?.state === 'wanted' || pull?.state === 'failed') look(pull.org, pull.repository, pull.number);
      }
      // An error in one repository or host must not stop the others.
      await Promise.all(
        repositories.map((repository) =>
          ask(repository).catch((error: unknown) => tellError(registry, repository.url, error)),
        ),
      );
    },

    async close() {
      closing.abort(new RegistryError('unavailable', 'The registry is shutting down.'));
      await Promise.all([...lanes.values()].map((lane) => lane.onIdle()));
      await checks.onIdle();
    },
  };
}

function wholeCheckOf(commit: string, state: CheckState, title: string): Check {
  return { commit, name: wholeCheck, state, title, summary: plain(title), annotations: [], url: null };
}

function tookTooLong(patience: number): string {
  return `The check took longer than ${Math.ceil(patience / minute)} minutes and was stopped.`;
}

function explain(error: unknown): string {
  return isRegistryError(error) ? error.message : "An unexpected error occurred. See the server's log.";
}

/** Reports to the host at once if possible, and ignores failures. */
async function tellNow(registry: Registry, repository: Repository, check: Check): Promise<void> {
  const found = isTellable(registry, repository) ? hostOf(registry, repository.url) : null;
  await found?.host.tell({ name: found.name, credential: repository.credential }, check).catch((error: unknown) => {
    registry.log('info', 'host not told', { repository: repository.url, error: String(error) });
  });
}

function tellError(registry: Registry, key: string, error: unknown): void {
  const text = isRegistryError(error) ? error.message : error instanceof Error ? error.stack : String(error);
  registry.log('warn', 'check of a pull request failed', { pull: key, error: text });
}
