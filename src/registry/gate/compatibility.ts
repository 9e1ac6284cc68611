import type { Change, Comparison } from '../../model/comparison.ts';
import { exempt, expiredProblem, placeText, type Compatibility } from '../../model/gate.ts';
import {
  type Exempted,
  type Exemption,
  createReport,
  problemAtFile,
  type Problem,
  type Report,
} from '../../model/problem.ts';
import { releaseBefore, fittingVersion } from '../../model/compared-with.ts';
import { parseSemanticVersion, readerOf } from '../../model/label.ts';
import { findVersion, type Resource, type Version, nameOf, chooseLatest } from '../../model/resource.ts';
import type { Compiled, Turn } from '../../compile/compile.ts';
import { compareWith, publishedAs, type NextDocument } from '../compare-versions.ts';
import type { Next } from '../append-version.ts';
import type { Registry } from '../registry.ts';
import { readPublished } from '../derived.ts';
import { policyOf } from './policy.ts';

interface NextDraft {
  label: string;
  entry: string;
  compiled: Compiled;
  exemptions: readonly Exemption[];
  /** As `replacedLatest`. */
  replaced?: Version | null;
}

/**
 * Checks a document against the version before it, and against the one that it replaces as the latest. Returns its report, with each breaking change
 * that its version does not allow as an error, and each that an exemption accepts beside them. What
 * cannot be judged counts as breaking.
 */
export async function checkCompatibility(
  registry: Registry,
  resource: Resource,
  compatibility: Compatibility,
  next: NextDraft,
  turn: Turn = {},
): Promise<Report> {
  let { report } = next.compiled;
  if (compatibility === 'none') return report;
  for (const before of [followed(resource, next.label, compatibility), next.replaced ?? null]) {
    const compiled = { ...next.compiled, report };
    report = await checkAgainst(registry, resource, compatibility, before, { ...next, compiled }, turn);
  }
  return report;
}

async function checkAgainst(
  registry: Registry,
  resource: Resource,
  compatibility: Compatibility,
  before: Version | null,
  { label, entry, compiled, exemptions }: NextDraft,
  turn: Turn,
): Promise<Report> {
  const { artifact, report } = compiled;
  if (before === null || !artifact) return report;
  if (compatibility === 'semver' && mayBreak(before.label, label)) return report;
  const after = publishedAs(artifact);
  const compare = (current: NextDocument) => compareWith(registry, resource, before, current, turn);
  let comparison = await compare(after);
  const bytes = compiled.files.find(({ path }) => path === entry)?.bytes;
  // Finding the lines means reading the file again, and most documents need none.
  if (bytes && findingsOf(comparison, entry).length > 0)
    comparison = await compare({ ...after, source: { path: entry, bytes } });
  const message = `${remedyForBreak(resource, compatibility, before.label, label)} It breaks clients of version ${before.label}.`;
  const advice = problemAtFile('compatibility', entry, message, 'info');
  const today = registry.now().toISOString().slice(0, 10);
  const breaks = { problems: findingsOf(comparison, entry), truncated: comparison.truncated };
  return withBreaks(report, breaks, advice, exemptions, today);
}

/**
 * Adds breaks to the report of a document: as errors, with what to do, or beside them where an exemption accepts
 * them. `today`: as in `exempt`.
 */
export function withBreaks(
  report: Report,
  breaks: Pick<Report, 'problems' | 'truncated'>,
  advice: Problem,
  exemptions: readonly Exemption[],
  today: string,
): Report {
  const { left, exempted, expired } = exempt(breaks.problems, exemptions, today);
  const passed = withApproved(report, exempted);
  if (left.length === 0) return passed;
  const named = new Set(expired.map(({ at }) => placeText(at)));
  const others = passed.problems.filter((problem) => !isUnusedAt(problem, named));
  const whole = createReport([...others, ...left, ...expired.map(expiredProblem), advice]);
  // Where a gate lets errors of its ruleset pass, the breaking changes still block.
  const blocking = report.blocking === undefined ? {} : { blocking: report.blocking + left.length };
  return { ...passed, ...whole, ...blocking, truncated: whole.truncated || report.truncated || breaks.truncated };
}

/**
 * Adds approved breaks to the report of a document. The report, which knows the ruleset alone, may
 * call their exemptions unused.
 */
export function withApproved(report: Report, approved: readonly Exempted[]): Report {
  if (approved.length === 0) return report;
  const used = new Set(approved.map(({ exemption }) => exemption.at));
  const problems = report.problems.filter((problem) => !isUnusedAt(problem, used));
  const info = report.counts.info - (report.problems.length - problems.length);
  const exempted = [...(report.exempted ?? []), ...approved];
  return { ...report, problems, counts: { ...report.counts, info }, exempted };
}

function isUnusedAt(problem: Problem, places: ReadonlySet<string>): boolean {
  return problem.rule === 'exemption-unused' && places.has(placeText(problem));
}

function remedyForBreak(resource: Resource, compatibility: Compatibility, before: string, label: string): string {
  const exempting = 'exempt each change in stele.yaml';
  const old = parseSemanticVersion(before);
  if (compatibility === 'strict') return `Undo the change, or ${exempting}.`;
  if (old === null || parseSemanticVersion(label) === null)
    return `Undo the change, or ${exempting}: ${old === null ? before : label} is not a semantic version such as 2.0.0, so it cannot announce a break.`;
  return `Publish it as ${fittingVersion(resource, before, 'breaking')} instead of ${label}, or ${exempting}.`;
}

/**
 * The version whose clients a new one must not break: under `semver` the release before it, under
 * `strict` the latest version. Null: there are none.
 */
function followed(resource: Resource, label: string, compatibility: Compatibility): Version | null {
  if (compatibility === 'semver') return releaseBefore(resource, { label });
  return resource.latest === null ? null : findVersion(resource, resource.latest);
}

/** Whether semantic versioning allows a break between two labels. */
function mayBreak(before: string, after: string): boolean {
  const old = parseSemanticVersion(before);
  const next = parseSemanticVersion(after);
  if (old === null || next === null) return false;
  const [oldMajor, oldMinor] = old.core;
  const [major, minor] = next.core;
  if (major !== oldMajor) return major > oldMajor;
  return oldMajor === 0n && minor > oldMinor;
}

function findingsOf({ changes, reason }: Comparison, file: string): Problem[] {
  if (reason !== null) {
    const message = `The document cannot be compared with the version before it: ${reason}`;
    return [problemAtFile('compatibility-unknown', file, message)];
  }
  return changes
    .filter(({ verdict }) => verdict === 'breaking' || verdict === 'unknown')
    .map((change) => findingOf(change, file));
}

function findingOf({ code, message, pointers, place }: Change, file: string): Problem {
  return { ...problemAtFile(code, file, message), ...place, pointer: pointers.after ?? pointers.before ?? '' };
}

/**
 * Why a resource may not come to this state by less than the scope `admin`: readers of `latest` get another version, whose
 * publication its gate would not let pass. Null: it may.
 */
export async function whyNotMoveLatest(registry: Registry, before: Resource, after: Resource): Promise<string | null> {
  if (before.latest === after.latest) return null;
  const { compatibility, impact, approval } = await policyOf(registry, before);
  if (compatibility === 'none' && impact !== 'block' && approval === 'none') return null;
  const from = versionAt(before, before.latest ?? chooseLatest(unyanked(before)));
  const to = versionAt(after, after.latest);
  if (from === null || from.label === to?.label) return null;
  const move = `The latest version of ${nameOf(before)} would be ${to?.label ?? 'none'} instead of ${from.label}`;
  const remedy = 'Publish a version that passes, or use the scope admin.';
  if (to === null) return `${move}. ${remedy}`;
  if (compatibility === 'semver' && impact !== 'block' && approval === 'none' && mayBreak(from.label, to.label))
    return null;
  const at = registry.now().toISOString();
  const next = { ...(await readPublished(registry, to)), at };
  const { counts, reason, changes } = await compareWith(registry, before, from, next, { isAwaited: true });
  if (reason === null && counts.breaking + counts.unknown === 0) return null;
  return `${move}, which the gate does not let pass: ${reason ?? changes[0]!.message} ${remedy}`;
}

/**
 * The version whose readers get a new one in its place, though the new one is compared with another: labels of several
 * kinds have no common order. Null: there is none. Pre-releases promise nothing.
 */
export function replacedLatest(existing: Resource | null, next: Next, before: Version | null): Version | null {
  const was = existing && versionAt(existing, existing.latest);
  if (!was || next.resource.latest !== next.version.label || was.label === before?.label) return null;
  return (readerOf(existing!.versions)(was.label)?.prerelease.length ?? 0) > 0 ? null : was;
}

function versionAt(resource: Resource, label: string | null): Version | null {
  return label === null ? null : findVersion(resource, label);
}

/** As if nothing was yanked: whoever may publish may yank. */
export function unyanked(resource: Resource): Resource {
  const versions = resource.versions.map((version): Version =>
    version.status.state === 'yanked' ? { ...version, status: { state: 'active' } } : version,
  );
  return { ...resource, versions };
}
