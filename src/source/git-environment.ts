import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { RegistryError } from '../model/errors.ts';

/** What one run of git may use. */
export interface GitSettings {
  /** The repository, which is also the working directory. */
  folder: string;
  /**
   * The transports that git may use, as in `GIT_ALLOW_PROTOCOL`. `none` for commands that only
   * read.
   */
  protocols: string;
  /** Git settings. Passed in the environment, so they may contain a secret. */
  config?: Readonly<Record<string, string>>;
  /** Additional environment variables. */
  environment?: Readonly<Record<string, string>>;
  /** Where to find git and ssh, as in `PATH`. */
  searchPath: string;
}

// Settings that protect this process. No repository and no user's configuration may change them (design §10).
const walls: Readonly<Record<string, string>> = {
  'core.hooksPath': '/dev/null',
  'core.fsmonitor': 'false',
  'core.askPass': '',
  'core.bigFileThreshold': '8m',
  // A mirror is a cache: what a crash of the machine damages is fetched again.
  'core.fsync': 'none',
  'credential.helper': '',
  'fetch.recurseSubmodules': 'false',
  'fetch.unpackLimit': '1',
  'gc.auto': '0',
  'http.followRedirects': 'false',
  'http.lowSpeedLimit': '1',
  'http.proxy': '',
  'maintenance.auto': 'false',
  'pack.threads': '1',
  'protocol.version': '2',
  'submodule.recurse': 'false',
  // Real repositories contain old mistakes that fsck rejects. Stele checks what it reads instead:
  // sizes, names and blob ids.
  'transfer.fsckObjects': 'false',
};

/** The whole environment of one run of git. It contains nothing of the server's own. */
export function environmentOf({
  protocols,
  config,
  environment,
  folder,
  searchPath,
}: GitSettings): Record<string, string> {
  const settings = Object.entries({ ...walls, ...config });
  return {
    PATH: searchPath,
    HOME: '/nonexistent',
    LC_ALL: 'C',
    GIT_DIR: folder,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_TERMINAL_PROMPT: '0',
    // git 2.39.4 or newer. Without it, git fetches objects that a server left out, and starts
    // itself endlessly for a shallow repository.
    GIT_NO_LAZY_FETCH: '1',
    GIT_ALLOW_PROTOCOL: protocols,
    GIT_CONFIG_COUNT: String(settings.length),
    ...Object.fromEntries(
      settings.flatMap(([key, value], index) => [
        [`GIT_CONFIG_KEY_${index}`, key],
        [`GIT_CONFIG_VALUE_${index}`, value],
      ]),
    ),
    ...environment,
  };
}

/** Whether there is such a program in the folders of a `PATH`. */
function isProgram(name: string, searchPath: string): boolean {
  return searchPath.split(':').some((folder) => existsSync(join(folder, name)));
}

/** Rejects when there is no git. */
export function assertGit(searchPath: string): void {
  if (isProgram('git', searchPath)) return;
  throw new RegistryError('unavailable', 'git is not installed, or not in a folder where the server looks for it.');
}
