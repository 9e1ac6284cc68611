import PQueue from 'p-queue';
import { pullRef, repositoryId, repositoryRef, type PullCheck, type Repository } from '../model/connection.ts';
import { isRegistryError, RegistryError } from '../model/errors.ts';
import type { Check } from '../model/check.ts';
import type { Pull } from '../hosts/host.ts';
import { checkPull } from './check-pull.ts';
import { isTellable, wholeCheck } from './checks.ts';
import { hostOf } from './host-of.ts';
import { readAmong } from './read-among.ts';
import type { Registry } from './registry.ts';
import { remoteOf } from './remote.ts';
import { newRun } from './runs.ts';
import { noteChecks, tellHosts } from './tell.ts';

/** Checks of pull requests: each is compiled and compared, and its host told; nothing is published. */
export interface Pulls {
  /** Asks for a check; resolves when the wish is durable. A pull request into another branch than the one followed is passed over. */
  request(org: string, repositoryId: string, pull: Pull, isOpen: boolean): Promise<void>;
  /** Takes up what a crash left undone, and asks the hosts which pull requests are open: hooks may be lost. */
  reconcile(repositories: readonly Repository[]): Promise<void>;
  /** Stops what runs, and waits for its end. */
  close(): Promise<void>;
}

interface Running {
  head: string;
  stop: AbortController;
}

/** The checks of this process. A newer head takes the place of the one that is being checked. */
export function createPulls(registry: Registry): Pulls {
  const queue = new PQueue({ concurrency: Math.max(1, Math.ceil(registry.config.sync.concurrency / 2)) });
  const lanes = new Map<string, PQueue>();
  const running = new Map<string, Running>();
  const closing = new AbortController();

  /** Asks the remote for the head, and has it checked unless that was done or is being done. */
  function look(org: string, id: string, number: number): void {
    const key = pullRef(org, id, number);
    const lane = lanes.get(key) ?? new PQueue({ concurrency: 1 });
    lanes.set(key, lane);
    if (lane.size > 0) return; // one waits already and will see what this one would
    void lane
      .add(() => begin(key))
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
    if (current?.head === tip.commit || (pull.state !== 'failed' && pull.head === tip.commit)) return;
    current?.stop.abort();
    const stop = new AbortController();
    running.set(key, { head: tip.commit, stop });
    void queue
      .add(() => check(key, pull, repository, tip.commit, AbortSignal.any([stop.signal, closing.signal])))
      .catch((error: unknown) => tellError(registry, key, error))
      .finally(() => running.get(key)?.stop === stop && running.delete(key));
  }

  async function check(
    key: string,
    pull: PullCheck,
    repository: Repository,
    head: string,
    signal: AbortSignal,
  ): Promise<void> {
    const run = newRun(registry, repository, pull.repository, 'hook');
    const whole = (state: Check['state'], title: string): Check => {
      return { commit: head, name: wholeCheck, state, title, summary: title, annotations: [], url: null };
    };
    try {
      signal.throwIfAborted();
      await tellNow(registry, repository, whole('running', 'Checking'));
      const checks = await checkPull(registry, repository, pull, head, run, signal);
      const failed = checks.filter(({ state }) => state === 'failure').length;
      const hasWhole = checks.some(({ name }) => name === wholeCheck);
      const summary = failed > 0 ? `${failed} of ${checks.length} would be refused` : `${checks.length} checked`;
      if (!hasWhole) checks.push(whole(failed > 0 ? 'failure' : 'success', summary));
      await noteChecks(registry, repository, checks);
      await record(key, { state: 'checked', head, checks: checks.map(({ name }) => name), detail: null });
    } catch (error) {
      if (closing.signal.aborted) return; // it is still wanted: the next start takes it up
      if (signal.aborted) return noteChecks(registry, repository, [whole('cancelled', 'A newer commit is checked')]);
      const detail = isRegistryError(error) ? error.message : 'Something unexpected went wrong; the log says what.';
      if (!isRegistryError(error)) tellError(registry, key, error);
      await noteChecks(registry, repository, [whole('failure', detail)]);
      await record(key, { state: 'failed', detail });
    } finally {
      await tellHosts(registry, repository.org);
    }
  }

  async function record(key: string, change: Partial<PullCheck>): Promise<void> {
    await registry.refs.update<PullCheck>(key, (current) => ({
      value: { ...current!.value, ...change },
      change: { actor: `sync:${current!.value.org}`, origin: null, action: `pull ${change.state ?? ''}` },
    }));
  }

  return {
    async request(org, id, pull, isOpen) {
      if (closing.signal.aborted) throw new RegistryError('unavailable', 'The registry is shutting down.');
      const repository = (await registry.refs.read<Repository>(repositoryRef(org, id)))?.value;
      if (!repository || (repository.branch !== null && repository.branch !== pull.base)) return;
      const { number, ref } = pull;
      if (ref === null) return registry.log('info', 'pull request passed over', { org, repository: id, number });
      const key = pullRef(org, id, number);
      await registry.refs.update<PullCheck>(key, (current) => {
        const known = current?.value;
        if (known && (known.state !== 'closed') === isOpen && known.ref === ref) return null;
        const state = isOpen ? 'wanted' : 'closed';
        const fresh: PullCheck = { org, repository: id, number, ref, state, head: null, checks: [], detail: null };
        const change = { actor: `sync:${org}`, origin: null, action: `pull ${state}` };
        return { value: { ...fresh, ...known, ref, state }, change };
      });
      look(org, id, number);
    },

    async reconcile(repositories) {
      for await (const name of registry.refs.list('pulls/')) {
        const pull = (await readAmong<PullCheck>(registry, name))?.value;
        if (pull?.state === 'wanted' || pull?.state === 'failed') look(pull.org, pull.repository, pull.number);
      }
      for (const repository of repositories) {
        const found = isTellable(registry, repository) ? hostOf(registry, repository.url) : null;
        if (found === null) continue;
        const open = await found.host.listPulls({ name: found.name, credential: repository.credential });
        const id = repositoryId(repository.url, repository.branch);
        for (const pull of open) await this.request(repository.org, id, pull, true);
      }
    },

    async close() {
      closing.abort(new RegistryError('unavailable', 'The registry is shutting down.'));
      await Promise.all([...lanes.values()].map((lane) => lane.onIdle()));
      await queue.onIdle();
    },
  };
}

/** Tells the host at once, where it can be; whether it heard does not matter. */
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
