import { connectedResources } from '../plan/plan.ts';
import { planDocuments, type Plan } from '../plan/discover.ts';
import { repositoryId, repositoryRef, unread, type Repository } from '../model/connection.ts';
import { notFound, refused } from '../model/errors.ts';
import { gateSettingsOf, type GateSettings } from '../model/gate.ts';
import { formatProblem, type Report } from '../model/problem.ts';
import type { Planned } from '../plan/planned.ts';
import { statedVersion } from '../plan/release-tags.ts';
import type { Registry } from '../registry/registry.ts';
import { remoteOf } from '../registry/remote.ts';
import type { Snapshot } from '../source/snapshot.ts';

/** A repository to look into. `discover`: the folder to follow, or `''`. */
export type Wanted = Pick<Repository, 'org' | 'url' | 'branch' | 'credential'> & { discover: string };

/**
 * Returns what the next sync of a repository would plan, at the newest commit of its branch. If the
 * registry follows it already, the plan continues from there. Writes nothing. Rejects with
 * `not_found` when the branch or the folder does not exist, and with `unreachable`.
 */
export async function discoverRepository(
  registry: Registry,
  wanted: Wanted,
  signal: AbortSignal,
): Promise<{ commit: string; plan: Plan }> {
  const { org, url, branch, discover } = wanted;
  const recorded = await registry.refs.read<Repository>(repositoryRef(org, repositoryId(url, branch)));
  const repository: Repository = { ...unread, ...recorded?.value, ...wanted };
  const remote = await remoteOf(registry, repository);
  const tip = await registry.source.tip(remote, signal);
  if (!tip.found) throw notFound(tip.detail);
  const snapshot = await registry.source.snapshot(remote, tip.commit, signal);
  if (discover !== '' && !(await snapshot.entries()).some(({ path }) => path.startsWith(`${discover}/`)))
    throw notFound(`${url} has no folder ${discover} at ${tip.commit.slice(0, 12)}.`);
  const published = new Set((await connectedResources(registry, repository)).map(({ connection }) => connection.path));
  return { commit: tip.commit, plan: await planDocuments({ registry, repository, snapshot, signal }, published) };
}

/** A document that a sync would publish, as `POST /v1/check` takes it, without its bytes. */
export type Candidate = Pick<Planned, 'path' | 'coordinate' | 'onConflict' | 'exemptions' | 'view'> & {
  /** What a new resource is made with. */
  settings: Pick<Planned, 'ruleset' | 'validation'> & GateSettings;
  /** The pattern of the tags that publish it. */
  tags?: string;
  /** As for a `PublishRequest`. Rejects as `statedVersion`. */
  stated?: () => Promise<string | null | undefined>;
};

/**
 * Returns the documents that a sync would publish if these files were the first commit of a repository, and what is wrong in
 * `stele.yaml`. Writes nothing. Throws `refused` for an invalid `stele.yaml`.
 */
export async function candidatesIn(
  registry: Registry,
  org: string,
  snapshot: Snapshot,
): Promise<{ candidates: Candidate[]; report: Report }> {
  const repository = { ...unread, org, url: '', branch: null, credential: null, discover: '' };
  const { documents, isRefused, settings } = await planDocuments({ registry, repository, snapshot });
  if (isRefused) throw refused(settings.report.problems.map(formatProblem).join('\n'));
  return { candidates: documents.map((planned) => candidateOf(registry, snapshot, planned)), report: settings.report };
}

function candidateOf(registry: Registry, snapshot: Snapshot, planned: Planned): Candidate {
  const { path, coordinate, onConflict, exemptions, ruleset, validation, view } = planned;
  return {
    path,
    coordinate,
    onConflict,
    ...(view && { view }),
    settings: { ruleset, validation, ...gateSettingsOf(planned) },
    ...(exemptions && { exemptions }),
    ...(planned.tags !== null && { tags: planned.tags }),
    stated: () => statedVersion(registry, snapshot, planned),
  };
}
