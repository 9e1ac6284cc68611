import { appendFile } from 'node:fs/promises';
import { $, argv } from 'zx';

const file = new URL('history.jsonl', import.meta.url);

/** With `--note`, appends a benchmark's table to the history, with the commit that it was measured at. */
export async function note(benchmark: string, table: readonly object[]): Promise<void> {
  if (argv['note'] !== true) return;
  const { stdout } = await $({ quiet: true })`git describe --always --dirty`;
  await appendFile(
    file,
    `${JSON.stringify({ benchmark, commit: stdout.trim(), at: new Date().toISOString(), table })}\n`,
  );
}

/** A row of a table: what was measured beside its goal. */
export function judge(what: string, seen: string, goal: string, holds: boolean): object {
  return { what, seen, goal, holds: holds ? 'yes' : 'NO' };
}
