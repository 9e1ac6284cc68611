import { insertByDate, latestMovedBack } from '../model/latest.ts';
import type { OnConflict } from '../model/connection.ts';
import type { Digest } from '../model/digest.ts';
import { RegistryError } from '../model/errors.ts';
import { isLabel, labelFromVersion, nextLabel, readerOf } from '../model/label.ts';
import { chooseLatest, chooseLatestWith, findVersion, type Resource, type Version } from '../model/resource.ts';

/** New content, and what its label depends on. */
export interface Placing {
  /** The label in the request, or null. */
  version: string | null;
  /** Whether that label comes from a git tag. Then `onConflict` applies, as to a document's. */
  isTag: boolean;
  /** The version in the document, or null. */
  stated: string | null;
  content: Digest;
  /** The digest that the same content has with the other line endings; null if it has none. */
  twin: Digest | null;
  onConflict: OnConflict;
  /** Commit of the content; null for an upload. */
  commit: string | null;
  /** Whether it is imported from past history. */
  isPast: boolean;
  /** When it was committed; null if the commit has no readable date. */
  committedAt: string | null;
}

/** What to do with new content. */
export type Placed =
  | { outcome: 'published'; label: string }
  | { outcome: 'unchanged'; version: Version }
  | { outcome: 'conflict'; detail: string; label: string; suggestion: string | null };

/** Chooses the label for new content (design §7). Pure. */
export function placeVersion(resource: Resource, placing: Placing): Placed {
  const { stated } = placing;
  const asked = placing.version ?? (stated === null ? null : labelFromVersion(stated));
  if (asked === null) {
    if (placing.isPast && placing.commit !== null) return placePast(resource, placing, placing.commit);
    const newest = resource.versions.at(-1);
    if (newest && hasContent(newest, placing)) return { outcome: 'unchanged', version: newest };
    return { outcome: 'published', label: suggest(resource) };
  }
  const existing = findVersion(resource, asked);
  if (existing === null) return { outcome: 'published', label: asked };
  if (hasContent(existing, placing)) return { outcome: 'unchanged', version: existing };
  const isRevised = placing.onConflict === 'revise' && (placing.version === null || placing.isTag);
  const stem = stemOf(asked);
  const same = resource.versions.find((each) => each.label.startsWith(stem) && hasContent(each, placing));
  if (isRevised && same) return { outcome: 'unchanged', version: same };
  const suggestion = suggest(resource);
  if (existing.status.state === 'withdrawn') {
    return conflict(asked, suggestion, `Version ${asked} was withdrawn; its label is never used again.`);
  }
  if (placing.version !== null && !(placing.isTag && placing.onConflict === 'revise')) {
    return conflict(asked, suggestion, `Version ${asked} is published with other content and never changes.`);
  }
  if (placing.onConflict === 'reject') {
    return conflict(
      asked,
      suggestion,
      `Version ${asked} is published with other content. Raise the document's version, for instance to ${suggestion}.`,
    );
  }
  return revise(resource, asked, placing, suggestion);
}

/** Whether a version that is not withdrawn has this content, line endings aside. */
function hasContent(version: Version, placing: Placing): boolean {
  return version.status.state !== 'withdrawn' && hadContent(version, placing);
}

function hadContent(version: Version, { content, twin }: Placing): boolean {
  return version.content === content || version.content === twin;
}

function suggest({ versions }: Resource): string {
  return nextLabel(
    versions.map(({ label }, order) => ({ label, order })),
    readerOf(versions),
  );
}

/**
 * The resource with this version in its place, and the latest version that it has then. `latest`: as
 * in `PublishRequest`. Pure.
 */
export function addVersion(
  resource: Resource,
  version: Version,
  { isPast = false, latest }: { isPast?: boolean; latest: boolean | 'newer' },
): Resource {
  const add = (added: Version): Resource => {
    if (!isPast)
      return { ...resource, versions: resource.versions.concat([added]), latest: chooseLatestWith(resource, added) };
    const versions = insertByDate(resource.versions, added);
    return { ...resource, versions, latest: chooseLatest({ ...resource, versions }) };
  };
  const next = add(version);
  const isHeld = latest === 'newer' ? latestMovedBack(resource, next) !== null : !latest;
  return isHeld ? add({ ...version, neverLatest: true }) : next;
}

/**
 * Past content without a version gets `0.0.0-<date>-<commit>`, like Go's pseudo-versions. It sorts
 * below all other labels.
 */
function placePast(resource: Resource, placing: Placing, commit: string): Placed {
  const same = resource.versions.find((each) => hasContent(each, placing));
  if (same) return { outcome: 'unchanged', version: same };
  const date = (placing.committedAt ?? '').replace(/\D/g, '').slice(0, 14).padEnd(14, '0');
  const label = `0.0.0-${date}-${commit.slice(0, 12)}`;
  const existing = findVersion(resource, label);
  if (existing === null) return { outcome: 'published', label };
  return conflict(label, null, `Version ${label} is published with other content and never changes.`);
}

/**
 * Chooses the first free revision label: `<label>+<first 7 of the commit>` for git, `<label>+<n>`
 * from 2 on for uploads.
 */
function revise(resource: Resource, asked: string, placing: Placing, suggestion: string): Placed {
  const { commit } = placing;
  const stem = stemOf(asked);
  const withdrawn = resource.versions.find((each) => each.label.startsWith(stem) && hadContent(each, placing));
  if (withdrawn) {
    const detail = `This content was withdrawn as ${withdrawn.label}. Change the document, or raise its version, for instance to ${suggestion}.`;
    return conflict(asked, suggestion, detail);
  }
  for (let n = 2; n < resource.versions.length + 3; n++) {
    const suffix = commit === null ? `${n}` : n === 2 ? commit.slice(0, 7) : `${commit.slice(0, 7)}.${n - 1}`;
    const label = `${stem}${suffix}`;
    if (!isLabel(label)) break;
    if (findVersion(resource, label) === null) return { outcome: 'published', label };
  }
  return conflict(
    asked,
    suggestion,
    `Version ${asked} is already published with other content, and no valid revision label is left. Choose another label.`,
  );
}

/** SemVer §10 allows only one `+`. A label that already has one gets the suffix after a dot. */
function stemOf(asked: string): string {
  return asked.includes('+') ? `${asked}.` : `${asked}+`;
}

function conflict(label: string, suggestion: string | null, detail: string): Placed {
  return { outcome: 'conflict', label, suggestion, detail };
}

/** The error for a label that is not a valid one. */
export function malformedLabel(text: string): RegistryError {
  return new RegistryError(
    'malformed',
    `${JSON.stringify(text.slice(0, 140))} is not a valid version. Use 1 to 128 of A-Z a-z 0-9 . _ + -, starting and ending with a letter or digit, without "..". It must not be "latest" or a word of JavaScript such as "constructor", start with "sha256", or end with ".json", ".yaml" or ".yml".`,
  );
}
