import type { PullComment } from '../../model/check.ts';
import type { Ask } from '../ask.ts';
import { isNote, listComments, marked, noteMark, noteText, writeComment, commentsIn } from './comments.ts';
import type { HostRepository } from '../host.ts';

/**
 * Writes the comment of a pull request, and its findings as the comments of one review
 * (https://docs.gitea.com/api/, `issueCreateComment` and `repoCreatePullReview`). A review cannot
 * be edited, so another one takes its place when the findings differ.
 */
export async function commentOnPull(
  ask: Ask,
  repository: HostRepository,
  comment: PullComment,
  signal: AbortSignal,
): Promise<void> {
  const { number, mark, commit, notes } = comment;
  const root = `/repos/${repository.name}`;
  const path = `${root}/issues/${number}/comments`;
  const { json } = await ask(repository, { method: 'GET', path }, signal);
  const comments = {
    create: (body: string) => ask(repository, { method: 'POST', path, body: { body } }, signal),
    update: (id: number, body: string) =>
      ask(repository, { method: 'PATCH', path: `${root}/issues/comments/${id}`, body: { body } }, signal),
  };
  await writeComment(comments, commentsIn(json), comment);

  const reviews = `${root}/pulls/${number}/reviews`;
  const existing = await listComments(async (page) => {
    const answer = await ask(repository, { method: 'GET', path: `${reviews}?limit=50&page=${page}` }, signal);
    const isLast = !/\brel="next"/.test(answer.headers.get('link') ?? '');
    return { items: commentsIn(answer.json), isLast };
  });
  const wanted = noteMark(mark, notes);
  const earlier = existing.filter((each) => isNote(each, mark));
  if (notes.length > 0 && !earlier.some(({ text }) => text.includes(wanted))) {
    const lines = notes.map((note) => ({ path: note.path, new_position: note.line, body: noteText(note) }));
    const body = { event: 'COMMENT', commit_id: commit, body: marked('Findings', wanted), comments: lines };
    await ask(repository, { method: 'POST', path: reviews, body }, signal);
  }
  for (const { id, text } of earlier) {
    if (notes.length > 0 && text.includes(wanted)) continue;
    const isGone = (status: number) => status === 404;
    await ask(repository, { method: 'DELETE', path: `${reviews}/${id}`, isDone: isGone }, signal);
  }
}
