/** Imported by a server that is watched (`soak.ts`): SIGUSR2 collects garbage and writes what is left to the file `MEMORY_FILE`, as JSON. */
import { renameSync, writeFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const file = process.env['MEMORY_FILE'];
// Children inherit the import and have no file.
if (file !== undefined) {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  process.on('SIGUSR2', () => {
    collect();
    collect();
    writeFileSync(`${file}.new`, JSON.stringify(process.memoryUsage()));
    renameSync(`${file}.new`, file);
  });
}
