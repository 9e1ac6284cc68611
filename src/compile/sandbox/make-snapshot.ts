// Makes the startup snapshot of a sandbox (`code-cache.ts`) and tries it. The arguments are what
// the sandbox does and the file.
import { execFile } from 'node:child_process';
import { chmod, rename, rm, stat, writeFile } from 'node:fs/promises';
import { setPriority } from 'node:os';
import { basename, dirname } from 'node:path';
import { promisify } from 'node:util';
import type { CompileLimits } from '../compile.ts';
import { startChild } from './child.ts';
import { removeUnused } from './code-cache.ts';
import { scripts, type Trade } from './fork-sandbox.ts';
import { languageArguments } from './isolation.ts';

/** It gives way to everything else, so on a busy machine it takes long. */
const seconds = 300;
const limits: CompileLimits = {
  fileBytes: 0,
  bundleBytes: 0,
  files: 0,
  depth: 0,
  aliases: 0,
  nodes: 0,
  seconds,
  memoryMegabytes: 1000,
};

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
      await removeUnused(dirname(file), isOther);
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

/** Whether a sandbox starts from it and does a job. */
async function works(): Promise<boolean> {
  const child = startChild(
    limits.memoryMegabytes,
    { kind: 'node', reason: 'It gets no documents.' },
    { trade, snapshot: draft },
  );
  const load = () => Promise.resolve([]);
  const outcome = await child.run({ type: 'pages', pages: [] }, { seconds, load, signal: undefined });
  child.kill();
  return 'answer' in outcome;
}

/** Those of other versions. */
function isOther(name: string): boolean {
  return name.startsWith(`${trade}-`) && /\.(?:blob|failed)$/.test(name) && name !== basename(file);
}
