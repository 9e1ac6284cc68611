import type { GivenRuleset } from '../../compile/compile.ts';
import { resourceTypes } from '../../model/address.ts';
import type { Digest } from '../../model/digest.ts';
import { insteadOf, isRegistryError } from '../../model/errors.ts';
import type { ReportedGate, Problem, Report } from '../../model/problem.ts';
import { nameOf, selectVersion, type Resource, type Version } from '../../model/resource.ts';
import { exemptionsIn, relint } from '../gate/compile-document.ts';
import { readReportOf } from '../stored.ts';
import { findingsIn, type Findings } from '../gate/replay.ts';
import { namesIn } from '../gate/show-report.ts';
import { policyOf } from '../gate/policy.ts';
import { resolveRuleset } from '../gate/ruleset-gate.ts';
import type { Registry, Author } from '../registry.ts';
import { listOrganizations } from '../maintenance/organizations.ts';
import { openRounds } from '../../scheduling/waiting.ts';

/** How often a report names a rule. */
export interface RuleCount extends Pick<Problem, 'rule' | 'severity' | 'ofRuleset'> {
  count: number;
}

/** What the ruleset of a resource, as it is now, finds in its latest version. */
export interface Rechecked {
  manifest: Digest;
  /** What decided it: the rulesets, the compiler and, with exemptions, the day. */
  by: string;
  at: string;
  /** The rulesets whose rules made the findings, by coordinate. */
  rulesets: string[];
  findings: Findings;
  rules: RuleCount[];
}

/** A replay of everything of an organization: the record `estate/<org>/replay`. */
export interface EstateReplay {
  startedAt: string;
  /** Null: it runs, or its process ended. The next one goes on with what it has. */
  endedAt: string | null;
  /** By the coordinate of the resource: those for which the report of the publication does not say it. */
  items: Record<string, Rechecked>;
}

/** Someone asked for a replay: the record `estate/<org>/request`. */
interface ReplayRequest {
  at: string;
}

export function estateRef(org: string, what: 'replay' | 'request'): string {
  return `estate/${org}/${what}`;
}

/** Milliseconds between two times that a replay keeps what it has. */
const beat = 60_000;

const maxRules = 100;

/**
 * Checks the latest versions of everything of an organization against their rulesets as they are now, one document
 * after the other and as the organization's own work. What neither a publication nor the replay before has said is checked, and nothing else.
 * Publishes nothing.
 */
export async function replayEstate(registry: Registry, org: string, signal?: AbortSignal): Promise<void> {
  const startedAt = registry.now().toISOString();
  const before = (await registry.refs.readFresh<EstateReplay>(estateRef(org, 'replay')))?.value.items ?? {};
  const items: EstateReplay['items'] = {};
  let keptAt = registry.monotonic();
  const keep = async (endedAt: string | null): Promise<void> => {
    const value: EstateReplay = { startedAt, endedAt, items: endedAt === null ? { ...before, ...items } : items };
    const change = { actor: 'replay', origin: null, action: 'replay' };
    await registry.refs.update<EstateReplay>(estateRef(org, 'replay'), () => ({ value, change }));
    keptAt = registry.monotonic();
  };
  await keep(null);
  for (const type of resourceTypes)
    for await (const name of registry.refs.list(`resources/${org}/${type}/`)) {
      signal?.throwIfAborted();
      const resource = (await registry.refs.read<Resource>(name))?.value;
      const version = resource && selectVersion(resource, { kind: 'latest' })?.version;
      if (!version || resource.deletedAt !== null) continue;
      const item = await recheck(registry, resource, version, before[nameOf(resource)], signal);
      if (item !== null) items[nameOf(resource)] = item;
      if (registry.monotonic() - keptAt > beat) await keep(null);
    }
  await keep(registry.now().toISOString());
}

/** Null: the report of its publication says it, or it has no ruleset. */
async function recheck(
  registry: Registry,
  resource: Resource,
  version: Version,
  before: Rechecked | undefined,
  signal: AbortSignal | undefined,
): Promise<Rechecked | null> {
  const { ruleset: attached, blockOn, ratchet } = await policyOf(registry, resource);
  if (attached === null) return null;
  const at = registry.now().toISOString();
  const { manifest } = version;
  const ruleset = await resolveRuleset(registry, resource.org, attached).catch(insteadOf('refused', null));
  if (!ruleset) return { manifest, by: '', at, ...missing(attached) };
  const report = await readReportOf(registry, version);
  const exemptions = exemptionsIn(report);
  const today = at.slice(0, 10);
  if (exemptions.length === 0 && report.gate && digestsOf(report.gate) === digestsIn(ruleset)) return null;
  const by = [digestsIn(ruleset), registry.compiler.id, blockOn, ratchet, exemptions.length > 0 && today].join(' ');
  if (before?.manifest === manifest && before.by === by) return before;
  try {
    const gate = { blockOn, exemptions, today, known: null };
    const now = await relint(registry, resource, version, ruleset, gate, { org: resource.org, signal });
    const rulesets = namesIn({ ruleset, ...(ruleset.extended && { extended: ruleset.extended }) });
    return { manifest, by, at, rulesets, findings: findingsIn(now, ratchet), rules: rulesIn(now).slice(0, maxRules) };
  } catch (error) {
    // Such as a sandbox that was lost. The others are checked all the same, and this one with the next replay.
    if (!isRegistryError(error) || signal?.aborted) throw error;
    registry.log('warn', 'not replayed', { resource: nameOf(resource), code: error.code });
    return null;
  }
}

/** Nothing can be published while the ruleset is missing. */
function missing(name: string): Pick<Rechecked, 'rulesets' | 'findings' | 'rules'> {
  return {
    rulesets: [name],
    findings: { error: 1, warning: 0, info: 0, blocking: 1 },
    rules: [{ rule: 'ruleset-missing', severity: 'error', ofRuleset: true, count: 1 }],
  };
}

/** The rules that a report names, the most frequent first. */
export function rulesIn({ problems }: Pick<Report, 'problems'>): RuleCount[] {
  const alike = Map.groupBy(problems, ({ rule, severity, ofRuleset }) => `${severity} ${rule} ${ofRuleset}`);
  const counted = [...alike.values()].map((each): RuleCount => {
    const { rule, severity, ofRuleset } = each[0]!;
    return { rule, severity, ...(ofRuleset && { ofRuleset }), count: each.length };
  });
  return counted.sort((a, b) => b.count - a.count || (a.rule < b.rule ? -1 : 1));
}

function digestsOf({ ruleset, extended = {} }: ReportedGate): string {
  return [ruleset.digest, ...Object.values(extended).sort()].join(' ');
}

function digestsIn({ digest, extended = {} }: GivenRuleset): string {
  const bases = Object.values(extended).map((base) => base.digest);
  return [digest, ...bases.sort()].join(' ');
}

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

/** How far the replay of everything is. */
export interface ReplayState {
  /** The last request. Null: nobody asked. */
  requestedAt: string | null;
  startedAt: string | null;
  /** Null: it has not ended. */
  endedAt: string | null;
}

type Kept = { request: ReplayRequest | null; replay: EstateReplay | null; isRunning: boolean };

/** Reads how far the replay of an organization is. */
export async function replayState(registry: Registry, org: string): Promise<ReplayState> {
  return stateOf(await readKept(registry, org));
}

/** Asks for a replay of everything of an organization, unless one waits or runs. */
export async function requestReplay(registry: Registry, org: string, author: Author): Promise<ReplayState> {
  const kept = await readKept(registry, org);
  if (isAsked(kept) || kept.isRunning) return stateOf(kept);
  const request: ReplayRequest = { at: registry.now().toISOString() };
  const change = { actor: author.actor, origin: author.origin, action: 'request' };
  await registry.refs.update<ReplayRequest>(estateRef(org, 'request'), () => ({ value: request, change }));
  return stateOf({ ...kept, request });
}

function stateOf({ request, replay }: Kept): ReplayState {
  return { requestedAt: request?.at ?? null, startedAt: replay?.startedAt ?? null, endedAt: replay?.endedAt ?? null };
}

async function readKept({ refs, now }: Registry, org: string): Promise<Kept> {
  const request = (await refs.read<ReplayRequest>(estateRef(org, 'request')))?.value ?? null;
  const newest = await refs.read<EstateReplay>(estateRef(org, 'replay'));
  const replay = newest?.value ?? null;
  // Each keeps what it has now and then, however long it waits for a turn: rather one too many than none.
  const isRunning = replay?.endedAt === null && now().getTime() - Date.parse(newest!.at) < 10 * beat;
  return { request, replay, isRunning };
}

function isAsked({ request, replay }: Kept): boolean {
  return request !== null && (replay === null || request.at > replay.startedAt);
}

/**
 * Replays everything of each organization, one after the other: when somebody asked, and once a day. Logs what goes wrong,
 * and tries again at the next look.
 */
export function openReplays(registry: Registry): { close(): Promise<void> } {
  // A server starts with other work.
  let allAt = registry.monotonic() + hour / 4;
  /** The generations of the requests that were looked at. */
  let seen = new Map<string, number>();

  async function replayDue(signal: AbortSignal): Promise<void> {
    const requests = new Map<string, number>();
    for await (const { name, generation } of registry.refs.newest('estate/'))
      if (name.endsWith('/request')) requests.set(name.split('/')[1]!, generation);
    const isDaily = registry.monotonic() >= allAt;
    if (isDaily) allAt = registry.monotonic() + hour;
    const changed = [...requests.keys()].filter((org) => seen.get(org) !== requests.get(org));
    seen = requests;
    for (const org of isDaily ? await listOrganizations(registry) : changed) {
      const kept = await readKept(registry, org);
      // Another process is at it, or was when it ended: look again.
      if (kept.isRunning) seen.delete(org);
      if (kept.isRunning || !(isAsked(kept) || (isDaily && isOld(kept.replay)))) continue;
      await replayEstate(registry, org, signal).catch((error: unknown) => {
        if (signal.aborted || !isRegistryError(error)) throw error;
        registry.log('warn', 'not replayed', { org, code: error.code });
      });
    }
  }

  function isOld(replay: EstateReplay | null): boolean {
    return !replay?.endedAt || registry.now().getTime() - Date.parse(replay.startedAt) >= day;
  }

  const rounds = openRounds({ first: minute, pause: minute }, replayDue, (error) =>
    registry.log('warn', 'not replayed', { error: String(error) }),
  );
  const unwatch = registry.refs.watch((name) => void (/^estate\/.*\/request$/.test(name) && rounds.wake(0)));
  return {
    close() {
      unwatch();
      return rounds.close();
    },
  };
}
