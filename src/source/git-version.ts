import { RegistryError } from '../model/errors.ts';
import { runGit } from './command.ts';

/** Where git and ssh are looked for unless somebody says otherwise: the usual folders of a Unix system. */
export const usualFolders = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/opt/homebrew/bin';

/**
 * Returns the version of git. Rejects with `unavailable` without git, or with one that is too old:
 * older ones cannot merge without a working tree, and those before 2.37 ignore the pinned address of a host.
 */
export async function readGitVersion(folder: string, searchPath: string, signal: AbortSignal): Promise<string> {
  const { stdout } = await runGit({ args: ['version'], folder, protocols: 'none', searchPath, signal });
  const [version, major = '0', minor = '0'] = /(\d+)\.(\d+)[\d.]*/.exec(stdout.toString()) ?? [];
  if (version !== undefined && (Number(major) > 2 || (Number(major) === 2 && Number(minor) >= 38))) return version;
  throw new RegistryError('unavailable', `git 2.38 or newer is required; found ${stdout.toString().trim()}.`);
}
