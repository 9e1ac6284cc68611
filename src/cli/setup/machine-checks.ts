import { existsSync, statSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { findIsolation } from '../../compile/sandbox/isolation.ts';
import type { Config } from '../../config.ts';
import { readSecret, type SecretName } from '../../config/environment.ts';
import { openFolders } from '../../registry/maintenance/open-folders.ts';
import { readGitVersion, usualFolders } from '../../source/command.ts';
import { ok, problem, reasonOf, warning, type Check } from './check.ts';

/** Bytes that should be free, and without which writing soon fails. */
const [enough, tooFew] = [2 ** 30, 256 * 2 ** 20];

/** What the machine has: programs, isolation, secrets in the environment, disk. */
export async function checkMachine(config: Config): Promise<Check[]> {
  const node = ok('node', process.versions.node);
  return [
    node,
    await checkGit(),
    await checkSandbox(config),
    checkSecrets(config),
    ...(await checkDisk(config)),
    ...(await checkFolders(config)),
  ];
}

async function checkGit(): Promise<Check> {
  try {
    return ok('git', await readGitVersion(process.cwd(), usualFolders, AbortSignal.timeout(10_000)));
  } catch (error) {
    return problem('git', reasonOf(error), `Install git 2.38 or newer in one of ${usualFolders}.`);
  }
}

async function checkSandbox({ sandbox }: Config): Promise<Check> {
  try {
    const isolation = await findIsolation(sandbox);
    if (isolation.kind === 'bwrap') return ok('sandbox', `bwrap (${isolation.bwrap})`);
    const detail = `only Node's permission model. ${isolation.reason}`;
    if (sandbox === 'node') return ok('sandbox', detail);
    return warning('sandbox', detail, 'Install bubblewrap, and allow user namespaces to it.');
  } catch (error) {
    return problem('sandbox', reasonOf(error), 'Mend bwrap, or set sandbox to auto.');
  }
}

function checkSecrets(config: Config): Check {
  const unset = [...new Set(secretsIn(config))].filter((env) => !isSet({ env }));
  if (unset.length === 0) return ok('secrets', 'every variable that the configuration names is set');
  return problem('secrets', `not set: ${unset.join(', ')}`, 'Set the variables in the environment of the server.');
}

/** The variables that a part of the configuration names. */
function secretsIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  if ('env' in value && typeof value.env === 'string') return [value.env];
  return Object.values(value).flatMap(secretsIn);
}

function isSet(secret: SecretName): boolean {
  try {
    return readSecret(secret) !== '';
  } catch {
    return false;
  }
}

/** One line for each volume. */
async function checkDisk({ store, cacheFolder }: Config): Promise<Check[]> {
  const folders = [...(store.kind === 'fs' ? [store.path] : []), cacheFolder].map(nearest);
  const volumes = new Map(folders.toReversed().map((folder) => [statSync(folder).dev, folder]));
  const checks = [...volumes.values()].map(async (folder) => {
    const { bavail, bsize } = await statfs(folder);
    const free = bavail * bsize;
    const detail = `${(free / 2 ** 30).toFixed(1)} GiB free at ${folder}`;
    if (free >= enough) return ok('disk', detail);
    return (free < tooFew ? problem : warning)('disk', detail, 'Make room, or move the data folder.');
  });
  return Promise.all(checks);
}

/** The folder, or the nearest one above it that is there. */
function nearest(folder: string): string {
  return existsSync(folder) ? folder : nearest(dirname(folder));
}

async function checkFolders(config: Config): Promise<Check[]> {
  const folders = await openFolders(config);
  return folders.map((folder) =>
    warning('folders', `${folder} is open to other users of this machine`, `chmod -R go= ${folder}`),
  );
}
