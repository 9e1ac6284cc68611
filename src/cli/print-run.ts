import type { Run } from '../model/connection.ts';
import { complain, print } from './output.ts';

/** Prints a run as text: one line per document that was read again. */
export function printRun(run: Run): void {
  for (const { resource, outcome, label, path, detail } of run.documents) {
    print(`${outcome} ${resource ?? path}${label === null ? '' : `@${label}`}${detail === null ? '' : `: ${detail}`}`);
  }
  const where = `${run.url}${run.branch === null ? '' : ` ${run.branch}`}`;
  if (run.detail === null) complain(`${where} is synced at ${run.to?.slice(0, 12) ?? 'no commit'}`);
  else complain(run.detail.includes(run.url) ? run.detail : `${where}: ${run.detail}`);
}
