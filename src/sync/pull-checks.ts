import type { Pull } from '../hosts/host.ts';
import type { Repository } from '../model/connection.ts';
import type { Registry } from '../registry/registry.ts';

/** Checks of pull requests: each is compiled and compared, and its host told; nothing is published. */
export interface PullChecks {
  /** Asks for a check; resolves when the wish is durable. A pull request into another branch than the one followed is passed over. */
  request(org: string, repositoryId: string, pull: Pull, isOpen: boolean): Promise<void>;
  /** Takes up what a crash left undone, and asks the hosts which pull requests are open: hooks may be lost. */
  reconcile(repositories: readonly Repository[]): Promise<void>;
  /** Stops what runs, and waits for its end. */
  close(): Promise<void>;
}

/** Makes the checks of a process. `tell` reports what was noted to the hosts of an organization. */
export type CreatePullChecks = (registry: Registry, tell: (org: string) => void) => PullChecks;
