import PQueue from 'p-queue';
import type { Check, PullComment } from '../model/check.ts';
import { dueAt } from '../scheduling/waiting.ts';
import { onRefusal } from '../model/errors.ts';
import { repositoryRef, type Repository } from '../model/connection.ts';
import { checksOfDocuments, canReportChecks, mergeChecks } from './checks.ts';
import { hostOf, urlNow } from '../registry/remote.ts';
import { readAmong } from '../registry/stored.ts';
import { newId, type Registry } from '../registry/registry.ts';

/**
 * Checks to report to a git host: the value of one record, saved before the first is sent so that a
 * crash loses none.
 */
interface CheckReport {
  url: string;
  credential: string;
  checks: Check[];
  /** The comment of the pull request that the checks are about. Absent: none. */
  comment?: PullComment;
  state: 'waiting' | 'reported' | 'failed';
  attempts: number;
  /** When to try next. ISO 8601, UTC. A process moves it ahead before it tries, so that only one does. */
  nextAt: string;
  /** Why the report failed, or null. */
  detail: string | null;
}

const minute = 60_000;
/** Milliseconds until the second try: a host that is restarted is back soon. */
const firstPause = 10_000;
const change = { actor: 'operator:hosts', origin: null, action: 'report checks' };
/** Milliseconds that one process may take to report to a host. Hosts ask for slow writes. */
const claim = 15 * minute;
const longestPause = 128 * minute;
const maxAttempts = 14;
/** Milliseconds. A host that did not answer for two days gets no more reports. */
const window = 2 * 24 * 60 * minute;

/** Checks in one report: as many as fit into `claim` when a host wants a second between two writes. */
const batchSize = 50;
const repositoriesAtOnce = 4;

/** Saves checks to be reported to the repository's host; none when that cannot be written to. Sends nothing. */
export async function saveChecks(
  registry: Registry,
  repository: Repository,
  checks: readonly Check[],
  comment: PullComment | null = null,
): Promise<void> {
  const { url, credential, org } = repository;
  if (checks.length === 0 || credential === null || !canReportChecks(registry, repository)) return;
  if (hostOf(registry, url) === null) return;
  const nextAt = registry.now().toISOString();
  const saving = { actor: `sync:${org}`, origin: null, action: 'save checks' };
  for (let start = 0; start < checks.length; start += batchSize) {
    const some = checks.slice(start, start + batchSize);
    const last = start + batchSize >= checks.length && comment !== null ? { comment } : {};
    const fresh = { state: 'waiting', attempts: 0, nextAt, detail: null } as const;
    const value: CheckReport = { url, credential, checks: some, ...last, ...fresh };
    await registry.refs.update<CheckReport>(`checks/${org}/${newId(registry)}`, () => ({ value, change: saving }));
  }
}

/**
 * Saves the checks of the last sync once more, because somebody asked for those of its commit. The
 * documents are not read again: the same commit gives the same result.
 */
export async function saveChecksAgain(registry: Registry, org: string, id: string, commit: string): Promise<void> {
  const repository = (await registry.refs.read<Repository>(repositoryRef(org, id)))?.value;
  if (repository?.commit !== commit) return;
  const documents = Object.entries(repository.documents).flatMap(([path, state]) =>
    state.outcome === 'detached' ? [] : [{ path, ...state, detail: state.detail ?? null }],
  );
  const checks = mergeChecks(await checksOfDocuments(registry, documents, commit));
  await saveChecks(
    registry,
    repository,
    checks.map((check) => ({ ...check, isAgain: true })),
  );
}

/** By organization: names of records that need not be read again. */
const finished = new WeakMap<Registry, Map<string, Set<string>>>();

/**
 * Reports the saved checks that are due, several repositories at once. A failed report is retried
 * by a later call, for two days. Starts nothing more once the signal aborts. Resolves to the milliseconds
 * until another call has something to do, or null.
 */
export async function reportChecks(registry: Registry, org: string, signal?: AbortSignal): Promise<number | null> {
  const finishedHere = finished.getOrInsertComputed(registry, () => new Map<string, Set<string>>());
  const before = finishedHere.get(org) ?? new Set<string>();
  const over = new Set<string>();
  const waiting = new Map<string, { name: string; report: CheckReport }[]>();
  const oldest = registry.now().getTime() - window;
  const after = `checks/${org}/${oldest.toString(36).padStart(9, '0')}`;
  for await (const name of registry.refs.list(`checks/${org}/`, after)) {
    if (before.has(name)) {
      over.add(name);
      continue;
    }
    const report = (await readAmong<CheckReport>(registry, name))?.value;
    if (report?.state !== 'waiting' || !canReportChecks(registry, { org, credential: report.credential }))
      over.add(name);
    else waiting.getOrInsert(report.url, []).push({ name, report });
  }
  finishedHere.set(org, over);
  const queue = new PQueue({ concurrency: repositoriesAtOnce });
  const due = await queue.addAll(
    [...waiting.values()].map((reports) => () => reportInOrder(registry, reports, signal)),
  );
  const next = Math.min(...due.map((at) => at ?? Infinity));
  return next === Infinity ? null : next - registry.now().getTime();
}

/**
 * Reports to the host of one repository, oldest first, and stops at the first failure. Resolves to when the first
 * that is left is due: milliseconds since 1970; null: none is.
 */
async function reportInOrder(
  registry: Registry,
  reports: readonly { name: string; report: CheckReport }[],
  signal: AbortSignal | undefined,
): Promise<number | null> {
  let next: number | null = null;
  const keyOf = ({ commit, name }: Check) => `${commit} ${name}`;
  for (const [index, { name, report }] of reports.entries()) {
    if (signal?.aborted) return null;
    const later = new Set(reports.slice(index + 1).flatMap((each) => each.report.checks.map(keyOf)));
    const isStale = (check: Check) => later.has(keyOf(check));
    const { comment } = report;
    const isReplaced = reports.slice(index + 1).some((each) => each.report.comment?.mark === comment?.mark);
    // A retry may arrive after a newer report. The newest must remain visible.
    if (report.checks.some(isStale) || (comment && isReplaced)) await leaveOut(registry, name, isStale, isReplaced);
    const { isAccepted, again } = await attempt(registry, name, signal);
    if (again !== null) next = Math.min(next ?? Infinity, again);
    if (!isAccepted) break;
  }
  return next;
}

async function leaveOut(
  registry: Registry,
  name: string,
  isStale: (check: Check) => boolean,
  isReplaced: boolean,
): Promise<void> {
  await registry.refs.update<CheckReport>(name, (current) => {
    const { comment, ...value } = current!.value;
    if (value.state !== 'waiting') return null;
    const checks = value.checks.filter((check) => !isStale(check));
    const previous = comment === undefined || isReplaced ? {} : { comment };
    const isEmpty = checks.length === 0 && previous.comment === undefined;
    return { value: { ...value, ...previous, checks, state: isEmpty ? 'reported' : 'waiting' }, change };
  });
}

/**
 * Reports to one host, if the report is due and no other process sends it. `isAccepted`: false when
 * the host did not accept it. `again`: when it is due again, or null.
 */
async function attempt(
  registry: Registry,
  name: string,
  signal: AbortSignal | undefined,
): Promise<{ isAccepted: boolean; again: number | null }> {
  const now = registry.now().getTime();
  let isOurs = false;
  let waits: number | null = null;
  const claimed = await registry.refs.update<CheckReport>(name, (current) => {
    const value = current!.value;
    waits = value.state === 'waiting' ? dueAt(value.nextAt, now, longestPause) : null;
    isOurs = waits !== null && waits <= now;
    if (!isOurs) return null;
    const nextAt = new Date(now + claim).toISOString();
    return { value: { ...value, attempts: value.attempts + 1, nextAt }, change };
  });
  if (!isOurs) return { isAccepted: true, again: waits };
  const detail = await send(registry, name.split('/')[1]!, claimed!.value, signal);
  const isOver = detail !== null && claimed!.value.attempts >= maxAttempts;
  const state = detail === null ? 'reported' : isOver ? 'failed' : 'waiting';
  const pause = Math.min(firstPause * 2 ** (claimed!.value.attempts - 1), longestPause);
  const nextAt = new Date(registry.now().getTime() + pause).toISOString();
  await registry.refs.update<CheckReport>(name, (current) => ({
    value: { ...current!.value, state, nextAt, detail },
    change,
  }));
  if (detail !== null) registry.log('warn', 'checks not reported', { repository: claimed!.value.url, detail, isOver });
  return { isAccepted: detail === null, again: state === 'waiting' ? Date.parse(nextAt) : null };
}

/** Sends the checks. Returns why that failed, or null. */
async function send(
  registry: Registry,
  org: string,
  { url, credential, checks, comment }: CheckReport,
  signal: AbortSignal | undefined,
): Promise<string | null> {
  const found = hostOf(registry, await urlNow(registry, org, url));
  if (found === null) return null;
  const { host, name } = found;
  for (const check of checks) {
    if (signal?.aborted) return 'The registry was shut down. The report is sent after the next start.';
    const refused = onRefusal(null, ({ message }) => message);
    const why = await host.reportCheck({ name, credential }, check).then(() => null, refused);
    if (why !== null) return why;
  }
  if (comment === undefined) return null;
  // A host that does not allow the comment gets the checks all the same.
  const notWritten = onRefusal(null, ({ message: detail }) =>
    registry.log('warn', 'comment not written', { repository: name, number: comment.number, detail }),
  );
  await host.comment?.({ name, credential }, comment).catch(notWritten);
  return null;
}
