import { cut } from '../model/escape.ts';
import type { Annotation, PullComment } from '../model/check.ts';
import { createAsk, type Send, type HostSettings } from './ask.ts';
import {
  isNote,
  marked,
  noteMark,
  noteText,
  writeComment,
  commentsIn,
  linkOf,
  statesOf,
  shortName,
} from './comments.ts';
import type { HostRepository, Delivery, FoundRepository, Hint, Host } from './host.ts';
import {
  textAt,
  nameOn,
  asPull,
  idMember,
  nowMember,
  pullIn,
  readEvent,
  readPayload,
  repositoryIn,
  valueAt,
  fitsSome,
  hmacOf,
  isOneOf,
} from './payload.ts';
import { timingSafeEqual } from 'node:crypto';
import { asFound, createApiHost, isGone, listComments, type ApiHost } from './api-host.ts';

/**
 * Writes the comment of a merge request as a note, and its findings as discussions at their lines
 * (https://docs.gitlab.com/api/notes/, https://docs.gitlab.com/api/discussions/).
 */
async function commentOnMergeRequest(send: Send, { name }: HostRepository, comment: PullComment): Promise<void> {
  const request = `/projects/${encodeURIComponent(name)}/merge_requests/${comment.number}`;
  const path = `${request}/notes`;
  const pathAt = (page: number) => `${path}?sort=asc&order_by=created_at&per_page=100&page=${page}`;
  const existing = commentsIn(await listComments(send, pageIn, pathAt));
  const [earlier = [], others = []] = [true, false].map((is) =>
    existing.filter((each) => isNote(each, comment.mark) === is),
  );
  await writeComment(send, { path, pathOf: (id) => `${path}/${id}`, edits: 'PUT' }, others, comment);
  const wanted = new Map(comment.notes.map((note) => [noteMark(comment.mark, [note]), note]));
  for (const { id, text } of earlier) {
    const mark = [...wanted.keys()].find((each) => text.includes(each));
    if (mark !== undefined) wanted.delete(mark);
    else await send({ method: 'DELETE', path: `${path}/${id}`, isDone: isGone });
  }
  if (wanted.size === 0) return;
  const { json } = await send({ method: 'GET', path: request });
  const refs = (sha: string) => textAt(json, 'diff_refs', sha);
  // Somebody pushed meanwhile: the check of the newer head writes the notes.
  if (refs('head_sha') !== comment.commit) return;
  const shas = { base_sha: refs('base_sha'), start_sha: refs('start_sha'), head_sha: refs('head_sha') };
  for (const [mark, note] of wanted) {
    const body = { body: marked(noteText(note), mark), position: { ...shas, ...positionOf(note) } };
    await send({ method: 'POST', path: `${request}/discussions`, body, isDone: isOutside });
  }
}

function positionOf({ path, line }: Annotation): object {
  return { position_type: 'text', old_path: path, new_path: path, new_line: line };
}

/** GitLab takes only lines of the diff. */
const isOutside = (status: number) => status === 400;

/** https://docs.gitlab.com/api/commits/#set-commit-pipeline-status */
const states = statesOf({
  running: 'running',
  waiting: 'failed',
  success: 'success',
  failure: 'failed',
  cancelled: 'canceled',
});

/** The hooks that Stele handles, by the value of their header. */
const events = new Map([
  ['Push Hook', 'push'],
  ['Tag Push Hook', 'tag_push'],
  ['Merge Request Hook', 'merge_request'],
]);

/** Seconds for which a signed delivery is valid (Standard Webhooks). */
const tolerance = 5 * 60;

/**
 * gitlab.com or a GitLab server: hooks of projects and groups, system hooks, statuses of commits.
 */
export function createGitLab(settings: HostSettings): Host {
  const { url } = settings;
  return createApiHost(settings, {
    kind: 'gitlab',
    product: 'GitLab',
    ask: createAsk('GitLab', settings, ({ token }) => `Bearer ${token}`),
    // A hook may have a secret token, a signing token, or both.
    isGenuine: async (delivery, secrets, now) => hasToken(delivery, secrets) || isSigned(delivery, secrets, now),
    readHint,
    nameOf: (repositoryUrl) => nameOn(url, repositoryUrl, true),
    pageIn,
    pullsAt({ name }, page) {
      const query = `state=opened&order_by=created_at&sort=desc&per_page=100&page=${page}`;
      return `/projects/${encodeURIComponent(name)}/merge_requests?${query}`;
    },
    readPull,
    ownedAt({ path, isDeep }, page) {
      const query = `include_subgroups=${isDeep}&with_shared=false&order_by=id&sort=asc&per_page=100&page=${page}`;
      return ['groups', 'users'].map((kind) => `/${kind}/${encodeURIComponent(path)}/projects?${query}`);
    },
    pathOf: ({ name }, id) => `/projects/${encodeURIComponent(id ?? name)}`,
    readRepository: (item) => foundIn(url, item),
    report(send, repository, check) {
      const path = `/projects/${encodeURIComponent(repository.name)}/statuses/${check.commit}`;
      const body = {
        state: states[check.state],
        name: shortName(check.name, 255),
        description: cut(check.title, 255),
        ...linkOf(check, 'target_url'),
      };
      // GitLab rejects a repeated `running` status.
      const isDone = (status: number, text: string) => status === 400 && text.includes('Cannot transition status');
      return send({ method: 'POST', path, body, isDone });
    },
    comment: commentOnMergeRequest,
  });
}

function foundIn(url: string, item: unknown): FoundRepository | null {
  const clone = `${url}/${textAt(item, 'path_with_namespace')}.git`;
  // A project that is marked for deletion counts as archived.
  const isArchived = valueAt(item, 'archived') === true || textAt(item, 'marked_for_deletion_on') !== null;
  const isFork = (valueAt(item, 'forked_from_project') ?? null) !== null;
  const visibility = textAt(item, 'visibility');
  const isPrivate = visibility === null ? undefined : visibility !== 'public';
  return asFound(clone, nameOn(url, clone, true), { id: valueAt(item, 'id'), isArchived, isFork, isPrivate });
}

const pageIn: ApiHost['pageIn'] = ({ json, headers }, page) => ({
  list: json,
  next: (headers.get('x-next-page') ?? '') === '' ? null : page + 1,
});

const readPull = (request: unknown) =>
  asPull(valueAt(request, 'iid'), valueAt(request, 'target_branch'), (number) => `refs/merge-requests/${number}/head`);

/** `X-Gitlab-Token` is the secret itself. */
function hasToken({ headers }: Delivery, secrets: readonly string[]): boolean {
  const token = headers['x-gitlab-token'];
  return token !== undefined && isOneOf(token, secrets);
}

/**
 * Verifies a Standard Webhooks signature. Their library is not used: it decodes the body to text
 * first, which makes invalid UTF-8 equal, and it reads the system clock.
 */
async function isSigned({ headers, body }: Delivery, secrets: readonly string[], now: Date): Promise<boolean> {
  const [id, timestamp, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map(
    (field) => headers[field],
  );
  if (!id || !signatures || !/^\d{1,12}$/.test(timestamp ?? '')) return false;
  if (Math.abs(now.getTime() / 1000 - Number(timestamp)) > tolerance) return false;
  if (!/^v\d+[a-z]*,\S*[^\s,](?: v\d+[a-z]*,\S*[^\s,])*$/.test(signatures)) return false;
  const given = signatures.split(' ').flatMap((text) => {
    const signature = Buffer.from(/^v1,([A-Za-z0-9+/]{43}=)$/.exec(text)?.[1] ?? '', 'base64');
    return signature.byteLength === 32 ? [signature] : [];
  });
  return fitsSome(secrets, async (secret) => {
    const key = Buffer.from(/^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret)?.[1] ?? '', 'base64');
    if (key.byteLength === 0) return false;
    const right = await hmacOf(key, body, `${id}.${timestamp}.`);
    return given.map((signature) => timingSafeEqual(signature, right)).includes(true);
  });
}

/**
 * Parses a delivery of GitLab (https://docs.gitlab.com/user/project/integrations/webhook_events/).
 */
function readHint(delivery: Delivery): Hint {
  const field = readEvent(delivery, 'x-gitlab-event');
  const payload = readPayload(delivery.body);
  // Only the body of a system hook names its event.
  const kind = textAt(payload, 'object_kind') ?? textAt(payload, 'event_name') ?? field;
  const event = field === 'System Hook' ? kind.slice(0, 100) : (events.get(field) ?? field);
  const name = textAt(payload, 'project', 'path_with_namespace') ?? textAt(payload, 'path_with_namespace');
  const id = idMember(valueAt(payload, 'project_id') ?? valueAt(payload, 'project', 'id'));
  if (['push', 'tag_push', 'repository_update'].includes(event))
    return { kind: 'push', repository: repositoryIn(name), ...id };
  if (['project_create', 'project_destroy', 'project_update'].includes(event))
    return { kind: 'repository', repository: repositoryIn(name), ...id };
  // The repository may be followed under its old name.
  if (['project_rename', 'project_transfer'].includes(event)) {
    const repository = repositoryIn(textAt(payload, 'old_path_with_namespace') ?? name);
    return { kind: 'repository', repository, ...id, ...nowMember(repository, name) };
  }
  if (event !== 'merge_request' || /^(?:un)?approv/.test(textAt(payload, 'object_attributes', 'action') ?? ''))
    return { kind: 'nothing', event };
  const about = valueAt(payload, 'object_attributes');
  const isOpen = valueAt(about, 'state') === 'opened';
  return { kind: 'pull', repository: repositoryIn(name), ...id, pull: pullIn(readPull(about)), isOpen };
}
