import type { Run, RunDocument } from '../model/connection.ts';
import { complain, print } from './output.ts';

/**
 * Prints a run as text: one line per document that was read again, except those already printed,
 * then where the repository stands.
 */
export function printRun(run: Run, printed: ReadonlySet<string> = new Set()): void {
  for (const document of run.documents) if (!printed.has(formatDocument(document))) print(formatDocument(document));
  const where = `${run.url}${run.branch === null ? '' : ` ${run.branch}`}`;
  if (run.detail === null) complain(`${where} is synced at ${run.to?.slice(0, 12) ?? 'no commit'}`);
  else complain(run.detail.includes(run.url) ? run.detail : `${where}: ${run.detail}`);
}

/** Formats the result for one document as a line. */
export function formatDocument({ resource, outcome, label, path, detail }: RunDocument): string {
  return `${outcome} ${resource ?? path}${label === null ? '' : `@${label}`}${detail === null ? '' : `: ${detail}`}`;
}
