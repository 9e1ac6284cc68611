/** The result of the last sync for one documentation site. */
export interface SiteState {
  outcome: 'published' | 'unchanged' | 'rejected';
  /** When it last changed between healthy and unhealthy. ISO 8601, UTC. */
  since: string;
  /** Why it was rejected. One sentence; null when it is healthy. */
  detail: string | null;
}
