import { isInStep, type DocumentState, type Repository } from './connection.ts';
import type { SiteState } from '../sites/model/site-state.ts';

/**
 * The state of a resource's or a site's connection, for people and programs.
 *
 * - `synced`: the newest commit is published.
 * - `behind`: there is something new, or nothing was synced yet.
 * - `failed`: the sync failed, or the document or site was rejected.
 * - `detached`: the branch, repository or file is missing, or another repository took its place.
 * - `diverged`: the newest commit is published, but the repository rewrote its history.
 */
export type ConnectionState = 'synced' | 'behind' | 'failed' | 'diverged' | 'detached';

/**
 * The state of a connection, why, and since when. `repository` and `document` are null when no sync
 * has read them yet. `hasNews`: a sync found something new and is reading it.
 */
export function connectionState(
  repository: Repository | null,
  document: DocumentState | SiteState | null,
  hasNews = false,
): { state: ConnectionState; detail: string | null; since: string | null } {
  const since = repository?.since ?? repository?.syncedAt ?? null;
  if (repository?.gone) return { state: 'detached', detail: repository.gone, since };
  if (repository?.state === 'detached') return { state: 'detached', detail: repository.detail, since };
  if (document?.outcome === 'detached') return documentState('detached', document);
  if (repository?.state === 'failed') return { state: 'failed', detail: repository.detail, since };
  if (document && !isInStep(document)) return documentState('failed', document);
  if (repository?.diverged) return { state: 'diverged', ...repository.diverged };
  const isBehind = repository === null || repository.state === 'new' || repository.commit === null || hasNews;
  return { state: isBehind ? 'behind' : 'synced', detail: null, since };
}

function documentState(
  state: ConnectionState,
  { detail = null, since = null }: { detail?: string | null; since?: string | null },
): ReturnType<typeof connectionState> {
  return { state, detail, since };
}
