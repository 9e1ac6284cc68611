import type { Octokit } from '@octokit/rest';
import type { Annotation, Check, CheckState } from '../model/check.ts';
import { ownerOf } from './github-client.ts';
import { linkOf, shorten } from './statuses.ts';

/**
 * GitHub's limits: annotations per request, and characters
 * (https://docs.github.com/rest/checks/runs).
 */
const batch = 50;
const longestText = 65_535;
const longestTitle = 255;
const longestPath = 1024;
/** Nobody reads more. Each batch is a request, and GitHub asks for a second between two writes. */
const maxAnnotations = 500;

const levels = { error: 'failure', warning: 'warning', info: 'notice' } as const;
const statusStates: Record<CheckState, 'pending' | 'success' | 'failure' | 'error'> = {
  running: 'pending',
  waiting: 'pending',
  success: 'success',
  neutral: 'success',
  failure: 'failure',
  cancelled: 'error',
};

/**
 * Reports the check as a check run of the app. Updates the existing run with that name on the
 * commit, unless it has annotations: GitHub only adds to them, so a new run replaces it. An
 * existing run with the same content stays.
 */
export async function writeCheckRun(
  client: Octokit,
  appId: string,
  name: string,
  check: Check,
  signal: AbortSignal,
): Promise<void> {
  const target = { ...ownerOf(name), request: { signal } };
  const { checks } = client.rest;
  const wanted = { ref: check.commit, check_name: check.name, app_id: Number(appId), filter: 'latest' as const };
  const { data } = await checks.listForRef({ ...target, ...wanted, per_page: 1 });
  const existing = data.check_runs[0];
  const annotations = check.annotations.filter(({ path }) => path.length <= longestPath).slice(0, maxAnnotations);
  const output = { title: shorten(check.title || check.name, longestTitle), summary: summaryOf(check, annotations) };
  const { conclusion } = endOf(check.state);
  // A run that somebody asked to repeat is over, and stays as it is; a new one takes its place.
  const isRepeated = check.isAgain === true && existing?.status === 'completed';
  if (existing && !isRepeated) {
    const { title, summary, annotations_count: count } = existing.output;
    const isSaid = existing.conclusion === (conclusion ?? null) && title === output.title && summary === output.summary;
    if (isSaid && count === annotations.length) return;
  }
  let run = !isRepeated && existing?.output.annotations_count === 0 ? existing.id : null;
  const batches = Math.max(1, Math.ceil(annotations.length / batch));
  for (let index = 0; index < batches; index++) {
    // The run completes with its last batch, so a completed run has all annotations.
    const state = index === batches - 1 ? endOf(check.state) : endOf('running');
    const some = annotations.slice(index * batch, (index + 1) * batch).map(toAnnotation);
    const fields = { ...target, ...state, ...linkOf(check, 'details_url'), output: { ...output, annotations: some } };
    const response =
      run === null
        ? await checks.create({ ...fields, name: check.name, head_sha: check.commit })
        : await checks.update({ ...fields, check_run_id: run });
    run = response.data.id;
  }
}

/** Reports the check as a commit status, for tokens and for apps that may not write checks. */
export async function writeStatus(client: Octokit, name: string, check: Check, signal: AbortSignal): Promise<void> {
  await client.rest.repos.createCommitStatus({
    ...ownerOf(name),
    sha: check.commit,
    state: statusStates[check.state],
    context: shorten(check.name, longestTitle),
    description: shorten(check.title, 140),
    ...linkOf(check, 'target_url'),
    request: { signal },
  });
}

type End = { status: 'in_progress'; conclusion?: never } | { status: 'completed'; conclusion: Ended };
type Ended = Exclude<CheckState, 'running' | 'waiting'> | 'action_required';

function endOf(state: CheckState): End {
  if (state === 'running') return { status: 'in_progress' };
  return { status: 'completed', conclusion: state === 'waiting' ? 'action_required' : state };
}

function summaryOf({ summary, annotations }: Check, shown: readonly Annotation[]): string {
  const missing = annotations.length - shown.length;
  const more = missing === 0 ? '' : `\n\n${missing} more findings are not shown here.`;
  return shorten(summary, longestText - more.length) + more;
}

function toAnnotation({ path, line, column, severity, rule, message }: Annotation) {
  return {
    path,
    start_line: line,
    end_line: line,
    start_column: column,
    end_column: column,
    annotation_level: levels[severity],
    title: shorten(rule, longestTitle),
    message: shorten(message || rule, longestText),
  };
}
