import { nameOf, chooseLatest, findVersion, type Resource, type Version } from '../../model/resource.ts';
import { readerOf } from '../../model/label.ts';
import { compareWith } from '../changes/compare-versions.ts';
import { readPublished } from '../derived.ts';
import type { Registry } from '../registry.ts';
import { mayBreak } from './compatibility.ts';
import { policyOf } from './policy.ts';

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
export function replacedLatest(
  existing: Resource | null,
  next: { resource: Resource; version: Version },
  before: Version | null,
): Version | null {
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
