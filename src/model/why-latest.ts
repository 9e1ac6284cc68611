import { latestOf, parseSemanticVersion } from './label.ts';
import { findVersion, type Resource } from './resource.ts';

/** Says in one or two sentences why the latest version is the latest. Null when there is none. */
export function whyLatest(resource: Resource): string | null {
  const { latest, latestPinned } = resource;
  if (latest === null) return null;
  if (latestPinned) return `Latest is ${latest} because somebody pinned it.`;
  const held = heldBack(resource, latest);
  if (parseSemanticVersion(latest) === null) {
    return held === null
      ? `Latest is ${latest}, the newest: no label is a semantic version.`
      : `Latest is ${latest}, the newest. ${held} was published so that it does not become latest.`;
  }
  const isRelease = parseSemanticVersion(latest)!.prerelease.length === 0;
  const rule = isRelease ? 'the highest release' : 'the highest pre-release, since there is no release';
  const more = held === null ? '' : ` ${held} is higher, but was published so that it does not become latest.`;
  return `Latest is ${latest}, ${rule}.${more}`;
}

/** The version that would be latest if none was held back, when that is another than `latest`. */
function heldBack(resource: Resource, latest: string): string | null {
  const candidates = resource.versions.flatMap(({ label, status: { state } }, order) =>
    state === 'active' || state === 'deprecated' ? [{ label, order }] : [],
  );
  const highest = latestOf(candidates)?.label ?? null;
  const isHeld = highest !== null && findVersion(resource, highest)?.neverLatest === true;
  return isHeld && highest !== latest ? highest : null;
}
