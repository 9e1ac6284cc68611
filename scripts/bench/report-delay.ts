/**
 * Imported by a server that is measured (`stalls.ts`): SIGUSR2 writes the longest delay of its event loop since the last
 * time to the file `DELAY_FILE`, in milliseconds.
 */
import { renameSync, writeFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';

const file = process.env['DELAY_FILE'];
// Children inherit the import and have no file.
if (file !== undefined) {
  const resolution = 2;
  const delays = monitorEventLoopDelay({ resolution });
  delays.enable();
  process.on('SIGUSR2', () => {
    writeFileSync(`${file}.new`, String(Math.max(0, delays.max / 1e6 - resolution)));
    renameSync(`${file}.new`, file);
    delays.reset();
  });
}
