import type { Dependency } from './dependency.ts';

/** The days after which a report of a consumer expires. */
export const consumerDays = 90;

/** A program that uses contracts and is in no followed repository, as it reported itself. */
export interface Consumer {
  name: string;
  /** What is in its `contracts.lock`. */
  contracts: ReportedContract[];
  /** When it last reported. ISO 8601, UTC. */
  reportedAt: string;
}

/** A contract that a consumer pinned. */
export interface ReportedContract extends Pick<Dependency, 'range' | 'version' | 'digest'> {
  contract: Dependency['coordinate'];
}

/** The name of the record of a consumer. */
export function consumerRef(org: string, name: string): string {
  return `consumers/${org}/${name}`;
}
