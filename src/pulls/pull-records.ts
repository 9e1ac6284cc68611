import { pullRef, type PullCheck } from '../model/check.ts';
import { repositoryRef, type Repository } from '../model/connection.ts';
import { dueAt } from '../scheduling/waiting.ts';
import type { Pull } from '../hosts/host.ts';
import { endPull } from '../registry/approval/hold.ts';
import { readAmong } from '../registry/read-among.ts';
import { newId, type Registry } from '../registry/registry.ts';
import { longestPause } from './run-check.ts';

/** The records of pull requests in the log: which are wanted, checked, failed or closed. */

/** Changes a saved pull request. What a closed one held is held no more. */
export async function changePull(registry: Registry, key: string, change: Partial<PullCheck>): Promise<void> {
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
export async function savePull(
  registry: Registry,
  { org, id }: { org: string; id: string },
  pull: Pull,
  { isOpen, isPushed }: { isOpen: boolean; isPushed: boolean },
): Promise<string | null> {
  const repository = (await registry.refs.read<Repository>(repositoryRef(org, id)))?.value;
  if (!repository) return null;
  const { number, ref, base: into } = pull;
  if (ref === null) {
    registry.log('info', 'pull request passed over', { org, repository: id, number });
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

/** The saved pull requests below a prefix, by key. */
export async function* listPulls(registry: Registry, prefix: string): AsyncGenerator<[key: string, pull: PullCheck]> {
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
