import { digestOf } from '../model/digest.ts';
import { isRegistryError, type ErrorCode } from '../model/errors.ts';
import type { Check, CheckState, PullCheck, PullComment } from '../model/check.ts';
import type { Repository } from '../model/connection.ts';
import { endPull, hold } from '../registry/approval/hold.ts';
import { hostOf } from '../registry/remote.ts';
import type { Registry } from '../registry/registry.ts';
import {
  concludeChecks,
  canReportChecks,
  plain,
  plainCheck,
  wholeCheck,
  wholeOf,
  code,
  checkSigns,
} from '../sync/checks.ts';
import { newRun } from '../sync/runs.ts';
import { saveChecks } from '../sync/report-checks.ts';
import { checkPull, type CheckedPull, type Proposal, linkPreviews } from './check-pull.ts';

/** The most documents and findings that the comment shows, and findings that are shown at their lines. */
const limits = { documents: 20, findings: 20, notes: 50 };

/**
 * The comment of a pull request: the result of each check, and the first findings. `about`: the
 * check of the repository as a whole. Null for a group of a merge queue, which has no comments.
 */
export function commentOf(
  { number, mark }: Pick<PullCheck, 'number' | 'mark'>,
  commit: string,
  checks: readonly Check[],
  about: Check | null = null,
): PullComment | null {
  if (number === null || mark === undefined) return null;
  const whole = checks.find(({ name }) => name === wholeCheck);
  const documentChecks = checks.filter(({ name }) => name !== wholeCheck);
  const shown = documentChecks.slice(0, limits.documents);
  const rest =
    documentChecks.length > shown.length ? [`… and ${documentChecks.length - shown.length} more documents.`] : [];
  const text = [
    `### Stele: ${plain(whole?.title ?? 'Checked')}`,
    ...(documentChecks.length === 0 ? [whole?.summary ?? ''] : [about?.summary ?? '']).filter((part) => part !== ''),
    ...shown.flatMap(describe),
    ...rest,
    `For commit ${commit.slice(0, 12)}. Merging publishes; this check published nothing.`,
  ].join('\n\n');
  const notes = checks.flatMap(({ annotations }) => annotations).slice(0, limits.notes);
  return { number, commit, mark, text, notes, isOnlyEdit: documentChecks.length === 0 && whole?.state === 'success' };
}

function describe({ name, state, title, summary, annotations, url }: Check): string[] {
  const resource = name.slice(wholeCheck.length + 1);
  const linked = url === null ? code(resource) : `[${code(resource)}](${url})`;
  const unsaid = annotations.filter(({ message }) => !summary.includes(plain(message)));
  const findings = unsaid
    .slice(0, limits.findings)
    .map(({ path, line, rule, message }) => `- ${code(`${path}:${line}`)} ${code(rule)} ${plain(message)}`);
  const rest = unsaid.length - findings.length;
  // A heading, since Markdown would continue the list of changes.
  const list = [`**Findings: ${unsaid.length}**`, '', ...findings, ...(rest > 0 ? [`- … and ${rest} more`] : [])];
  const listed = unsaid.length === 0 ? [] : [list.join('\n')];
  return [`#### ${checkSigns[state]} ${linked}: ${plain(title)}`, summary, ...listed];
}

/** When to stop a check. */
export interface Stopping {
  /** Aborts when a newer head is checked. */
  superseded: AbortSignal;
  /** Aborts when the registry shuts down. */
  closing: AbortSignal;
  /** Milliseconds that the check may take. */
  patience: number;
}

const minute = 60_000;
/** Milliseconds until the first retry, which doubles. */
export const firstPause = 10_000;
/** Milliseconds between two checks of a head that failed. */
export const longestPause = 1024 * minute;
/** Errors that a retry of the same commit may not meet again. */
const passing: readonly ErrorCode[] = ['unreachable', 'unavailable', 'outcome_unknown'];

/**
 * Checks a pull request and saves what to report to its host. Returns what to record about it, or
 * null when the check was stopped. The same result for the same head is not reported twice, unless
 * somebody asked for it again.
 */
export async function runCheck(
  registry: Registry,
  pull: PullCheck,
  repository: Repository,
  proposal: Proposal,
  { superseded, closing, patience }: Stopping,
): Promise<Partial<PullCheck> | null> {
  const { head, base } = proposal;
  const run = newRun(registry, repository, pull.repository, 'hook');
  const late = AbortSignal.timeout(patience);
  const signal = AbortSignal.any([superseded, closing, late]);
  const isSame = pull.head === head;
  const isKnown = isSame && pull.isAgain !== true;
  // Whoever asked for the check again sees that it was repeated.
  const isAgain = isSame && !isKnown ? ({ isAgain: true } as const) : {};

  /** Saves the checks and the comment, unless they were reported before. */
  async function save(
    checks: readonly Check[],
    withdrawn: readonly Check[] = [],
    previews: CheckedPull['previews'] = new Map(),
    about: Check | null = null,
  ): Promise<Partial<PullCheck>> {
    const reported = digestOf(JSON.stringify(checks));
    if (!isKnown || reported !== pull.reported) {
      const links = await linkPreviews(registry, repository.org, checks, previews);
      const comment = registry.config.pulls.comments ? commentOf(pull, head, links, about) : null;
      const all = [...withdrawn, ...links].map((each) => ({ ...each, ...isAgain }));
      await saveChecks(registry, repository, all, comment);
    }
    return { head, base, reported, isAgain: false };
  }

  try {
    signal.throwIfAborted();
    // The result of an earlier check stands until another one is known.
    if (!isKnown) {
      const checking = { ...wholeCheckOf(head, 'running', 'Checking'), ...isAgain };
      reportNow(registry, repository, checking).catch((error: unknown) => {
        registry.log('info', 'checks not reported', { repository: repository.url, error: String(error) });
      });
    }
    const { checks, previews, held, stopped } = await checkPull(registry, repository, proposal, run, signal);
    if (pull.number !== null)
      for (const each of held) await hold(registry, each.coordinate, `pull ${pull.number}`, each.held);
    await endPull(
      registry,
      repository,
      pull.number,
      held.map(({ coordinate }) => coordinate),
    );
    const conclusion = concludeChecks(checks, head);
    const names = conclusion.map(({ name }) => name);
    const withdrawn = isSame ? pull.checks.filter((name) => !names.includes(name)) : [];
    const saved = await save(
      conclusion,
      withdrawn.map((name) => (stopped ? { ...stopped, name, state: 'neutral' } : withdrawnCheck(head, name))),
      previews,
      wholeOf(checks),
    );
    return { ...saved, state: 'checked', checks: names, detail: null, tries: 0 };
  } catch (error) {
    if (closing.aborted) return null; // the next start resumes it
    if (superseded.aborted) {
      await saveChecks(registry, repository, [wholeCheckOf(head, 'cancelled', 'A newer commit is checked')]);
      return null;
    }
    const isUnexpected = !late.aborted && !isRegistryError(error);
    if (isUnexpected) registry.log('warn', 'check of a pull request failed', { head, error: traceOf(error) });
    const detail = late.aborted
      ? `The check took longer than ${Math.ceil(patience / minute)} minutes and was stopped. It is repeated later.`
      : explain(error);
    const saved = await save([wholeCheckOf(head, 'failure', detail)]);
    const checks = isSame ? [...new Set([...pull.checks, wholeCheck])] : [wholeCheck];
    const next =
      late.aborted || mayPass(error)
        ? later(registry, pull, head, late.aborted ? 60 * firstPause : firstPause)
        : ({ state: 'checked', tries: 0 } as const);
    return { ...saved, ...next, checks, detail };
  }
}

/**
 * Says of a pull request into a branch that is not followed that it is not checked, in the checks that
 * it got for another branch. Returns what to record about it, or null when that is recorded.
 */
export async function passOver(
  registry: Registry,
  { into, head, checks, state, detail }: PullCheck,
  repository: Repository,
  followed: string,
): Promise<Partial<PullCheck> | null> {
  const why = `This pull request is into ${into}. Stele publishes from ${followed}, so merging publishes nothing.`;
  if (state === 'checked' && head === null && detail === why) return null;
  const withdrawn =
    head === null ? [] : checks.map((name) => plainCheck(head, name, 'neutral', 'Not checked', plain(why)));
  if (withdrawn.length > 0) await saveChecks(registry, repository, withdrawn);
  return { state: 'checked', head: null, checks: [], detail: why };
}

/** Whether the same check may succeed later. */
export function mayPass(error: unknown): boolean {
  return isRegistryError(error) && passing.includes(error.code);
}

/** `first`: milliseconds until the first retry. */
function later(registry: Registry, pull: PullCheck, head: string, first: number): Partial<PullCheck> {
  const tries = pull.head === head ? (pull.tries ?? 0) + 1 : 1;
  const pause = Math.min(first * 2 ** (tries - 1), longestPause);
  const nextAt = new Date(registry.now().getTime() + pause).toISOString();
  return { state: 'failed', tries, nextAt };
}

function traceOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

function wholeCheckOf(commit: string, state: CheckState, title: string): Check {
  return plainCheck(commit, wholeCheck, state, title, plain(title));
}

/** For a document that the pull request changed against an earlier state of the target branch. */
function withdrawnCheck(commit: string, name: string): Check {
  const why = 'The target branch has moved, and merging this pull request no longer changes this document.';
  return plainCheck(commit, name, 'neutral', 'Not changed any more', plain(why));
}

function explain(error: unknown): string {
  return isRegistryError(error) ? error.message : "An unexpected error occurred. See the server's log.";
}

async function reportNow(registry: Registry, repository: Repository, check: Check): Promise<void> {
  const host = canReportChecks(registry, repository) ? hostOf(registry, repository.url) : null;
  await host?.host.reportCheck({ name: host.name, credential: repository.credential }, check);
}
