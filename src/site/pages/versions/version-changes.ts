import { comparedWith, whyCompared } from '../../../model/compared-with.ts';
import { isAtLeast, type Comparison } from '../../../model/comparison.ts';
import { coordinateOf } from '../../../model/resource.ts';
import { comparisonOf } from '../../../registry/compare-versions.ts';
import { grantVersion, type GrantedVersion } from '../../../registry/read.ts';
import { comparisonTitle } from '../../../sync/describe-changes.ts';
import { changesHref, compareForm, verdictTags } from './diff-page.ts';
import type { Site } from '../../site.ts';

/** Changes that the page of a version names. The others are on their own page. */
const shown = 6;

/**
 * The changes of a version since the previous one, the worst first. Null for the first version, or
 * if the two cannot be compared now.
 */
export async function describeChanges(site: Site, granted: GrantedVersion): Promise<object | null> {
  const previous = comparedWith(granted.resource, granted.version);
  if (previous === null) return null;
  const before = grantVersion(granted, { kind: 'version', version: previous.label });
  if (before === null || !before.exact) return null;
  const comparison: Comparison | null = await comparisonOf(site.registry, before.granted, granted).catch(() => null);
  if (comparison === null) return null;
  const notable = comparison.changes.filter(({ verdict }) => isAtLeast(verdict, 'safe'));
  const count = Object.values(comparison.counts).reduce((sum, each) => sum + each, 0);
  const first = (notable.length > 0 ? notable : comparison.changes).slice(0, shown);
  return {
    count,
    verdict: comparison.verdict,
    title: comparisonTitle(comparison),
    tone: comparison.verdict === 'none' ? 'good' : verdictTags[comparison.verdict].tone,
    reason: comparison.reason,
    from: {
      label: previous.label,
      href: site.links.to(coordinateOf(granted.resource), { label: previous.label }),
    },
    why: whyCompared(granted.resource, granted.version),
    compare: compareForm(site, granted.resource, previous.label, granted.version.label),
    href: changesHref(site, granted.resource, granted.version.label),
    items: first.map(({ verdict, message, operations, reach }) => ({
      ...verdictTags[verdict],
      message,
      operation: operationBeside(message, operations[0]),
      others: Math.max(0, reach - 1),
    })),
    more: count - first.length,
  };
}

/** The operation that a change is in, unless its message names it already. */
function operationBeside(message: string, operation: string | undefined): string | null {
  return operation === undefined || message.includes(operation) ? null : operation;
}
