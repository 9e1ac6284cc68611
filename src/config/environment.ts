import { RegistryError } from '../model/errors.ts';

/** The name of an environment variable that holds a secret. */
export interface SecretName {
  env: string;
}

/** Reads a secret from the environment. Throws `malformed` if the variable is not set. */
export function readSecret({ env }: SecretName): string {
  const secret = process.env[env];
  if (!secret)
    throw new RegistryError('malformed', `The environment variable ${env} is not set. The configuration needs it.`);
  return secret;
}

/** Returns the environment's defaults for command line options. */
export function readEnvironment(): {
  port: string | undefined;
  key: string | undefined;
  data: string | undefined;
} {
  return { port: process.env.PORT, key: process.env.STELE_KEY, data: process.env.STELE_DATA };
}

/**
 * Lets this process work on so many files at once, unless the environment says how many. To be
 * called before the first file is opened. A thread for files waits as long as the disk takes to
 * confirm a write: with Node's four, four slow writes of one organization would stop the file
 * operations of all others.
 */
export function haveFileThreads(threads: number): void {
  process.env['UV_THREADPOOL_SIZE'] ??= String(threads);
}
