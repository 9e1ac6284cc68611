import type { Octokit } from '@octokit/rest';
import type { PullComment } from '../../model/check.ts';
import { listComments, writeComment } from './comments.ts';
import { ownerOf } from '../github-client.ts';

/**
 * Writes the comment of a pull request (https://docs.github.com/rest/issues/comments). An app's
 * findings are annotations of its check runs already.
 */
export async function commentOnPull(
  client: Octokit,
  name: string,
  comment: PullComment,
  signal: AbortSignal,
): Promise<void> {
  const target = { ...ownerOf(name), request: { signal } };
  const { issues } = client.rest;
  const existing = await listComments(async (page) => {
    const { data } = await issues.listComments({ ...target, issue_number: comment.number, per_page: 100, page });
    return { items: data.map(({ id, body }) => ({ id, text: body ?? '' })), isLast: data.length < 100 };
  });
  const comments = {
    create: (body: string) => issues.createComment({ ...target, issue_number: comment.number, body }),
    update: (id: number, body: string) => issues.updateComment({ ...target, comment_id: id, body }),
  };
  await writeComment(comments, existing, comment);
}
