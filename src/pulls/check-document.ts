import { formatCoordinate } from '../model/address.ts';
import type { Check } from '../model/check.ts';
import { selectVersion } from '../model/resource.ts';
import type { Planned } from '../plan/planned.ts';
import { publishedAs, tryCompareWith } from '../registry/changes/compare-versions.ts';
import { findResource } from '../registry/find-resource.ts';
import type { PublishResult } from '../registry/publish.ts';
import type { Registry } from '../registry/registry.ts';
import { annotationsOf, checkName, code, pageOf, plain, titleOf } from '../sync/checks.ts';
import { comparisonMarkdown, comparisonTitle } from '../sync/changes/describe-changes.ts';
import { refusalOf } from '../sync/publish-document.ts';

/** Changes of each verdict that a check names. */
const mostNamed = 20;

/** The check of one document: what publishing it gave, or why it was refused. */
export async function checkOf(
  registry: Registry,
  document: Planned,
  result: PublishResult | { refusal: string },
  commit: string,
): Promise<Check> {
  const name = formatCoordinate(document.coordinate);
  const told = { commit, name: checkName(name), url: pageOf(registry, name) };
  const where = `${code(document.path)} → ${code(name)}`;
  if ('refusal' in result) {
    const refusal = refusalOf(document, result.refusal);
    const summary = `${where}\n\n${plain(refusal)}`;
    return { ...told, state: 'failure', title: titleOf(null, refusal), summary, annotations: [] };
  }
  const { report } = result;
  const annotations = annotationsOf(report);
  if (result.outcome === 'rejected') {
    const summary = `${where} would be rejected: ${report.counts.error} errors, ${report.counts.warning} warnings.`;
    return { ...told, state: 'failure', title: titleOf(report, null), summary, annotations };
  }
  const changes = await changesOf(registry, document, result);
  if (result.outcome === 'conflict') {
    const summary = [where, plain(result.detail), changes].join('\n\n');
    return { ...told, state: 'failure', title: titleOf(null, result.detail), summary, annotations };
  }
  const title = titleOfPlanned(document, result);
  const warnings = report.counts.warning === 0 ? '' : `${report.counts.warning} warnings.`;
  const summary = [where, `${title}.`, warnings, changes].filter((part) => part !== '').join('\n\n');
  return { ...told, state: 'success', title, summary, annotations };
}

function titleOfPlanned(
  { tags }: Planned,
  { outcome, version }: Extract<PublishResult, { outcome: 'published' | 'unchanged' }>,
): string {
  if (tags !== null) return 'Valid; the next tag publishes it';
  return outcome === 'unchanged' ? `Same content as ${version.label}` : `Would be published as ${version.label}`;
}

/** The changes since the latest version, as Markdown. */
async function changesOf(
  registry: Registry,
  { coordinate }: Planned,
  { compiled: { artifact } }: Pick<PublishResult, 'compiled'>,
): Promise<string> {
  const resource = await findResource(registry, coordinate);
  const latest = resource && selectVersion(resource, { kind: 'latest' });
  if (!resource || !latest) return 'This would be the first version, if the name is free.';
  if (!artifact) return '';
  const comparison = await tryCompareWith(registry, resource, latest.version, publishedAs(artifact), {});
  const title = `**${plain(comparisonTitle(comparison))}**, compared with ${code(latest.version.label)}.`;
  return [title, comparisonMarkdown(comparison, mostNamed)].join('\n\n');
}
