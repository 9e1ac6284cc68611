import type { WorstVerdict } from '../comparison.ts';
import { nextLabel, parseSemanticVersion } from '../label.ts';
import { findVersion, type Resource } from '../resource.ts';
import { readerOf } from './version-order.ts';

/**
 * The version that announces changes since a version as Semantic Versioning says: a higher major
 * version for what breaks or cannot be judged (for 0.x a minor one), a minor one for what is new, a
 * patch for the rest. For dotted numbers it is the next one. Null: the label has no order.
 */
export function fittingVersion(resource: Resource, before: string, verdict: WorstVerdict): string | null {
  const old = parseSemanticVersion(before);
  if (old === null) {
    const read = readerOf(resource.versions);
    const labels = resource.versions.map(({ label }, order) => ({ label, order }));
    return read(before) === null ? null : nextLabel(labels, read);
  }
  const [major, minor, patch] = old.core;
  const isBreak = verdict === 'breaking' || verdict === 'unknown';
  const isNew = verdict === 'risky' || verdict === 'safe';
  for (let n = 1n; ; n++) {
    const label =
      isBreak && major > 0n
        ? `${major + n}.0.0`
        : isBreak || isNew
          ? `${major}.${minor + n}.0`
          : `${major}.${minor}.${patch + n}`;
    if (findVersion(resource, label) === null) return label;
  }
}
