import type { Principal } from '../../model/access.ts';
import { resourceTypes } from '../../model/address.ts';
import { isRegistryError } from '../../model/errors.ts';
import type { Severity } from '../../model/problem.ts';
import { isOffered, nameOf, type Lifecycle, type Resource, type Version } from '../../model/resource.ts';
import { outlineOf } from '../derived.ts';
import { mayReadFindings } from '../gate/show-report.ts';
import { listUsingConsumers } from '../graph/consumers.ts';
import { grantRead, grantVersion, readReport } from '../read.ts';
import { readableResources } from '../readable.ts';
import type { Registry } from '../registry.ts';
import { meanOf, scoreOf, type Counts } from './score.ts';

/** How a resource is doing: its latest version, as a principal may read it. */
export interface ResourceHealth {
  resource: string;
  name: string;
  owner: string | null;
  lifecycle: Lifecycle | null;
  /** Label of the latest version. */
  version: string;
  publishedAt: string;
  /** What its report says: the rules that it fails. */
  rules: { rule: string; severity: Severity; count: number }[];
  /** Names of operations that are deprecated without a sunset, at most 50. */
  undated: string[];
  counts: Counts;
  score: number;
}

/** The score of all resources at the end of a week. */
export interface WeekScore {
  /** The last day: `2026-11-27`. */
  week: string;
  /** Null: there were none. */
  score: number | null;
}

/** How everything of an organization is doing, as a principal may read it. */
export interface EstateHealth {
  score: number | null;
  trend: WeekScore[];
  items: ResourceHealth[];
  /** Whether there are more resources than were looked at. */
  truncated: boolean;
}

const maxResources = 1000;
const maxUndated = 50;
const weeks = 12;
const day = 86_400_000;

/**
 * Reads how the resources of an organization are doing, from what was stored when their latest versions were published.
 * The worst first. Writes nothing. `signal`: nobody waits any more.
 */
export async function readHealth(
  registry: Registry,
  principal: Principal,
  org: string,
  signal?: AbortSignal,
): Promise<EstateHealth> {
  const resources: Resource[] = [];
  for (const type of resourceTypes)
    for await (const { value } of readableResources(registry, principal, org, type, null))
      if (value.latest !== null && resources.length <= maxResources) resources.push(value);
  const truncated = resources.length > maxResources;
  const seen = resources.slice(0, maxResources);
  const behind = new Map<string, number>();
  for (const { used, user } of await listUsingConsumers(registry, principal, seen, () => false))
    if (user.behind > 0) behind.set(nameOf(used), (behind.get(nameOf(used)) ?? 0) + 1);
  const items: ResourceHealth[] = [];
  for (const resource of seen) {
    signal?.throwIfAborted();
    // It may be deleted or withdrawn meanwhile.
    const health = await healthOf(registry, principal, resource, behind.get(nameOf(resource)) ?? 0).catch(goneAsNull);
    if (health !== null) items.push(health);
  }
  items.sort((a, b) => a.score - b.score || (a.resource < b.resource ? -1 : 1));
  return { score: meanOf(items.map(({ score }) => score)), trend: trendOf(seen, registry.now()), items, truncated };
}

async function healthOf(
  registry: Registry,
  principal: Principal,
  { org, type, slug }: Resource,
  behind: number,
): Promise<ResourceHealth | null> {
  const granted = await grantRead(registry, principal, { org, type, slug });
  const latest = granted && grantVersion(granted, { kind: 'latest' })?.granted;
  if (!latest) return null;
  const { resource, version } = latest;
  const { owner = null, lifecycle = null, name } = resource;
  const report = await readReport(registry, latest);
  const isTold = await mayReadFindings(registry, principal, report);
  const problems = report.problems.filter(
    ({ ofRuleset, rule }) => isTold || (!ofRuleset && !rule.startsWith('exemption-')),
  );
  const rules = [...Map.groupBy(problems, ({ rule, severity }) => `${severity} ${rule}`).values()].map((alike) => {
    const { rule, severity } = alike[0]!;
    return { rule, severity, count: alike.length };
  });
  rules.sort((a, b) => b.count - a.count || (a.rule < b.rule ? -1 : 1));
  const outline = type === 'apis' ? await outlineOf(registry, latest) : null;
  const undated = (outline?.operations ?? []).filter((each) => each.deprecated && each.sunset === undefined);
  const counts: Counts = {
    errors: report.counts.error,
    warnings: report.counts.warning,
    ...stated(resource),
    ...(outline && { undated: undated.length }),
    behind,
    age: ageOf(version, registry.now()),
  };
  return {
    resource: nameOf(resource),
    name,
    owner,
    lifecycle,
    version: version.label,
    publishedAt: version.publishedAt,
    rules,
    undated: undated.slice(0, maxUndated).map(({ method, path }) => `${method} ${path}`),
    counts,
    score: scoreOf(counts),
  };
}

function goneAsNull(error: unknown): null {
  if (isRegistryError(error, 'gone')) return null;
  throw error;
}

function stated({ owner, lifecycle }: Pick<Resource, 'owner' | 'lifecycle'>): Counts {
  return { owner: owner ? 0 : 1, lifecycle: lifecycle ? 0 : 1 };
}

function ageOf({ publishedAt }: Version, at: Date): number {
  return Math.max(0, Math.floor((at.getTime() - Date.parse(publishedAt)) / day));
}

/** The scores of the last weeks, of what the records say: findings, owner, lifecycle and age. Oldest first. */
export function trendOf(resources: readonly Resource[], now: Date): WeekScore[] {
  return Array.from({ length: weeks }, (_, at) => {
    const end = new Date(now.getTime() - (weeks - 1 - at) * 7 * day);
    const scores = resources.flatMap((resource) => {
      const version = resource.versions.findLast(
        (each) => isOffered(each) && Date.parse(each.publishedAt) <= end.getTime(),
      );
      if (version === undefined) return [];
      const { error = 0, warning = 0 } = version.problems ?? {};
      return [scoreOf({ errors: error, warnings: warning, ...stated(resource), age: ageOf(version, end) })];
    });
    return { week: end.toISOString().slice(0, 10), score: meanOf(scores) };
  });
}
