import type { Scope } from '../model/access.ts';
import type { SecretName } from './environment.ts';

/** Keys that people make for themselves. */
export interface PersonalKeysConfig {
  /** Days after which a key expires at the latest. */
  days: number;
  /** Days after which a person must sign in again for their keys to work. */
  signInDays: number;
}

/** An identity provider. Its people and groups are others than those of the same names at another. */
export interface ProviderConfig {
  /** What the sign-in page calls it where there are several. Default: its host. */
  title?: string;
  issuer: string;
  clientId: string;
  clientSecret: SecretName;
  scope: string;
  claim: string;
  organizations?: Record<string, { organization: string; scopes: Scope[]; resources?: string[] }[]>;
  /** Groups whose members may create organizations. */
  creators?: string[];
}

export interface LoginConfig extends ProviderConfig {
  /** Further identity providers by name. */
  others?: Record<string, ProviderConfig>;
  sessionSecret: SecretName;
  lifetime: number;
  personalKeys: PersonalKeysConfig;
}

/** All identity providers: the first, whose name is empty, then the others. */
export function providersOf(login: LoginConfig | null): (ProviderConfig & { name: string })[] {
  if (login === null) return [];
  return [{ ...login, name: '' }, ...Object.entries(login.others ?? {}).map(([name, other]) => ({ ...other, name }))];
}

/**
 * A CI job whose token is exchanged for a key. Absent members are not checked unless they have a
 * default.
 */
export interface TrustedPublisher {
  issuer: string;
  /** Default: the registry's URL. */
  audience?: string;
  organization: string;
  repository: string;
  /** Ids of the repository and its owner. Default: those of the first accepted job. */
  repositoryId?: string;
  ownerId?: string;
  /** Full, such as `refs/heads/main`. */
  ref?: string;
  refType?: 'branch' | 'tag';
  /** Default: true without `ref`. */
  refProtected?: boolean;
  /** File that starts the run: a path at the job's own ref, or a full name with `@` and a ref. */
  workflow?: string;
  /** File that defines the job. Default: `workflow`. */
  jobWorkflow?: string;
  environment?: string;
  /** Events that may start the job. Default: those that need write access to the repository. */
  events?: string[];
  /** Whether the job may run for a merge request from a fork. Default: false. */
  forks?: boolean;
  scopes: Scope[];
  resources?: string[];
}
