import type { Command } from 'commander';
import { countsInWords, usualRules, type Comparison } from '../../model/comparison.ts';
import type { LockedContract } from '../../model/lock.ts';
import { withCompiler } from '../command-context.ts';

/** Compares two versions of a contract. */
export type CompareContracts = (before: Side, after: Side) => Promise<Comparison>;

interface Side {
  entry: LockedContract;
  bytes: Uint8Array;
}

/** Runs the work with what compares contracts as `stele diff` does. A sandbox is started at the first comparison. */
export async function withComparer<T>(command: Command, work: (compare: CompareContracts) => Promise<T>): Promise<T> {
  return withCompiler(command, async (compiler, { limits }) => {
    const [{ compileOpened }, { createUpload }] = await Promise.all([
      import('../check/diff-command.ts'),
      import('../../source/upload.ts'),
    ]);
    const compiled = async ({ entry: { path, contract, version }, bytes }: Side) => {
      const entry = path.split('/').at(-1)!;
      const opened = { snapshot: createUpload(entry, bytes), entry, isRepository: true };
      return compileOpened(compiler, limits, `${contract}@${version}`, opened);
    };
    return work(async (before, after) =>
      compiler.compare(await compiled(before), await compiled(after), limits, usualRules),
    );
  });
}

/** How many operations changed, or fields where there are none. Descriptions do not count. */
export function extentOf({ changes }: Pick<Comparison, 'changes'>): { operations: number; fields: number } {
  const real = changes.filter(({ verdict }) => verdict !== 'docs');
  const operations = new Set(real.flatMap((change) => change.operations));
  const fields = new Set(real.flatMap(({ pointers }) => pointers.after ?? pointers.before ?? []));
  return { operations: operations.size, fields: fields.size };
}

/** A comparison in a few words, the worst first: `1 breaking, 2 safe, in 2 operations`. */
export function summaryOf(
  { counts, reason, verdict }: Pick<Comparison, 'verdict' | 'counts' | 'reason'>,
  { operations, fields }: ReturnType<typeof extentOf>,
): string {
  if (reason !== null) return 'cannot be judged';
  if (verdict === 'none') return 'no changes';
  const [count, noun] = operations > 0 ? [operations, 'operation'] : [fields, 'field'];
  const where = count === 0 ? '' : `, in ${count} ${noun}${count === 1 ? '' : 's'}`;
  return countsInWords(counts) + where;
}
