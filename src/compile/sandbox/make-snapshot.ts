// Makes the startup snapshot of a sandbox (`start-snapshot.ts`) and tries it. The arguments are what
// the sandbox does and the file.
import { execFile } from 'node:child_process';
import { chmod, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { setPriority } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { startChild } from './child.ts';
import { scripts, type Trade } from './fork-sandbox.ts';
import { languageArguments } from './isolation.ts';

/** It gives way to everything else, so on a busy machine it takes long. */
const seconds = 300;
const memoryMegabytes = 1000;
/** Another program may start sandboxes from what is not this one's: during an upgrade, or beside it. */
const unusedHours = 1;

const [trade, file] = process.argv.slice(2) as [Trade, string];
const draft = `${file}.draft`;

setPriority(5);
process.umask(0o077);
if (!(await isBeingMade())) {
  let isMade = false;
  try {
    const options = { env: {}, cwd: '/', timeout: seconds * 1000 };
    const build = [...languageArguments, '--snapshot-blob', draft, '--build-snapshot', scripts[trade]];
    await promisify(execFile)(process.execPath, build, options);
    await chmod(draft, 0o600);
    if (await works()) {
      await rename(draft, file);
      isMade = true;
      await removeUnused();
    }
  } finally {
    await rm(draft, { force: true });
    if (!isMade) await writeFile(`${file}.failed`, '');
  }
}

/** Whether another process has begun, and had no time to end. */
async function isBeingMade(): Promise<boolean> {
  const begun = await stat(draft).catch(() => null);
  return begun !== null && Date.now() - begun.mtimeMs < seconds * 1000;
}

async function works(): Promise<boolean> {
  const isolation = { kind: 'node', reason: 'It gets no documents.' } as const;
  const child = startChild(memoryMegabytes, isolation, { trade, snapshot: draft });
  const load = () => Promise.resolve([]);
  const outcome = await child.run({ type: 'pages', pages: [] }, { seconds, load, signal: undefined });
  child.kill();
  return 'answer' in outcome;
}

/** Removes the snapshots of other versions that no program has used for an hour. */
async function removeUnused(): Promise<void> {
  for (const name of await readdir(dirname(file))) {
    if (!name.startsWith(`${trade}-`) || !/\.(?:blob|failed)$/.test(name) || name === basename(file)) continue;
    const path = join(dirname(file), name);
    const { mtimeMs } = await stat(path);
    if (mtimeMs < Date.now() - unusedHours * 3_600_000) await rm(path, { force: true });
  }
}
