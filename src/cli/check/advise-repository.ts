import type { Report } from '../../model/problem.ts';
import { complain } from '../output.ts';

/**
 * Says how to have files outside the document's folder read. Without a git repository, only that folder
 * is.
 */
export function adviseRepository(file: string, { problems }: Pick<Report, 'problems'>, isRepository: boolean): void {
  const outside = problems.find(({ rule, message }) => rule === 'ref-outside-tree' && message.includes('outside'));
  if (isRepository || outside === undefined) return;
  complain(
    `${file} is not in a git repository, so only its folder is read. To read files beside the folder, run "git init" in the folder that holds them all.`,
  );
}
