import type { Annotation, PullComment } from '../../model/check.ts';
import type { Ask } from '../ask.ts';
import { isNote, listComments, marked, noteMark, noteText, writeComment, commentsIn } from './comments.ts';
import type { HostRepository } from '../host.ts';
import { textAt } from '../payload.ts';

/**
 * Writes the comment of a merge request as a note, and its findings as discussions at their lines
 * (https://docs.gitlab.com/api/notes/, https://docs.gitlab.com/api/discussions/).
 */
export async function commentOnMergeRequest(
  ask: Ask,
  repository: HostRepository,
  comment: PullComment,
  signal: AbortSignal,
): Promise<void> {
  const request = `/projects/${encodeURIComponent(repository.name)}/merge_requests/${comment.number}`;
  const notes = `${request}/notes`;
  const existing = await listComments(async (page) => {
    const path = `${notes}?sort=asc&order_by=created_at&per_page=100&page=${page}`;
    const { json, headers } = await ask(repository, { method: 'GET', path }, signal);
    return { items: commentsIn(json), isLast: (headers.get('x-next-page') ?? '') === '' };
  });
  const comments = {
    create: (body: string) => ask(repository, { method: 'POST', path: notes, body: { body } }, signal),
    update: (id: number, body: string) =>
      ask(repository, { method: 'PUT', path: `${notes}/${id}`, body: { body } }, signal),
  };
  const earlier = existing.filter((each) => isNote(each, comment.mark));
  await writeComment(
    comments,
    existing.filter((each) => !earlier.includes(each)),
    comment,
  );
  const wanted = new Map(comment.notes.map((note) => [noteMark(comment.mark, [note]), note]));
  for (const { id, text } of earlier) {
    const mark = [...wanted.keys()].find((each) => text.includes(each));
    if (mark !== undefined) wanted.delete(mark);
    else await ask(repository, { method: 'DELETE', path: `${notes}/${id}`, isDone: isGone }, signal);
  }
  if (wanted.size === 0) return;
  const { json } = await ask(repository, { method: 'GET', path: request }, signal);
  const refs = (name: string) => textAt(json, 'diff_refs', name);
  // Somebody pushed meanwhile: the check of the newer head writes the notes.
  if (refs('head_sha') !== comment.commit) return;
  const shas = { base_sha: refs('base_sha'), start_sha: refs('start_sha'), head_sha: refs('head_sha') };
  for (const [mark, note] of wanted) {
    const body = { body: marked(noteText(note), mark), position: { ...shas, ...positionOf(note) } };
    await ask(repository, { method: 'POST', path: `${request}/discussions`, body, isDone: isOutside }, signal);
  }
}

function positionOf({ path, line }: Annotation): object {
  return { position_type: 'text', old_path: path, new_path: path, new_line: line };
}

const isGone = (status: number) => status === 404;
/** GitLab takes only lines of the diff. */
const isOutside = (status: number) => status === 400;
