import { cut } from '../model/escape.ts';
import type { Check, PullComment } from '../model/check.ts';
import { type Send, bearerOrBasic, createAsk, type HostSettings } from './ask.ts';
import { writeComment, statesOf, shortName } from './comments.ts';
import type { HostRepository, Delivery, FoundRepository, Hint, Host } from './host.ts';
import {
  textAt,
  valueAt,
  nameOn,
  asPull,
  idMember,
  isBranch,
  nowMember,
  pullIn,
  readEvent,
  readPayload,
  repositoryIn,
  behindSha256,
  isHmacOf,
} from './payload.ts';
import { asFound, createApiHost, isGone, listComments, type ApiHost } from './api-host.ts';
import { isRegistryError } from '../model/errors.ts';

/** What Bitbucket takes: annotations in a request, and in all. */
const batch = 100;
const maxAnnotations = 1000;
const severities = { error: 'HIGH', warning: 'MEDIUM', info: 'LOW' } as const;

/**
 * Writes the findings of a check as a Code Insights report with annotations
 * (https://developer.atlassian.com/cloud/bitbucket/rest/api-group-reports/). A check that ended
 * without findings deletes the report: Bitbucket only adds annotations to it.
 */
async function writeReport(send: Send, { name }: HostRepository, check: Check): Promise<void> {
  if (check.state === 'running') return;
  const id = encodeURIComponent(shortName(check.name.replace(/[^A-Za-z0-9-]+/g, '-'), 50));
  const path = `/repositories/${name}/commit/${check.commit}/reports/${id}`;
  await send({ method: 'DELETE', path, isDone: isGone });
  const annotations = check.annotations.slice(0, maxAnnotations);
  if (annotations.length === 0) return;
  const report = {
    title: cut(check.name, 450),
    details: cut(check.title, 2000),
    report_type: 'TEST',
    reporter: 'Stele',
    result: check.state === 'failure' || check.state === 'waiting' ? 'FAILED' : 'PASSED',
    ...(check.url !== null && { link: check.url }),
  };
  await send({ method: 'PUT', path, body: report });
  for (let start = 0; start < annotations.length; start += batch) {
    const body = annotations
      .slice(start, start + batch)
      .map((each, index) => ({
        external_id: `stele-${start + index}`,
        annotation_type: 'CODE_SMELL',
        path: each.path,
        line: each.line,
        summary: cut(each.message || each.rule, 450),
        details: cut(each.rule, 2000),
        severity: severities[each.severity],
      }));
    await send({ method: 'POST', path: `${path}/annotations`, body });
  }
}

/** Writes the comment of a pull request. Its findings are annotations of the commit already. */
async function commentOnPull(send: Send, { name }: HostRepository, comment: PullComment): Promise<void> {
  const path = `/repositories/${name}/pullrequests/${comment.number}/comments`;
  const items = await listComments(send, pageIn, (page) => `${path}?pagelen=100&page=${page}`);
  const existing = items.flatMap((item) => {
    const [id, text] = [valueAt(item, 'id'), textAt(item, 'content', 'raw')];
    return typeof id === 'number' && text !== null && valueAt(item, 'deleted') !== true ? [{ id, text }] : [];
  });
  const bodyOf = (raw: string) => ({ content: { raw } });
  await writeComment(send, { path, pathOf: (id) => `${path}/${id}`, edits: 'PUT', bodyOf }, existing, comment);
}

const pageIn: ApiHost['pageIn'] = ({ json }, page) => ({
  list: valueAt(json, 'values'),
  next: valueAt(json, 'next') === undefined ? null : page + 1,
});

/** https://developer.atlassian.com/cloud/bitbucket/rest/api-group-commit-statuses/ */
const states = statesOf({ running: 'INPROGRESS', success: 'SUCCESSFUL', failure: 'FAILED', cancelled: 'STOPPED' });

/** Bitbucket Cloud: signed hooks and build statuses of commits. */
export function createBitbucket(settings: HostSettings): Host {
  const { url } = settings;
  return createApiHost(settings, {
    kind: 'bitbucket',
    product: 'Bitbucket',
    ask: createAsk('Bitbucket', settings, bearerOrBasic),
    isGenuine: ({ headers, body }, secrets) => isHmacOf(behindSha256(headers['x-hub-signature']), body, secrets),
    readHint,
    nameOf: (repositoryUrl) => nameOn(url, repositoryUrl, false),
    pageIn,
    pullsAt: ({ name }, page) =>
      `/repositories/${name}/pullrequests?state=OPEN&sort=-created_on&pagelen=50&page=${page}`,
    readPull,
    ownedAt: ({ path }, page) => [`/repositories/${encodeURIComponent(path)}?sort=created_on&pagelen=100&page=${page}`],
    // A uuid needs no workspace, whose place must not be empty.
    pathOf: ({ name }, id) => `/repositories/${id === null ? name : `%7B%7D/${encodeURIComponent(id)}`}`,
    readRepository: (item) => foundIn(url, item),
    async report(send, repository, check) {
      // A credential that may not write reports still writes statuses.
      await writeReport(send, repository, check).catch((error: unknown) => {
        if (!isRegistryError(error, 'unreachable')) throw error;
      });
      const body = {
        key: shortName(check.name, 40),
        state: states[check.state],
        name: cut(check.name, 255),
        description: cut(check.title, 255),
        // Bitbucket requires a link.
        url: check.url ?? `${url}/${repository.name}/commits/${check.commit}`,
      };
      const path = `/repositories/${repository.name}/commit/${check.commit}/statuses/build`;
      await send({ method: 'POST', path, body });
    },
    comment: commentOnPull,
  });
}

/** Bitbucket archives nothing. */
function foundIn(url: string, item: unknown): FoundRepository | null {
  const clone = `${url}/${textAt(item, 'full_name')}.git`;
  const isFork = (valueAt(item, 'parent') ?? null) !== null;
  const about = { id: valueAt(item, 'uuid'), isArchived: false, isFork, isPrivate: valueAt(item, 'is_private') };
  return asFound(clone, nameOn(url, clone, false), about);
}

const readPull = (pull: unknown) =>
  asPull(valueAt(pull, 'id'), valueAt(pull, 'destination', 'branch', 'name'), () => refOf(pull));

/**
 * The ref of a pull request's head. Bitbucket has refs only for branches of the same repository,
 * not for forks.
 */
function refOf(pull: unknown): string | null {
  const [from, to] = ['source', 'destination'].map((side) =>
    textAt(pull, side, 'repository', 'full_name')?.toLowerCase(),
  );
  const branch = valueAt(pull, 'source', 'branch', 'name');
  return from !== undefined && from === to && isBranch(branch) ? `refs/heads/${branch}` : null;
}

/**
 * Parses a delivery of Bitbucket
 * (https://support.atlassian.com/bitbucket-cloud/docs/event-payloads/).
 */
function readHint(delivery: Delivery): Hint {
  const event = readEvent(delivery, 'x-event-key');
  const payload = readPayload(delivery.body);
  const name = textAt(payload, 'repository', 'full_name');
  const id = idMember(valueAt(payload, 'repository', 'uuid'));
  if (event === 'repo:push') return { kind: 'push', repository: repositoryIn(name), ...id };
  if (event === 'repo:created' || event === 'repo:deleted')
    return { kind: 'repository', repository: repositoryIn(name), ...id };
  // The repository may be followed under its old name.
  if (event === 'repo:updated' || event === 'repo:transfer') {
    const repository = repositoryIn(textAt(payload, 'changes', 'full_name', 'old') ?? name);
    return { kind: 'repository', repository, ...id, ...nowMember(repository, name) };
  }
  const isOpen = event === 'pullrequest:created' || event === 'pullrequest:updated';
  if (!isOpen && event !== 'pullrequest:fulfilled' && event !== 'pullrequest:rejected')
    return { kind: 'nothing', event };
  const pull = pullIn(readPull(valueAt(payload, 'pullrequest')));
  return { kind: 'pull', repository: repositoryIn(name), ...id, pull, isOpen };
}
