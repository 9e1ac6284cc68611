import { cut } from '../model/escape.ts';
import type { PullComment } from '../model/check.ts';
import type { Delivery, Hint, Host, HostRepository } from './host.ts';
import {
  nameOn,
  idMember,
  pullIn,
  readEvent,
  readPayload,
  repositoryIn,
  textAt,
  valueAt,
  isHmacOf,
} from './payload.ts';
import { createApiHost, foundOn, isGone, listComments, pullOn, type ApiHost } from './api-host.ts';
import { createAsk, type HostSettings, type Send } from './ask.ts';
import {
  linkOf,
  statesOf,
  shortName,
  isNote,
  marked,
  noteMark,
  noteText,
  issueComments,
  writeComment,
  commentsIn,
} from './comments.ts';

/** https://docs.gitea.com/api/#tag/repository/operation/repoCreateStatus */
const states = statesOf({ running: 'pending', success: 'success', failure: 'failure', cancelled: 'error' });

/** Actions after which a pull request must be checked. */
const opening = ['opened', 'reopened', 'synchronized', 'edited'];

/** Gitea and Forgejo (codeberg.org): signed hooks and statuses of commits. */
export function createGitea(settings: HostSettings): Host {
  const { url } = settings;
  return createApiHost(settings, {
    kind: 'gitea',
    product: 'Gitea',
    ask: createAsk('Gitea', settings, ({ token }) => `token ${token}`),
    isGenuine,
    readHint,
    nameOf: (repositoryUrl) => nameOn(url, repositoryUrl, false),
    pageIn,
    pullsAt: ({ name }, page) => `/repos/${name}/pulls?state=open&limit=50&page=${page}`,
    readPull: pullOn,
    ownedAt: ({ path }, page) =>
      ['orgs', 'users'].map((kind) => `/${kind}/${encodeURIComponent(path)}/repos?limit=50&page=${page}`),
    pathOf: ({ name }, id) => (id === null ? `/repos/${name}` : `/repositories/${encodeURIComponent(id)}`),
    readRepository: (item) => foundOn(url, item),
    report(send, repository, check) {
      const body = {
        state: states[check.state],
        context: shortName(check.name, 255),
        description: cut(check.title, 255),
        ...linkOf(check, 'target_url'),
      };
      const path = `/repos/${repository.name}/statuses/${check.commit}`;
      return send({ method: 'POST', path, body });
    },
    comment: commentOnPull,
  });
}

/** A server may return fewer items per page than requested. */
const pageIn: ApiHost['pageIn'] = ({ json, headers }, page) => ({
  list: json,
  next: /\brel="next"/.test(headers.get('link') ?? '') ? page + 1 : null,
});

/** Forgejo sends its signature in both headers. Each one present must be valid. */
async function isGenuine({ headers, body }: Delivery, secrets: readonly string[]): Promise<boolean> {
  const given = [headers['x-gitea-signature'], headers['x-forgejo-signature']].filter((value) => value !== undefined);
  const matches = await Promise.all(given.map((signature) => isHmacOf(signature, body, secrets)));
  return matches.length > 0 && !matches.includes(false);
}

/** Parses a delivery of Gitea or Forgejo (https://docs.gitea.com/usage/webhooks). */
function readHint(delivery: Delivery): Hint {
  const event = readEvent(delivery, 'x-gitea-event', 'x-forgejo-event');
  const payload = readPayload(delivery.body);
  const name = textAt(payload, 'repository', 'full_name');
  const id = idMember(valueAt(payload, 'repository', 'id'));
  if (['push', 'create', 'delete'].includes(event)) return { kind: 'push', repository: repositoryIn(name), ...id };
  if (event === 'repository') return { kind: 'repository', repository: repositoryIn(name), ...id };
  const action = textAt(payload, 'action') ?? '';
  const isOpen = opening.includes(action);
  const isPull = event === 'pull_request' || event === 'pull_request_sync';
  if (!isPull || !(isOpen || action === 'closed')) return { kind: 'nothing', event };
  const pull = pullIn(pullOn(valueAt(payload, 'pull_request')));
  return { kind: 'pull', repository: repositoryIn(name), ...id, pull, isOpen };
}

/**
 * Writes the comment of a pull request, and its findings as the comments of one review
 * (https://docs.gitea.com/api/, `issueCreateComment` and `repoCreatePullReview`). A review cannot
 * be edited, so another one takes its place when the findings differ.
 */
async function commentOnPull(send: Send, repository: HostRepository, comment: PullComment): Promise<void> {
  const { number, mark, commit, notes } = comment;
  const comments = issueComments(repository, number);
  const { json } = await send({ method: 'GET', path: comments.path });
  await writeComment(send, comments, commentsIn(json), comment);
  const reviews = `/repos/${repository.name}/pulls/${number}/reviews`;
  const existing = commentsIn(await listComments(send, pageIn, (page) => `${reviews}?limit=50&page=${page}`));
  const wanted = noteMark(mark, notes);
  const earlier = existing.filter((each) => isNote(each, mark));
  if (notes.length > 0 && !earlier.some(({ text }) => text.includes(wanted))) {
    const lines = notes.map((note) => ({ path: note.path, new_position: note.line, body: noteText(note) }));
    const body = { event: 'COMMENT', commit_id: commit, body: marked('Findings', wanted), comments: lines };
    await send({ method: 'POST', path: reviews, body });
  }
  for (const { id, text } of earlier) {
    if (notes.length > 0 && text.includes(wanted)) continue;
    await send({ method: 'DELETE', path: `${reviews}/${id}`, isDone: isGone });
  }
}
