import { fileOf } from '../model/artifact.ts';
import { formatCoordinate } from '../model/address.ts';
import type { Annotation, Check } from '../model/check.ts';
import { comparedWith, whyCompared, fittingVersion } from '../model/compared-with.ts';
import type { Comparison } from '../model/comparison.ts';
import { impactGroups, impactText } from '../model/dependency.ts';
import { adviceIn, countText, holdIn, outcomeIn, type Report } from '../model/problem.ts';
import { findVersion, selectVersion, type Resource, type Version } from '../model/resource.ts';
import { approvalText } from '../model/approval.ts';
import { effectOnLatest } from '../model/latest.ts';
import type { Snapshot } from '../source/snapshot.ts';
import type { Planned } from '../plan/planned.ts';
import { keptComparison, publishedAs, compareWith } from '../registry/compare-versions.ts';
import { findResource } from '../registry/lives.ts';
import { usersReader, impactOf } from '../registry/graph/impact.ts';
import { policyOf } from '../registry/gate/policy.ts';
import { nextVersionOf, type PublishResult } from '../registry/publish.ts';
import type { Registry } from '../registry/registry.ts';
import { annotationsOf, blockersText, checkName, code, pageOf, plain, checkTitle } from '../sync/checks.ts';
import { comparisonMarkdown, comparisonTitle } from '../sync/describe-changes.ts';
import { refusalOf } from '../sync/publish-document.ts';

/** Changes of each verdict, and users that break, that a check names. */
const maxNames = 20;
const maxAnnotations = 50;

/**
 * The check of one document: what publishing it gave, or why it was refused. `registry`: as it is
 * without the request; `view`: where the document was published.
 */
export async function checkOf(
  registry: Registry,
  view: Registry,
  document: Planned,
  result: PublishResult | { refusal: string },
  commit: string,
  snapshot: Snapshot,
): Promise<Check> {
  const name = formatCoordinate(document.coordinate);
  const about = { commit, name: checkName(name), url: pageOf(registry, name) };
  const where = `${code(document.path)} → ${code(name)}`;
  if ('refusal' in result) {
    const refusal = refusalOf(document, result.refusal);
    const summary = `${where}\n\n${plain(refusal)}`;
    return { ...about, state: 'failure', title: checkTitle(null, refusal), summary, annotations: [] };
  }
  const { report } = result;
  const changes = await changesOf(registry, view, document, result, snapshot);
  const annotations = [...annotationsOf(report), ...breaksIn(changes, document, report)];
  const breaking = changes.comparison?.counts.breaking ?? 0;
  const findings = { annotations, ...(breaking > 0 && { breaking }) };
  const breaks =
    breaking === 0 ? '' : `, ${countText(breaking, 'breaking change')} since ${changes.before!.version.label}`;
  if (result.outcome === 'rejected') {
    const held = holdIn(report);
    const rejected = held
      ? `${where}: ${plain(held.message)}`
      : `${where} would be rejected: ${countText(report.counts.error, 'error')}, ${countText(report.counts.warning, 'warning')}.`;
    const advice = adviceIn(report);
    const users = report.problems.filter(({ rule }) => rule === 'user-broken').map(({ message }) => plain(message));
    const broken = users.length > 0 ? `Breaks ${countText(users.length, 'user')}` : null;
    const title =
      advice === null ? `${checkTitle(report, null)}${breaks}` : (broken ?? (breaks.slice(2) || 'Breaking changes'));
    const summary = [rejected, plain(advice ?? ''), blockersText(report), changes.text, listed(users)];
    const state = outcomeIn(report) === 'waiting' ? 'waiting' : 'failure';
    return { ...about, ...findings, state, title, summary: joined(summary) };
  }
  if (result.outcome === 'conflict') {
    const { before, comparison } = changes;
    const fitting = before && comparison && fittingVersion(before.resource, before.version.label, comparison.verdict);
    const advice = fitting === null || result.detail.includes(fitting) ? '' : `${fitting} would fit these changes.`;
    const summary = joined([where, plain(result.detail), plain(advice), changes.text]);
    return { ...about, ...findings, state: 'failure', title: checkTitle(null, result.detail), summary };
  }
  const was = (await findResource(registry, document.coordinate))?.latest ?? null;
  const effect = document.tags === null ? effectOnLatest(result.resource, result.version, was) : null;
  const title = `${titleOfPlanned(document, result, was)}${breaks}`;
  const counted = [
    ...(report.counts.warning === 0 ? [] : [countText(report.counts.warning, 'warning')]),
    ...(report.exempted === undefined ? [] : [`${countText(report.exempted.length, 'finding')} exempted`]),
  ].join(', ');
  const becomes = result.outcome === 'published' ? `${result.version.label} becomes the latest version.` : '';
  const summary = joined([
    where,
    `${title}.`,
    document.tags === null ? plain(effect ?? becomes) : '',
    plain(approvalText(result.approvals) ?? ''),
    plain(forgotten(result, changes) ?? ''),
    counted === '' ? '' : `${counted}.`,
    changes.text,
    await impactSection(registry, result),
  ]);
  return { ...about, ...findings, state: 'success', title, summary };
}

/** Whom the new version breaks, as Markdown; empty if nobody uses it, or nobody wants to know. */
async function impactSection(registry: Registry, result: PublishResult): Promise<string> {
  const next = nextVersionOf(result);
  if (next === null || (await policyOf(registry, next.resource)).impact === 'none') return '';
  const { org } = next.resource;
  const impact = await impactOf(registry, usersReader(next.resource), next, { org });
  const groups = impactGroups(impact).map(({ title, broken, consumers }) => {
    const lines = broken.map((user) => `${code(`${user.coordinate}@${user.version}`)}: ${plain(impactText(user))}`);
    const names = consumers.map(({ name, version }) => `${code(name)}, with ${code(version)}`);
    return joined([`**${title}**`, listed([...lines, ...names])]);
  });
  return joined(groups);
}

function listed(lines: readonly string[]): string {
  const more = lines.length > maxNames ? [`… and ${lines.length - maxNames} more.`] : [];
  return [...lines.slice(0, maxNames), ...more].map((line) => `- ${line}`).join('\n');
}

function joined(paragraphs: readonly string[]): string {
  return paragraphs.filter((part) => part !== '').join('\n\n');
}

type Well = Extract<PublishResult, { outcome: 'published' | 'unchanged' }>;

/** The title of the check. `was`: the latest version now. */
function titleOfPlanned({ tags }: Planned, { outcome, resource, version }: Well, was: string | null): string {
  if (tags !== null) return `Valid; published when a tag${tags === '*' ? '' : ` ${tags}`} is pushed`;
  const { label } = version;
  const { latest } = resource;
  if (outcome === 'unchanged' && latest === label && was !== label) return `Latest becomes ${label} again`;
  const what = outcome === 'unchanged' ? `Same content as ${label}` : `Would be published as ${label}`;
  return latest === label ? what : `${what}; latest stays ${latest}`;
}

/** Says that a new version needs a version number of its own, and which one fits. Null: it has one. */
function forgotten({ outcome, version }: Well, { before, comparison }: Changes): string | null {
  const { original, label } = version;
  const isForgotten = outcome === 'published' && original !== undefined && label.startsWith(original);
  if (!isForgotten || before === null || comparison === null) return null;
  const fitting = fittingVersion(before.resource, original, comparison.verdict);
  const advice = fitting === null ? 'Raise it.' : `Raise it, for instance to ${fitting}.`;
  return `The version in the document is still ${original}, which is published with other content. ${advice}`;
}

interface Changes {
  /** The version that the document was compared with, and its resource. Null: there is none. */
  before: { resource: Resource; version: Version } | null;
  comparison: Comparison | null;
  /** As Markdown. Empty for a document that gave no artifact. */
  text: string;
}

/**
 * The changes since the version that this one is compared with, or else since the latest. A document
 * that is published already, and leaves latest as it is, changes nothing.
 */
async function changesOf(
  registry: Registry,
  view: Registry,
  planned: Planned,
  result: PublishResult,
  snapshot: Snapshot,
): Promise<Changes> {
  const { coordinate } = planned;
  const path = fileOf(planned);
  const nothing = { before: null, comparison: null };
  const { artifact } = result.compiled;
  if (!artifact) return { ...nothing, text: '' };
  const resource = await findResource(registry, coordinate);
  const latest = resource && selectVersion(resource, { kind: 'latest' })?.version;
  if (!resource || !latest) return { ...nothing, text: 'This would be the first version, if the name is free.' };
  if (
    result.outcome === 'unchanged' &&
    result.resource.latest === latest.label &&
    latest.label !== result.version.label
  )
    return { ...nothing, text: '' };
  const { version: before, why } = (await followedBy(registry, resource, result)) ?? {
    version: latest,
    why: 'the latest version',
  };
  const stored = 'version' in result ? await keptComparison(view, before, result.version) : null;
  const after = { ...publishedAs(artifact), ...('version' in result && { at: result.version.publishedAt }) };
  let comparison = stored ?? (await compareWith(registry, resource, before, after, {}));
  // Finding the lines means reading the file again, and most documents need none.
  const [file] = comparison.counts.breaking > 0 ? await snapshot.read([path]) : [];
  if (file?.found) {
    const source = { path, bytes: file.bytes };
    comparison = await compareWith(registry, resource, before, { ...after, source }, {});
  }
  const title = `**${plain(comparisonTitle(comparison))}**, compared with ${code(before.label)}, ${why}.`;
  const text = joined([title, comparisonMarkdown(comparison, maxNames)]);
  return { before: { resource, version: before }, comparison, text };
}

/** The version that its gate, its label or its conflict has to do with. Null: the latest. */
async function followedBy(
  registry: Registry,
  resource: Resource,
  result: PublishResult,
): Promise<{ version: Version; why: string } | null> {
  if (result.outcome === 'unchanged') return null;
  if (result.outcome === 'conflict') {
    const version = findVersion(resource, result.label);
    return version && { version, why: 'which has this version' };
  }
  const next = result.outcome === 'rejected' ? result.next : result;
  if (next === null) return null;
  const { compatibility } = await policyOf(registry, resource);
  if (compatibility === 'strict' && adviceIn(result.report) !== null) return null;
  const version = comparedWith(next.resource, next.version);
  return version && { version, why: whyCompared(next.resource, next.version) };
}

function breaksIn({ comparison }: Changes, planned: Planned, report: Report): Annotation[] {
  const path = fileOf(planned);
  const keyOf = ({ rule, message }: Pick<Annotation, 'rule' | 'message'>) => `${rule} ${message}`;
  const keys = new Set([...report.problems, ...(report.exempted ?? [])].map(keyOf));
  const broken = comparison?.changes.filter(({ verdict }) => verdict === 'breaking') ?? [];
  return broken
    .map(({ code: rule, message, place }): Annotation => {
      const { line = 1, column = 1 } = place ?? {};
      return { path, line, column, severity: 'warning', rule, message };
    })
    .filter((one) => !keys.has(keyOf(one)))
    .slice(0, maxAnnotations);
}
