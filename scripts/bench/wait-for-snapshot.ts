import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';

const seconds = 120;

/**
 * Waits for the snapshots that a built `stele` makes in the background after the first command that
 * missed them (`src/compile/sandbox/start-snapshot.ts`), so that they are not made while others are
 * measured. Throws if one does not come.
 */
export async function waitForSnapshots(home: string, trades: readonly ('all' | 'code')[]): Promise<void> {
  const folder = join(home, '.cache', 'stele', 'code', 'sandbox');
  const isThere = (trade: string) =>
    existsSync(folder) && readdirSync(folder).some((name) => name.startsWith(`${trade}-`) && name.endsWith('.blob'));
  const until = performance.now() + seconds * 1000;
  while (!trades.every(isThere)) {
    if (performance.now() > until) throw new Error(`There is no snapshot in ${folder} after ${seconds} seconds.`);
    await setTimeout(200);
  }
}
