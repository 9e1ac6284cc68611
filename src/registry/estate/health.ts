import { readFileSync } from 'node:fs';
import type { Principal } from '../../model/access.ts';
import { resourceTypes } from '../../model/address.ts';
import { insteadOf } from '../../model/errors.ts';
import { operationName } from '../../model/outline.ts';
import { blockingIn, type Report } from '../../model/problem.ts';
import type { Lifecycle } from '../../model/ownership.ts';
import { isOffered, nameOf, type Resource, type Version } from '../../model/resource.ts';
import { outlineOf } from '../derived.ts';
import { mayReadFindings, mayReadRulesets } from '../gate/show-report.ts';
import { listUsingConsumers } from '../graph/dependants.ts';
import { findGranted, readReport } from '../read.ts';
import { readableResources } from '../readable.ts';
import type { Registry } from '../registry.ts';
import {
  replayState,
  type ReplayState,
  estateRef,
  rulesIn,
  type EstateReplay,
  type Rechecked,
  type RuleCount,
} from './replay-estate.ts';

/** What counts in a score. The formula is data: `content/score.json`. */
export interface ScorePart {
  name: 'errors' | 'warnings' | 'owner' | 'lifecycle' | 'undated' | 'behind' | 'age';
  weight: number;
  /** The count at which the part is worth nothing. */
  most: number;
  /** What is counted, for people. */
  says: string;
}

/** What is counted of a resource. A part that is not counted is left out of its score. */
type Counts = Partial<Record<ScorePart['name'], number>>;

export const formula = JSON.parse(readFileSync(new URL('../../../content/score.json', import.meta.url), 'utf8')) as {
  readonly description: string;
  readonly parts: readonly ScorePart[];
};

/** The score of counts, 0 to 100. */
export function scoreOf(counts: Counts): number {
  const counted = formula.parts.filter(({ name }) => counts[name] !== undefined);
  const worth = ({ name, most }: ScorePart) => Math.max(0, 1 - counts[name]! / most);
  const whole = counted.reduce((sum, { weight }) => sum + weight, 0);
  return Math.round((100 * counted.reduce((sum, part) => sum + part.weight * worth(part), 0)) / whole);
}

function meanOf(scores: readonly number[]): number | null {
  return scores.length === 0 ? null : Math.round(scores.reduce((sum, score) => sum + score, 0) / scores.length);
}

/** How a resource is doing: its latest version, as a principal may read it. */
export interface ResourceHealth {
  resource: string;
  name: string;
  owner: string | null;
  lifecycle: Lifecycle | null;
  version: string;
  publishedAt: string;
  /** The rules that it fails: those of its ruleset as it was when it was published, or at `recheckedAt`. */
  rules: Omit<RuleCount, 'ofRuleset'>[];
  /** When its ruleset was replayed. Null: it is as when the version was published. */
  recheckedAt: string | null;
  /** How many of its findings would reject it now. */
  blocking: number;
  /** Operations that are deprecated, at most 50. */
  deprecated: { operation: string; sunset: string | null }[];
  /** Names of those without a sunset, at most 50. */
  undated: string[];
  /** Consumers that pinned any version. Which operations they call is not known. */
  consumers: number;
  /** Versions after the first without a list of what changed. */
  uncompared: number;
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
  replay: ReplayState;
  items: ResourceHealth[];
  truncated: boolean;
}

/** What may be wrong with a resource: lists of those with which it is. */
export const concerns: Readonly<Record<string, (item: ResourceHealth) => boolean>> = {
  blocked: ({ blocking }) => blocking > 0,
  'deprecated-in-use': ({ deprecated, consumers }) => deprecated.length > 0 && consumers > 0,
  undated: ({ undated }) => undated.length > 0,
  uncompared: ({ uncompared }) => uncompared > 0,
  behind: ({ counts }) => counts.behind! > 0,
  owner: ({ owner }) => owner === null,
  lifecycle: ({ lifecycle }) => lifecycle === null,
};

const maxResources = 1000;
const maxOperations = 50;
const weeks = 12;
const day = 86_400_000;

/**
 * Reads how the resources of an organization are doing, from what was stored when their latest versions were published, and
 * from the replay of their rulesets where that says more. The worst first. Writes nothing. `signal`: nobody waits any more.
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
  const users = new Map<string, { all: number; behind: number }>();
  for (const { used, user } of await listUsingConsumers(registry, principal, seen, () => false)) {
    const { all, behind } = users.get(nameOf(used)) ?? noUsers;
    users.set(nameOf(used), { all: all + 1, behind: behind + (user.behind > 0 ? 1 : 0) });
  }
  const replayed = (await registry.refs.read<EstateReplay>(estateRef(org, 'replay')))?.value.items ?? {};
  const items: ResourceHealth[] = [];
  for (const resource of seen) {
    signal?.throwIfAborted();
    // It may be deleted or withdrawn meanwhile.
    const name = nameOf(resource);
    const known = { users: users.get(name) ?? noUsers, replayed: replayed[name] };
    const health = await healthOf(registry, principal, resource, known).catch(insteadOf('gone', null));
    if (health !== null) items.push(health);
  }
  items.sort((a, b) => a.score - b.score || (a.resource < b.resource ? -1 : 1));
  return {
    score: meanOf(items.map(({ score }) => score)),
    trend: trendOf(seen, registry.now()),
    replay: await replayState(registry, org),
    items,
    truncated,
  };
}

const noUsers = { all: 0, behind: 0 };

async function healthOf(
  registry: Registry,
  principal: Principal,
  { org, type, slug }: Resource,
  { users, replayed }: { users: typeof noUsers; replayed: Rechecked | undefined },
): Promise<ResourceHealth | null> {
  const latest = (await findGranted(registry, principal, { org, type, slug }, { kind: 'latest' }))?.granted;
  if (!latest) return null;
  const { resource, version } = latest;
  const { owner = null, lifecycle = null, name } = resource;
  const report = await readReport(registry, latest);
  const again = replayed?.manifest === version.manifest ? replayed : null;
  const findings = again?.findings ?? { ...report.counts, blocking: blockingIn(report) };
  const outline = type === 'apis' ? await outlineOf(registry, latest) : null;
  const deprecated = (outline?.operations ?? []).filter((each) => each.deprecated);
  const undated = deprecated.filter(({ sunset }) => sunset === undefined);
  const counts: Counts = {
    errors: findings.error,
    warnings: findings.warning,
    ...stated(resource),
    ...(outline && { undated: undated.length }),
    behind: users.behind,
    age: ageOf(version, registry.now()),
  };
  return {
    resource: nameOf(resource),
    name,
    owner,
    lifecycle,
    version: version.label,
    publishedAt: version.publishedAt,
    rules: await rulesFor(registry, principal, report, again),
    recheckedAt: again?.at ?? null,
    blocking: findings.blocking,
    deprecated: deprecated
      .slice(0, maxOperations)
      .map((each) => ({ operation: operationName(each), sunset: each.sunset ?? null })),
    undated: undated.slice(0, maxOperations).map(operationName),
    consumers: users.all,
    uncompared: resource.versions.slice(1).filter((each) => isOffered(each) && !each.changes).length,
    counts,
    score: scoreOf(counts),
  };
}

/** The rules that a version fails, as the principal may read them. */
async function rulesFor(
  registry: Registry,
  principal: Principal,
  report: Report,
  again: Rechecked | null,
): Promise<ResourceHealth['rules']> {
  const isTold = again
    ? await mayReadRulesets(registry, principal, again.rulesets)
    : await mayReadFindings(registry, principal, report);
  return (again?.rules ?? rulesIn(report))
    .filter(({ ofRuleset, rule }) => isTold || (!ofRuleset && !rule.startsWith('exemption-')))
    .map(({ rule, severity, count }) => ({ rule, severity, count }));
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
