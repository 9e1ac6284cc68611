import type { Check, PullComment } from '../../model/check.ts';
import type { Ask } from '../ask.ts';
import { listComments, writeComment } from './comments.ts';
import type { HostRepository } from '../host.ts';
import { textAt, valueAt } from '../payload.ts';
import { shorten, shortName } from '../statuses.ts';
import { itemsIn } from '../owner-pages.ts';

/** What Bitbucket takes: annotations in a request, and in all. */
const batch = 100;
const maxAnnotations = 1000;
const severities = { error: 'HIGH', warning: 'MEDIUM', info: 'LOW' } as const;

/**
 * Writes the findings of a check as a Code Insights report with annotations
 * (https://developer.atlassian.com/cloud/bitbucket/rest/api-group-reports/). A check that ended
 * without findings deletes the report: Bitbucket only adds annotations to it.
 */
export async function writeReport(
  ask: Ask,
  repository: HostRepository,
  check: Check,
  signal: AbortSignal,
): Promise<void> {
  if (check.state === 'running') return;
  const id = encodeURIComponent(shortName(check.name.replace(/[^A-Za-z0-9-]+/g, '-'), 50));
  const path = `/repositories/${repository.name}/commit/${check.commit}/reports/${id}`;
  const isGone = (status: number) => status === 404;
  await ask(repository, { method: 'DELETE', path, isDone: isGone }, signal);
  const annotations = check.annotations.slice(0, maxAnnotations);
  if (annotations.length === 0) return;
  const report = {
    title: shorten(check.name, 450),
    details: shorten(check.title, 2000),
    report_type: 'TEST',
    reporter: 'Stele',
    result: check.state === 'failure' || check.state === 'waiting' ? 'FAILED' : 'PASSED',
    ...(check.url !== null && { link: check.url }),
  };
  await ask(repository, { method: 'PUT', path, body: report }, signal);
  for (let start = 0; start < annotations.length; start += batch) {
    const body = annotations.slice(start, start + batch).map((each, index) => ({
      external_id: `stele-${start + index}`,
      annotation_type: 'CODE_SMELL',
      path: each.path,
      line: each.line,
      summary: shorten(each.message || each.rule, 450),
      details: shorten(each.rule, 2000),
      severity: severities[each.severity],
    }));
    await ask(repository, { method: 'POST', path: `${path}/annotations`, body }, signal);
  }
}

/** Writes the comment of a pull request. Its findings are annotations of the commit already. */
export async function commentOnPull(
  ask: Ask,
  repository: HostRepository,
  comment: PullComment,
  signal: AbortSignal,
): Promise<void> {
  const path = `/repositories/${repository.name}/pullrequests/${comment.number}/comments`;
  const existing = await listComments(async (page) => {
    const { json } = await ask(repository, { method: 'GET', path: `${path}?pagelen=100&page=${page}` }, signal);
    const values = valueAt(json, 'values');
    const items = itemsIn(values).flatMap((item) => {
      const [id, text] = [valueAt(item, 'id'), textAt(item, 'content', 'raw')];
      return typeof id === 'number' && text !== null && valueAt(item, 'deleted') !== true ? [{ id, text }] : [];
    });
    return { items, isLast: valueAt(json, 'next') === undefined };
  });
  const bodyOf = (raw: string) => ({ content: { raw } });
  const comments = {
    create: (text: string) => ask(repository, { method: 'POST', path, body: bodyOf(text) }, signal),
    update: (id: number, text: string) =>
      ask(repository, { method: 'PUT', path: `${path}/${id}`, body: bodyOf(text) }, signal),
  };
  await writeComment(comments, existing, comment);
}
