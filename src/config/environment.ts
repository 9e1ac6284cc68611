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
