import type { Report } from '../../model/problem.ts';
import { complain } from '../output.ts';

/**
 * Says how files beside the folder of a document can be read: outside a git repository, its folder is
 * all that there is.
 */
export function adviseRepository(file: string, { problems }: Pick<Report, 'problems'>, isRepository: boolean): void {
  const outside = problems.find(({ rule, message }) => rule === 'ref-outside-tree' && message.includes('outside'));
  if (isRepository || outside === undefined) return;
  complain(
    `${file} is not in a git repository, so only its folder is read. To read files beside the folder, run "git init" in the folder that holds them all.`,
  );
}
