import type { Check, PullCheck, PullComment } from '../model/check.ts';
import { code, plain, signs, wholeCheck } from '../sync/checks.ts';

/** The most documents and findings that the comment shows, and findings that are shown at their lines. */
const limits = { documents: 20, findings: 20, notes: 50 };

/**
 * The comment of a pull request: the result of each check, and the first findings. `about`: the
 * check of the repository as a whole. Null for a group of a merge queue, which has no comments.
 */
export function commentOf(
  { number, mark }: Pick<PullCheck, 'number' | 'mark'>,
  commit: string,
  checks: readonly Check[],
  about: Check | null = null,
): PullComment | null {
  if (number === null || mark === undefined) return null;
  const whole = checks.find(({ name }) => name === wholeCheck);
  const documentChecks = checks.filter(({ name }) => name !== wholeCheck);
  const shown = documentChecks.slice(0, limits.documents);
  const rest =
    documentChecks.length > shown.length ? [`… and ${documentChecks.length - shown.length} more documents.`] : [];
  const text = [
    `### Stele: ${plain(whole?.title ?? 'Checked')}`,
    ...(documentChecks.length === 0 ? [whole?.summary ?? ''] : [about?.summary ?? '']).filter((part) => part !== ''),
    ...shown.flatMap(describe),
    ...rest,
    `For commit ${commit.slice(0, 12)}. Merging publishes; this check published nothing.`,
  ].join('\n\n');
  const notes = checks.flatMap(({ annotations }) => annotations).slice(0, limits.notes);
  return { number, commit, mark, text, notes, isOnlyEdit: documentChecks.length === 0 && whole?.state === 'success' };
}

function describe({ name, state, title, summary, annotations, url }: Check): string[] {
  const resource = name.slice(wholeCheck.length + 1);
  const linked = url === null ? code(resource) : `[${code(resource)}](${url})`;
  const unsaid = annotations.filter(({ message }) => !summary.includes(plain(message)));
  const findings = unsaid
    .slice(0, limits.findings)
    .map(({ path, line, rule, message }) => `- ${code(`${path}:${line}`)} ${code(rule)} ${plain(message)}`);
  const rest = unsaid.length - findings.length;
  // A heading, since Markdown would continue the list of changes.
  const list = [`**Findings: ${unsaid.length}**`, '', ...findings, ...(rest > 0 ? [`- … and ${rest} more`] : [])];
  const listed = unsaid.length === 0 ? [] : [list.join('\n')];
  return [`#### ${signs[state]} ${linked}: ${plain(title)}`, summary, ...listed];
}
