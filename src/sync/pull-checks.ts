import type { Pull } from '../hosts/host.ts';
import type { Repository } from '../model/connection.ts';
import type { Registry } from '../registry/registry.ts';

/**
 * Checks pull requests: compiles and compares their documents and reports to the host. Publishes
 * nothing.
 */
export interface PullChecks {
  /**
   * Requests a check. Resolves when the request is durable. Ignores pull requests into branches
   * that are not followed.
   */
  request(org: string, repositoryId: string, pull: Pull, isOpen: boolean): Promise<void>;
  /** Checks the pull requests with this head again, because somebody asked for it. */
  again(org: string, repositoryId: string, commit: string): Promise<void>;
  /** Checks the open pull requests of a repository again, because its branch has moved. */
  recheck(org: string, repositoryId: string): Promise<void>;
  /**
   * Resumes checks after a crash, and asks the hosts for open pull requests, because hooks can be
   * lost.
   */
  reconcile(repositories: readonly Repository[]): Promise<void>;
  /** Stops running checks and waits for them to end. */
  close(): Promise<void>;
}

/** Creates the checks of a process. `report` reports saved checks to the hosts of an organization. */
export type CreatePullChecks = (registry: Registry, report: (org: string) => void) => PullChecks;
