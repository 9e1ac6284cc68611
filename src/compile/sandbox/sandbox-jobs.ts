import type { CompileInput } from '../compile.ts';
import type { ChildMessage, ParentMessage } from './sandbox-messages.ts';

/** A message that ends a job. */
export type Answer = Exclude<ChildMessage, { type: 'ready' | 'load' }>;

/** The files of a compilation are asked of `load`. */
export type Job = Exclude<ParentMessage, { type: 'files' | 'compile' }> | { type: 'compile'; input: CompileInput };

/** The answer to a job. A sandbox that sends anything else is not trusted any more. */
export function answerTo(job: ParentMessage & { type: Job['type'] }): Answer['type'] {
  return job.type === 'compile' && job.input.reportOnly ? 'checked' : answers[job.type];
}

const answers: Readonly<Record<Job['type'], Answer['type']>> = {
  compile: 'compiled',
  detect: 'detected',
  ignored: 'ignored',
  settings: 'settings',
  version: 'version',
  outline: 'outlined',
  excerpt: 'excerpted',
  render: 'rendered',
  pages: 'paged',
  compare: 'compared',
};

/** Bytes of documents that come with a job. The files of a compilation come later. */
export function bytesOf(job: Job): number {
  if (job.type === 'outline' || job.type === 'excerpt' || job.type === 'render') return job.document.json.byteLength;
  if (job.type === 'compare') return job.before.json.byteLength + job.after.json.byteLength;
  return 0;
}
