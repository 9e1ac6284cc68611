import { createHash } from 'node:crypto';
import type { Annotation, Check, CheckState, PullComment } from '../model/check.ts';
import type { Send } from './ask.ts';
import type { HostRepository } from './host.ts';
import { itemsIn, valueAt, textAt } from './payload.ts';

/** A comment on a host: its id there and its Markdown. */
export interface HostComment {
  id: number;
  text: string;
}

/** Where the comments of a pull request are in the API of a host, and one of them, and how they are sent. */
interface CommentsAt {
  path: string;
  pathOf(id: number): string;
  edits: 'PUT' | 'PATCH';
  bodyOf?(text: string): object;
}

/** The comments in an answer of GitHub, Gitea or GitLab, which may be anything. */
export function commentsIn(json: unknown): HostComment[] {
  return itemsIn(json).flatMap((item) => {
    const [id, text] = [valueAt(item, 'id'), textAt(item, 'body')];
    return typeof id === 'number' && text !== null ? [{ id, text }] : [];
  });
}

/** Writes the comment: edits the one that has its mark, unless it says the same, or else adds it. */
export async function writeComment(
  send: Send,
  { path, pathOf, edits, bodyOf = (body) => ({ body }) }: CommentsAt,
  existing: readonly HostComment[],
  { mark, text, isOnlyEdit }: PullComment,
): Promise<void> {
  const match = existing.find((each) => each.text.includes(markOf(mark)));
  const whole = marked(text, mark);
  const body = bodyOf(whole);
  if (match === undefined) await (isOnlyEdit ? undefined : send({ method: 'POST', path, body }));
  else if (match.text.trimEnd() !== whole) await send({ method: edits, path: pathOf(match.id), body });
}

/** Where the comments of a pull request are where they are those of an issue, as on GitHub and Gitea. */
export function issueComments({ name }: HostRepository, number: number): CommentsAt {
  const issues = `/repos/${name}/issues`;
  return { path: `${issues}/${number}/comments`, pathOf: (id) => `${issues}/comments/${id}`, edits: 'PATCH' };
}

/**
 * The text with a mark that no host shows: a Markdown link definition that nothing refers to
 * (CommonMark §4.7). Bitbucket would show an HTML comment.
 */
export function marked(text: string, mark: string): string {
  return `${text.trimEnd()}\n\n${markOf(mark)}`;
}

function markOf(mark: string): string {
  return `[//]: # (stele ${mark})`;
}

/** The mark of one note, or of several: the same findings have the same one. */
export function noteMark(mark: string, notes: readonly Annotation[]): string {
  const digest = createHash('sha256').update(JSON.stringify(notes)).digest('hex').slice(0, 16);
  return `${mark} note ${digest}`;
}

/** Whether the text is one of the notes with this mark. */
export function isNote({ text }: HostComment, mark: string): boolean {
  return text.includes(`[//]: # (stele ${mark} note `);
}

/** A finding as Markdown. */
export function noteText({ severity, rule, message }: Annotation): string {
  // A space of no width keeps hosts from taking a name for a mention, which escaping does not.
  const plain = message
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .replace(/[!-/:-@[-`{-~]/g, '\\$&')
    .replace(/[@#]/g, '$&\u200B');
  // A rule's name comes from a ruleset, which may be part of the request.
  const name = rule.replace(/[^\w./-]/g, '').slice(0, 200);
  return `**${severity}** \`${name}\`: ${plain}`;
}

/** A unique name of at most `max` characters: a digest replaces the end of a longer one. */
export function shortName(name: string, max: number): string {
  if (name.length <= max) return name;
  const digest = createHash('sha256').update(name).digest('hex').slice(0, 16);
  return `${name.slice(0, max - 17)}-${digest}`;
}

/** The words of a host for the states of a check. No host knows `neutral`; what waits runs still where no word is given. */
export function statesOf<Word extends string>({
  running,
  success,
  failure,
  cancelled,
  waiting = running,
}: Partial<Pick<Record<CheckState, Word>, 'waiting'>> &
  Record<Exclude<CheckState, 'waiting' | 'neutral'>, Word>): Record<CheckState, Word> {
  return { running, waiting, success, neutral: success, failure, cancelled };
}

/** The link of a check under this member name, or nothing. */
export function linkOf<Name extends string>({ url }: Check, member: Name): { [name in Name]?: string } {
  return (url === null ? {} : { [member]: url }) as { [name in Name]?: string };
}
