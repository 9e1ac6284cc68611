import { formatCoordinate } from '../model/address.ts';
import type { Check } from '../model/check.ts';
import { countText } from '../model/problem.ts';
import { selectVersion, versionBefore } from '../model/resource.ts';
import type { Planned } from '../plan/planned.ts';
import { keptComparison, publishedAs, tryCompareWith } from '../registry/changes/compare-versions.ts';
import { findResource } from '../registry/find-resource.ts';
import type { PublishResult } from '../registry/publish.ts';
import type { Registry } from '../registry/registry.ts';
import { annotationsOf, checkName, code, pageOf, plain, titleOf } from '../sync/checks.ts';
import { comparisonMarkdown, comparisonTitle } from '../sync/changes/describe-changes.ts';
import { refusalOf } from '../sync/publish-document.ts';

/** Changes of each verdict that a check names. */
const mostNamed = 20;

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
): Promise<Check> {
  const name = formatCoordinate(document.coordinate);
  const about = { commit, name: checkName(name), url: pageOf(registry, name) };
  const where = `${code(document.path)} → ${code(name)}`;
  if ('refusal' in result) {
    const refusal = refusalOf(document, result.refusal);
    const summary = `${where}\n\n${plain(refusal)}`;
    return { ...about, state: 'failure', title: titleOf(null, refusal), summary, annotations: [] };
  }
  const { report } = result;
  const annotations = annotationsOf(report);
  const changes = await changesOf(registry, view, document, result);
  if (result.outcome === 'rejected') {
    const rejected = `${where} would be rejected: ${countText(report.counts.error, 'error')}, ${countText(report.counts.warning, 'warning')}.`;
    const breaking = report.problems.find(({ rule }) => rule === 'compatibility');
    const title = breaking === undefined ? titleOf(report, null) : 'Breaking changes';
    const summary = [rejected, breaking === undefined ? '' : plain(breaking.message), changes];
    return { ...about, state: 'failure', title, summary: joined(summary), annotations };
  }
  if (result.outcome === 'conflict') {
    const summary = joined([where, plain(result.detail), changes]);
    return { ...about, state: 'failure', title: titleOf(null, result.detail), summary, annotations };
  }
  const title = titleOfPlanned(document, result);
  const found = [
    ...(report.counts.warning === 0 ? [] : [countText(report.counts.warning, 'warning')]),
    ...(report.exempted === undefined ? [] : [`${countText(report.exempted.length, 'finding')} exempted`]),
  ].join(', ');
  const summary = joined([where, `${title}.`, found === '' ? '' : `${found}.`, changes]);
  return { ...about, state: 'success', title, summary, annotations };
}

function joined(paragraphs: readonly string[]): string {
  return paragraphs.filter((part) => part !== '').join('\n\n');
}

function titleOfPlanned(
  { tags }: Planned,
  { outcome, version }: Extract<PublishResult, { outcome: 'published' | 'unchanged' }>,
): string {
  if (tags !== null) return 'Valid; the next tag publishes it';
  return outcome === 'unchanged' ? `Same content as ${version.label}` : `Would be published as ${version.label}`;
}

/**
 * The changes since the version that this one would follow, or else the latest, as Markdown. Empty for
 * a document that gave no artifact.
 */
async function changesOf(
  registry: Registry,
  view: Registry,
  { coordinate }: Planned,
  result: PublishResult,
): Promise<string> {
  const { artifact } = result.compiled;
  if (!artifact) return '';
  const resource = await findResource(registry, coordinate);
  const latest = resource && selectVersion(resource, { kind: 'latest' })?.version;
  if (!resource || !latest) return 'This would be the first version, if the name is free.';
  const followed = result.outcome === 'published' ? versionBefore(result.resource, result.version) : null;
  const before = followed ?? latest;
  const kept = 'version' in result ? await keptComparison(view, before, result.version) : null;
  const comparison = kept ?? (await tryCompareWith(registry, resource, before, publishedAs(artifact), {}));
  const title = `**${plain(comparisonTitle(comparison))}**, compared with ${code(before.label)}.`;
  return joined([title, comparisonMarkdown(comparison, mostNamed)]);
}
