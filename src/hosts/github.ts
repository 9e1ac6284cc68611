import { cut } from '../model/escape.ts';
import type { Octokit } from '@octokit/rest';
import type { Annotation, Check, CheckState } from '../model/check.ts';
import { ownerOf, isRefusal, createSpeakers } from './github-client.ts';
import { commentsIn, linkOf, statesOf, issueComments, writeComment } from './comments.ts';
import { inTime, type HostSettings } from './ask.ts';
import type { Host, Delivery, Hint } from './host.ts';
import {
  nameOn,
  commitIn,
  idMember,
  isBranch,
  itemsIn,
  malformedPayload,
  nowMember,
  pullIn,
  readEvent,
  readPayload,
  repositoryIn,
  textAt,
  valueAt,
  behindSha256,
  isHmacOf,
} from './payload.ts';
import { createApiHost, foundOn, listComments, pullOn, type ApiHost } from './api-host.ts';

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
const statusStates = statesOf({
  running: 'pending',
  success: 'success',
  failure: 'failure',
  cancelled: 'error',
} as const);

/**
 * Reports the check as a check run of the app. Updates the existing run with that name on the
 * commit, unless it has annotations: GitHub only adds to them, so a new run replaces it. An
 * existing run with the same content stays.
 */
async function writeCheckRun(
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
  const output = { title: cut(check.title || check.name, longestTitle), summary: summaryOf(check, annotations) };
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
async function writeStatus(client: Octokit, name: string, check: Check, signal: AbortSignal): Promise<void> {
  await client.rest.repos.createCommitStatus({
    ...ownerOf(name),
    sha: check.commit,
    state: statusStates[check.state],
    context: cut(check.name, longestTitle),
    description: cut(check.title, 140),
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
  return cut(summary, longestText - more.length) + more;
}

function toAnnotation({ path, line, column, severity, rule, message }: Annotation) {
  return {
    path,
    start_line: line,
    end_line: line,
    start_column: column,
    end_column: column,
    annotation_level: levels[severity],
    title: cut(rule, longestTitle),
    message: cut(message || rule, longestText),
  };
}

/** Milliseconds that a token must remain valid when git gets it. */
const tokenSpare = 10 * 60_000;

/**
 * github.com or GitHub Enterprise: signed hooks, check runs by an app, statuses of commits by a
 * token.
 */
export function createGitHub(settings: HostSettings): Host {
  const { url, second } = settings;
  const speakers = createSpeakers(settings);
  const host = createApiHost(settings, {
    kind: 'github',
    product: 'GitHub',
    ask: speakers.request,
    isGenuine: ({ headers, body }, secrets) => isHmacOf(behindSha256(headers['x-hub-signature-256']), body, secrets),
    readHint: readGitHubHint,
    nameOf: (repositoryUrl) => nameOn(url, repositoryUrl, false),
    pageIn,
    pullsAt: ({ name }, page) =>
      `/repos/${name}/pulls?state=open&sort=created&direction=desc&per_page=${pageLength}&page=${page}`,
    readPull: pullOn,
    // For an app those that its installation can read, for a token those of the organization; of a user, only the public ones.
    ownedAt({ path, credential }, page) {
      const paging = `per_page=${pageLength}&page=${page}`;
      if (settings.credential(credential)?.kind === 'app') return [`/installation/repositories?${paging}`];
      const name = encodeURIComponent(path);
      return [`/orgs/${name}/repos?type=all&sort=created&${paging}`, `/users/${name}/repos?type=owner&${paging}`];
    },
    pathOf: ({ name }, id) => (id === null ? `/repos/${name}` : `/repositories/${encodeURIComponent(id)}`),
    readRepository: (item) => foundOn(url, item),
    async report(_send, repository, check, signal) {
      const { client, appId } = (await speakers.find(repository, signal))!;
      await speakers.ask(repository, async () => {
        const isWritten =
          appId !== null &&
          (await writeCheckRun(client, appId, repository.name, check, signal).then(() => true, ifNotAllowed));
        if (!isWritten) await writeStatus(client, repository.name, check, signal);
      });
    },
    // An app's findings are annotations of its check runs already.
    async comment(send, repository, comment) {
      const comments = issueComments(repository, comment.number);
      const pathAt = (page: number) => `${comments.path}?per_page=${pageLength}&page=${page}`;
      await writeComment(send, comments, commentsIn(await listComments(send, pageIn, pathAt)), comment);
    },
  });
  return {
    ...host,
    async gitCredential(repository) {
      if (settings.credential(repository.credential)?.kind !== 'app') return null;
      return inTime('GitHub', second, async (signal) => {
        const { client } = (await speakers.find(repository, signal))!;
        const token = await speakers.ask(repository, async () => {
          const auth = (await client.auth({ type: 'installation' })) as Token;
          if (Date.parse(auth.expiresAt) - Date.now() > tokenSpare) return auth.token;
          return ((await client.auth({ type: 'installation', refresh: true })) as Token).token;
        });
        return { kind: 'token', username: 'x-access-token', token };
      });
    },
  };
}

const pageLength = 100;

/** An installation's repositories come in an object. */
const pageIn: ApiHost['pageIn'] = ({ json }, page) => {
  const list = Array.isArray(json) ? json : valueAt(json, 'repositories');
  return { list, next: itemsIn(list).length < pageLength ? null : page + 1 };
};

interface Token {
  token: string;
  expiresAt: string;
}

/** False when checks are not allowed, so that a status can be tried. Rethrows other errors. */
function ifNotAllowed(error: unknown): false {
  if (isRefusal(error)) return false;
  throw error;
}

/** Actions after which a pull request must be checked. `edited` may change its base branch. */
const opening = ['opened', 'reopened', 'synchronize', 'edited', 'ready_for_review'];

/** Parses a delivery of GitHub (https://docs.github.com/webhooks/webhook-events-and-payloads). */
function readGitHubHint(delivery: Delivery): Hint {
  const event = readEvent(delivery, 'x-github-event');
  const payload = readPayload(jsonOf(delivery));
  const id = idMember(valueAt(payload, 'repository', 'id'));
  const name = textAt(payload, 'repository', 'full_name');
  if (event === 'push' || event === 'create' || event === 'delete')
    return { kind: 'push', repository: repositoryIn(name), ...id };
  if (event === 'repository') {
    const repository = repositoryIn(formerName(payload));
    return { kind: 'repository', repository, ...id, ...nowMember(repository, name) };
  }
  if (event === 'installation_repositories') return installed(event, payload);
  const action = textAt(payload, 'action') ?? '';
  if (event === 'merge_group') return readGroup(payload, action);
  if ((event === 'check_run' || event === 'check_suite') && action === 'rerequested') {
    const commit = commitIn(textAt(payload, event, 'head_sha'));
    return { kind: 'again', repository: repositoryIn(name), commit };
  }
  const isOpen = opening.includes(action);
  if (event !== 'pull_request' || !(isOpen || action === 'closed')) return { kind: 'nothing', event };
  const pull = pullIn(pullOn(valueAt(payload, 'pull_request')));
  return { kind: 'pull', repository: repositoryIn(name), ...id, pull, isOpen };
}

/** Repositories were added to an app or removed. One of them stands for all of their owner's. */
function installed(event: string, payload: object): Hint {
  const lists = [valueAt(payload, 'repositories_added'), valueAt(payload, 'repositories_removed')];
  const [first] = lists.flatMap((list) => (Array.isArray(list) ? (list as unknown[]) : []));
  if (first === undefined) return { kind: 'nothing', event };
  return { kind: 'repository', repository: repositoryIn(textAt(first, 'full_name')) };
}

/** A merge queue's group: a branch of the repository's own, with the changes merged already. */
function readGroup(payload: object, action: string): Hint {
  const [ref, base] = ['head_ref', 'base_ref'].map((name) => textAt(payload, 'merge_group', name));
  const target = base?.replace(/^refs\/heads\//, '');
  const isBoth = ref?.startsWith('refs/heads/') && isBranch(ref.slice('refs/heads/'.length)) && isBranch(target);
  if (!isBoth) throw malformedPayload('it does not describe a merge group');
  const repository = repositoryIn(textAt(payload, 'repository', 'full_name'));
  return { kind: 'pull', repository, pull: { number: null, base: target!, ref: ref! }, isOpen: action !== 'destroyed' };
}

/** The JSON payload. A hook may send it as a form field. */
function jsonOf({ headers, body }: Delivery): Uint8Array {
  if (!/^application\/x-www-form-urlencoded\b/i.test(headers['content-type'] ?? '')) return body;
  return Buffer.from(new URLSearchParams(Buffer.from(body).toString()).get('payload') ?? '');
}

/** The name before a rename or transfer, because the repository may be followed under it. */
function formerName(payload: object): string | null {
  const name = textAt(payload, 'repository', 'full_name');
  const [owner, own] = name?.split('/') ?? [];
  const from = ['user', 'organization'].map((kind) => textAt(payload, 'changes', 'owner', 'from', kind, 'login'));
  const formerOwner = from.find((login) => login !== null);
  const formerOwn = textAt(payload, 'changes', 'repository', 'name', 'from');
  return name === null ? null : `${formerOwner ?? owner}/${formerOwn ?? own}`;
}
