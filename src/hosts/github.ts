import type { Octokit } from '@octokit/rest';
import type { Annotation, Check, CheckState, PullComment } from '../model/check.ts';
import { ownerOf, isRefusal, createSpeakers, type Speakers } from './github-client.ts';
import { linkOf, shorten, writeComment } from './comments.ts';
import { inTime, listPages, readPages, type HostSettings } from './ask.ts';
import type { Host, Delivery, Hint, FoundRepositories, FoundRepository, HostOwner, HostRepository } from './host.ts';
import { createInOrder } from '../scheduling/turns.ts';
import {
  nameOn,
  asPull,
  commitIn,
  idMember,
  isBranch,
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
import { asRepository, foundOn, listOwned, maxCommentPages, repositoriesIn } from './token-host.ts';

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
async function writeStatus(client: Octokit, name: string, check: Check, signal: AbortSignal): Promise<void> {
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

/** Milliseconds that a token must remain valid when git gets it. */
const tokenSpare = 10 * 60_000;

/**
 * github.com or GitHub Enterprise: signed hooks, check runs by an app, statuses of commits by a
 * token.
 */
export function createGitHub(settings: HostSettings): Host {
  const { url, second } = settings;
  const speakers = createSpeakers(settings);
  const inOrder = createInOrder();
  return {
    kind: 'github',
    name: settings.name,
    isGenuine: ({ headers, body }, secrets) => isHmacOf(behindSha256(headers['x-hub-signature-256']), body, secrets),
    readHint: readGitHubHint,
    nameOf: (repositoryUrl) => nameOn(url, repositoryUrl, false),
    listPulls: (repository) =>
      inTime('GitHub', second, async (signal) => {
        const speaker = await speakers.find(repository, signal);
        const client = speaker?.client ?? (await speakers.nobody());
        const asked = { ...ownerOf(repository.name), state: 'open', sort: 'created', direction: 'desc' } as const;
        return listPages(async (page) => {
          const { data } = await speakers.ask(repository, () =>
            client.rest.pulls.list({ ...asked, per_page: 100, page, request: { signal } }),
          );
          const refOf = (number: number) => `refs/pull/${number}/head`;
          const items = data.map(({ number, base }) => asPull(number, base.ref, refOf));
          return { items, next: data.length < 100 ? null : page + 1 };
        });
      }),
    listRepositories: (owner) =>
      inTime('GitHub', second, (signal) => listGitHubRepositories(speakers, url, owner, signal)),
    findRepository: (repository, id) =>
      inTime('GitHub', second, (signal) => findGitHubRepository(speakers, url, repository, id, signal)),
    reportCheck: (repository, check) =>
      inOrder(`${repository.name} ${check.commit} ${check.name}`, () =>
        inTime('GitHub', second, async (signal) => {
          const speaker = await speakers.find(repository, signal);
          if (speaker === null) return;
          const { client, appId } = speaker;
          await speakers.ask(repository, async () => {
            const isWritten =
              appId !== null &&
              (await writeCheckRun(client, appId, repository.name, check, signal).then(() => true, ifNotAllowed));
            if (!isWritten) await writeStatus(client, repository.name, check, signal);
          });
        }),
      ),
    comment: (repository, comment) =>
      inOrder(`${repository.name} #${comment.number}`, () =>
        inTime('GitHub', second, async (signal) => {
          const speaker = await speakers.find(repository, signal);
          if (speaker === null) return;
          await speakers.ask(repository, () => commentOnPull(speaker.client, repository.name, comment, signal));
        }),
      ),
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
  return {
    kind: 'pull',
    repository: repositoryIn(name),
    ...id,
    pull: pullIn(
      valueAt(payload, 'number'),
      valueAt(payload, 'pull_request', 'base', 'ref'),
      (number) => `refs/pull/${number}/head`,
    ),
    isOpen,
  };
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

const pageLength = 100;

/**
 * The repositories of an organization or user on GitHub: for an app those that its installation can
 * read, for a token those of the organization; of a user, only the public ones.
 */
async function listGitHubRepositories(
  speakers: Speakers,
  url: string,
  owner: HostOwner,
  signal: AbortSignal,
): Promise<FoundRepositories> {
  const asked = asRepository(owner);
  const speaker = await speakers.find(asked, signal);
  const { rest } = speaker?.client ?? (await speakers.nobody());
  const request = { signal };
  let isUser = false;

  async function pageOf(page: number): Promise<unknown> {
    const paging = { per_page: pageLength, page, request };
    if (speaker !== null && speaker.appId !== null)
      return valueAt((await rest.apps.listReposAccessibleToInstallation(paging)).data, 'repositories');
    const byUser = async () => (await rest.repos.listForUser({ ...paging, username: owner.path, type: 'owner' })).data;
    if (isUser) return byUser();
    try {
      return (await rest.repos.listForOrg({ ...paging, org: owner.path, type: 'all', sort: 'created' })).data;
    } catch (error) {
      if (!isRefusal(error) || (error as { status: number }).status !== 404) throw error;
      isUser = true;
      return byUser();
    }
  }

  return listOwned(async (page) => {
    const items = repositoriesIn('GitHub', await speakers.ask(asked, () => pageOf(page)));
    return { items: items.map((item) => foundOn(url, item)), next: items.length < pageLength ? null : page + 1 };
  });
}

/** One repository on GitHub, by its id or else by its name. Null where there is none that the credential can see. */
async function findGitHubRepository(
  speakers: Speakers,
  url: string,
  repository: HostRepository,
  id: string | null,
  signal: AbortSignal,
): Promise<FoundRepository | null> {
  const { owner, repo } = ownerOf(repository.name);
  // The installation of an app is looked for by the owner's name: that of the repository may be a former one.
  const speaker = await speakers.find({ ...repository, name: `${owner}/*` }, signal);
  const client = speaker?.client ?? (await speakers.nobody());
  const item = await speakers.ask(repository, async () => {
    try {
      const path = id === null ? 'GET /repos/{owner}/{repo}' : 'GET /repositories/{id}';
      return (await client.request(path, { id, owner, repo, request: { signal } })).data as unknown;
    } catch (error) {
      if ([404, 410].includes((error as { status?: number }).status!)) return null;
      throw error;
    }
  });
  return item === null ? null : foundOn(url, item);
}

/**
 * Writes the comment of a pull request (https://docs.github.com/rest/issues/comments). An app's
 * findings are annotations of its check runs already.
 */
async function commentOnPull(client: Octokit, name: string, comment: PullComment, signal: AbortSignal): Promise<void> {
  const target = { ...ownerOf(name), request: { signal } };
  const { issues } = client.rest;
  const { items: existing } = await readPages(Infinity, maxCommentPages, async (page) => {
    const { data } = await issues.listComments({ ...target, issue_number: comment.number, per_page: 100, page });
    const items = data.map(({ id, body }) => ({ id, text: body ?? '' }));
    return { items, next: data.length < 100 ? null : page + 1 };
  });
  const comments = {
    create: (body: string) => issues.createComment({ ...target, issue_number: comment.number, body }),
    update: (id: number, body: string) => issues.updateComment({ ...target, comment_id: id, body }),
  };
  await writeComment(comments, existing, comment);
}
