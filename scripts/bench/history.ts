import { appendFile } from 'node:fs/promises';
import { $ } from 'zx';

const file = new URL('history.jsonl', import.meta.url);

/** Appends a benchmark's table to the history, with the commit that it was measured at. */
export async function note(benchmark: string, table: readonly object[]): Promise<void> {
  const { stdout } = await $({ quiet: true })`git describe --always --dirty`;
  await appendFile(
    file,
    `${JSON.stringify({ benchmark, commit: stdout.trim(), at: new Date().toISOString(), table })}\n`,
  );
}
