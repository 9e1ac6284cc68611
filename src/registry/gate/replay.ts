import { bytesIn, type GivenRuleset, type Turn } from '../../compile/compile.ts';
import type { Principal } from '../../model/access.ts';
import { formatCoordinate, resourceIn, resourceTypes, type Coordinate } from '../../model/address.ts';
import { findingKey } from '../../model/gate.ts';
import { blockingIn, type BlockOn, type Problem, type Report } from '../../model/problem.ts';
import { coordinateOf, resourceRef, selectVersion, type Resource, type Version } from '../../model/resource.ts';
import { mayRead } from '../readable.ts';
import type { Registry } from '../registry.ts';
import { policyOf } from './policy.ts';
import { findRuleset, resolveRuleset } from './ruleset-gate.ts';
import { exemptionsOf, relint, compileDocument, type CompileRequest } from './compile-document.ts';
import { showReport } from './show-report.ts';
import { digestOf } from '../../model/digest.ts';
import { refusedBy } from '../../model/errors.ts';

/** A ruleset that might be published, and the coordinate that it would get. */
export interface Candidate {
  coordinate: Coordinate;
  ruleset: GivenRuleset;
}

/** How many findings a document has: all that its report would show, and those that block. */
export type Findings = Report['counts'] & { blocking: number };

/** What a candidate means for the latest version of one resource. */
export interface Replayed {
  /** `@org/type/slug@label`. */
  version: string;
  /** The ruleset that it must pass, as attached: the candidate's, or one that extends it. */
  ruleset: string;
  blockOn: BlockOn;
  /** With a ratchet, what the latest version has never blocks. */
  ratchet: boolean;
  /** Null: its ruleset cannot be found, so that nothing can be published. */
  current: Findings | null;
  proposed: Findings;
  /** Whether the document could be published now, but not with the candidate. */
  newlyBlocked: boolean;
  /** Findings that are new, and those that would be gone, of the first 1,000. */
  added: number;
  removed: number;
  /** Some of the new findings: none if the reader may not read them. */
  problems: Problem[];
}

export interface Totals {
  checked: number;
  newlyBlocked: number;
  /** Documents that are blocked now and would not be. */
  unblocked: number;
  /** Resources that use it and that the reader may not read. They are not checked. */
  others: number;
}

/** The last resource that a part of a replay checked. */
export type Position = Pick<Coordinate, 'type' | 'slug'>;

/** A part of a replay. `totals` count from the start of the replay. `position`: where to continue; null: done. */
export interface ReplayPage {
  items: Replayed[];
  totals: Totals;
  position: Position | null;
}

const none: Totals = { checked: 0, newlyBlocked: 0, unblocked: 0, others: 0 };

const maxQuotes = 20;

/**
 * Checks the latest version of every resource of an organization that uses a ruleset against a
 * candidate for it, directly or through a ruleset that extends it. Writes nothing. One document
 * after the other, as the organization's own work, until `isEnough` says so or all are done; at
 * least one. `start`: the position and totals of the part before.
 */
export async function replay(
  registry: Registry,
  principal: Principal,
  candidate: Candidate,
  start: { position: Position; totals: Totals } | null,
  isEnough: (items: number) => boolean,
  turn: Turn,
): Promise<ReplayPage> {
  const { org } = candidate.coordinate;
  const items: Replayed[] = [];
  const totals: Totals = { ...(start?.totals ?? none) };
  for await (const resource of usersOf(registry, candidate, start?.position ?? null)) {
    if (!mayRead(principal, resource)) {
      totals.others++;
      continue;
    }
    const version = selectVersion(resource, { kind: 'latest' })?.version;
    if (version === undefined) continue;
    const item = await replayOne(registry, principal, candidate, resource, version, { org, ...turn });
    items.push(item);
    totals.checked++;
    if (item.newlyBlocked) totals.newlyBlocked++;
    if (item.current?.blocking !== 0 && item.proposed.blocking === 0) totals.unblocked++;
    if (isEnough(items.length)) return { items, totals, position: { type: resource.type, slug: resource.slug } };
  }
  return { items, totals, position: null };
}

/** The resources that use a ruleset, type by type, after a position in this order. */
async function* usersOf(
  registry: Registry,
  { coordinate }: Candidate,
  start: Position | null,
): AsyncGenerator<Resource> {
  const { org } = coordinate;
  const uses = new Map<string, boolean>();
  for (const type of resourceTypes.slice(start === null ? 0 : resourceTypes.indexOf(start.type))) {
    const after = start?.type === type ? resourceRef({ org, ...start }) : undefined;
    for await (const name of registry.refs.list(`resources/${org}/${type}/`, after)) {
      const resource = (await registry.refs.read<Resource>(name))?.value;
      if (!resource || resource.deletedAt !== null) continue;
      const { ruleset: attached } = await policyOf(registry, resource);
      if (attached === null) continue;
      if (!uses.has(attached)) uses.set(attached, await leadsTo(registry, org, attached, coordinate));
      if (uses.get(attached)) yield resource;
    }
  }
}

/** Whether a ruleset is this one, or extends it. */
async function leadsTo(registry: Registry, org: string, attached: string, wanted: Coordinate): Promise<boolean> {
  if (isSame(attached, wanted)) return true;
  const current = await resolveRuleset(registry, org, attached).catch(() => null);
  return Object.keys(current?.extended ?? {}).some((base) => isSame(base, wanted));
}

function isSame(name: string, wanted: Coordinate): boolean {
  return resourceIn(name) === formatCoordinate(wanted);
}

async function replayOne(
  registry: Registry,
  principal: Principal,
  candidate: Candidate,
  resource: Resource,
  version: Version,
  turn: Turn,
): Promise<Replayed> {
  const { org } = resource;
  const { blockOn, ratchet, ...policy } = await policyOf(registry, resource);
  const attached = policy.ruleset!;
  const exemptions = await exemptionsOf(registry, version);
  const today = registry.now().toISOString().slice(0, 10);
  const check = (ruleset: GivenRuleset) =>
    relint(registry, resource, version, ruleset, { blockOn, exemptions, today, known: null }, turn);
  const instead = async (name: string) =>
    isSame(name, candidate.coordinate) ? candidate.ruleset : findRuleset(registry, org, name);
  const current = await resolveRuleset(registry, org, attached).catch(() => null);
  const now = current && (await check(current));
  const then = await check((await resolveRuleset(registry, org, attached, instead))!);
  const had = new Set(now?.problems.map(keyOf));
  const has = new Set(then.problems.map(keyOf));
  const { problems } = await showReport(registry, principal, then);
  const findings = { current: now && findingsIn(now, ratchet), proposed: findingsIn(then, ratchet) };
  return {
    version: formatCoordinate(coordinateOf(resource), { kind: 'version', version: version.label }),
    ruleset: attached,
    blockOn,
    ratchet,
    ...findings,
    newlyBlocked: findings.proposed.blocking > 0 && findings.current?.blocking === 0,
    added: then.problems.filter((problem) => !had.has(keyOf(problem))).length,
    removed: now?.problems.filter((problem) => !has.has(keyOf(problem))).length ?? 0,
    problems: problems.filter((problem) => !had.has(keyOf(problem))).slice(0, maxQuotes),
  };
}

/** What a candidate means for each document, as rows of a table with a heading. */
export function replayRows(items: readonly Replayed[]): (string | number)[][] {
  const head = ['version', 'ruleset', 'then', 'errors', 'warnings', 'errors then', 'warnings then', 'added', 'removed'];
  const rows = items.map(({ version, ruleset, current, proposed, added, removed, problems, ...item }) => {
    const then = item.newlyBlocked ? 'blocked' : proposed.blocking > 0 ? 'still blocked' : 'passes';
    const rules = [...new Set(problems.map(({ rule }) => rule))].join(' ');
    const findings = [current?.error ?? '', current?.warning ?? '', proposed.error, proposed.warning, added, removed];
    // Without its first character a coordinate is no formula.
    return [version.slice(1), ruleset.slice(1), then, ...findings, rules];
  });
  return [[...head, 'new rules'], ...rows];
}

/** A finding that becomes an error is a new one. */
function keyOf(problem: Problem): string {
  return problem.severity + findingKey(problem);
}

/** With a ratchet, the ruleset's findings never block: the latest version has them all. */
export function findingsIn(report: Report, ratchet: boolean): Findings {
  const documentErrors = report.problems.filter(
    ({ severity, ofRuleset }) => severity === 'error' && ofRuleset !== true,
  );
  return { ...report.counts, blocking: ratchet ? documentErrors.length : blockingIn(report) };
}

/** Compiles a document into a candidate for a ruleset. Throws `refused` with the report if it cannot be published. */
export async function readCandidate(
  registry: Registry,
  resource: Resource,
  coordinate: Coordinate,
  upload: Pick<CompileRequest, 'snapshot' | 'entry' | 'reader'>,
  signal?: AbortSignal,
): Promise<Candidate> {
  const request = { coordinate, ...upload, isAwaited: true, ...(signal && { signal }) };
  const { artifact, report } = await compileDocument(
    registry,
    request,
    resource,
    await policyOf(registry, resource),
    null,
  );
  if (artifact === null) throw refusedBy(report);
  const name = formatCoordinate(coordinate);
  const json = bytesIn(artifact, 'json');
  const ruleset = { digest: digestOf(json), name, json: Buffer.from(json).toString() };
  return { coordinate, ruleset };
}
