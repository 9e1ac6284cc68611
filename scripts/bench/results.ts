import { appendFile } from 'node:fs/promises';
import { argv } from 'zx';
import { bars, isMet, showGoal, showValue, type BarName } from './bars.ts';
import { isBar, type Measured } from './history.ts';

const asked = argv['bars'] === undefined ? null : String(argv['bars']).split(',');

/** Whether one of these bars is asked for. A script that is run by itself measures all that it can. */
export function isAsked(...names: BarName[]): boolean {
  return asked === null || names.some((name) => asked.includes(name));
}

/** Prints values, and hands them to `npm run bench`, if that started this script. */
export async function reportResults(measured: readonly Measured[]): Promise<void> {
  printMeasured(measured);
  if (argv['results'] === undefined) return;
  await appendFile(String(argv['results']), measured.map((one) => `${JSON.stringify(one)}\n`).join(''));
}

export function printMeasured(measured: readonly Measured[]): void {
  console.table(
    measured.map(({ row, value, seen, x }) => {
      if (!isBar(row)) return { row, at: x, value: showValue(value), seen };
      const met = isMet(row, value) ? 'met' : 'MISSED';
      return {
        row,
        what: bars[row].what,
        value: `${showValue(value)} ${bars[row].of}`,
        goal: showGoal(row),
        met,
        seen,
      };
    }),
  );
}
