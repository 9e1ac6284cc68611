/** What a victim does beside its requests. `publish`: nothing. */
export type Job = 'publish' | 'gc' | 'sync' | 'backup' | 'restore';

/** What a victim is told. `dieAfter`: the number of file calls after which it kills itself. */
export interface Orders {
  dieAfter: number;
  job: Job;
  /** How many victims the store had before. */
  round: number;
}

/** What a victim says: where it listens, and how its job ended. */
export type Told = { url: string } | { done: true } | { failed: string };

/** Where in its folder a victim has what. */
export const folders = { store: 'store', backup: 'backup', restored: 'restored' } as const;
