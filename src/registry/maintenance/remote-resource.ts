import { isSlug, parseCoordinate } from '../../model/address.ts';
import { isDigest, type Digest } from '../../model/digest.ts';
import type { Dependency } from '../../model/graph/dependency.ts';
import { foldLabel, isLabel } from '../../model/label.ts';
import { isLinkUrl, lifecycles, type Link, type Ownership } from '../../model/catalogue/ownership.ts';
import type { Resource, Status, Version } from '../../model/resource.ts';

/** A resource as another registry describes it. */
export interface RemoteResource
  extends Ownership, Pick<Resource, 'name' | 'description' | 'visibility' | 'latest' | 'createdAt'> {
  /** Oldest first. */
  versions: (Pick<Version, 'publishedAt' | 'createdAt' | 'original' | 'commit'> & {
    label: string;
    manifest: Digest;
    status: Status;
  })[];
}

/** A check of one member: null if it holds, else what the member must be. */
type Check = (value: unknown) => string | null;
type Checks = Record<string, Check>;

const optional =
  (check: Check): Check =>
  (value) =>
    value === undefined ? null : check(value);
const oneOf =
  (...allowed: string[]): Check =>
  (value) =>
    allowed.includes(value as string) ? null : `must be ${allowed.join(' or ')}`;
/** Text of at most so many code points, as JSON Schema counts them. */
const text =
  (max: number): Check =>
  (value) =>
    typeof value === 'string' && value.length <= 2 * max && Array.from(value).length <= max
      ? null
      : `must be text of at most ${max} characters`;
const date: Check = (value) =>
  typeof value === 'string' && value.length <= 40 && /^[+-]?\d{4,6}-\d\d-\d\d/.test(value) && !isNaN(Date.parse(value))
    ? null
    : 'must be a date (ISO 8601)';
const label: Check = (value) => (typeof value === 'string' && isLabel(value) ? null : 'must be a version label');
const digest: Check = (value) => (typeof value === 'string' && isDigest(value) ? null : 'must be a digest');

const topics: Check = (value) =>
  Array.isArray(value) && value.length <= 20 && value.every((topic) => typeof topic === 'string' && isSlug(topic))
    ? null
    : 'must be at most 20 words in lower case';

const links: Check = (value) =>
  Array.isArray(value) && value.length <= 20 && value.every(isLink) ? null : 'must be at most 20 links';

function isLink(value: unknown): boolean {
  const { title, url } = (value ?? {}) as Partial<Link>;
  return typeof title === 'string' && title.length <= 200 && typeof url === 'string' && isLinkUrl(url);
}

const fileMatch: Check = (value) =>
  Array.isArray(value) && value.length <= 20 && value.every((glob) => typeof glob === 'string' && glob.length <= 200)
    ? null
    : 'must be at most 20 globs of files';

const ended = { reason: text(1000), since: date };
const statuses: Record<Status['state'], Checks> = {
  active: {},
  deprecated: { ...ended, replacement: optional(text(400)), sunset: optional(date) },
  yanked: ended,
  withdrawn: ended,
};
const ofStatus: Checks = { state: oneOf(...Object.keys(statuses)) };
const ofVersion: Checks = {
  label,
  manifest: digest,
  publishedAt: date,
  createdAt: optional(date),
  original: optional(text(10_000)),
};
const ofCommit: Checks = { author: text(1000), subject: text(1000) };
const ofResource: Checks = {
  name: text(200),
  description: text(10_000),
  owner: optional(text(100)),
  lifecycle: optional(oneOf(...lifecycles)),
  topics: optional(topics),
  system: optional(text(63)),
  links: optional(links),
  fileMatch: optional(fileMatch),
  visibility: oneOf('public', 'private'),
  createdAt: date,
};

const ofDependency: Checks = {
  coordinate: (value) => (typeof value === 'string' && parseCoordinate(value) !== null ? null : 'must be a coordinate'),
  range: text(200),
  version: label,
  digest,
  how: oneOf('url', 'extends', 'lock'),
};

/** What the configuration of a version says that it uses, without what cannot be stored: it was not checked. */
export function checkedDependencies(stated: unknown): Dependency[] {
  if (!Array.isArray(stated)) return [];
  return stated.slice(0, 1000).flatMap((each: unknown): Dependency[] => {
    const { coordinate, range, version, digest: manifest, how } = (each ?? {}) as Dependency;
    const dependency: Dependency = { coordinate, range, version, digest: manifest, how };
    return firstWrong('', dependency, ofDependency) === null ? [dependency] : [];
  });
}

/**
 * Why a resource cannot be stored as another registry describes it: the first member that is wrong.
 * Null if all is well. Nothing in the description is trusted, not even its types.
 */
export function explainRemote(described: RemoteResource): string | null {
  const wrong = firstWrong('', described, ofResource);
  if (wrong !== null) return wrong;
  const { versions, latest } = described;
  if (!Array.isArray(versions)) return '`versions` must be a list.';
  const labels = new Set<string>();
  for (const [index, version] of versions.entries()) {
    const place = `versions[${index}].`;
    const problem =
      firstWrong(place, version, ofVersion) ??
      explainStatus(`${place}status.`, version.status) ??
      (version.commit === undefined ? null : firstWrong(`${place}commit.`, version.commit, ofCommit));
    if (problem !== null) return problem;
    const folded = foldLabel(version.label);
    if (labels.has(folded)) return `\`${place}label\` is ${version.label}, as that of another version.`;
    labels.add(folded);
  }
  const isThere = latest === null || versions.some((version) => version.label === latest);
  return isThere ? null : '`latest` must be null or the label of a version.';
}

function explainStatus(place: string, status: Status): string | null {
  const wrong = firstWrong(place, status, ofStatus);
  if (wrong !== null) return wrong;
  const checks = { ...ofStatus, ...statuses[status.state] };
  const unknown = Object.keys(status).find((name) => !Object.hasOwn(checks, name));
  return unknown === undefined
    ? firstWrong(place, status, checks)
    : `\`${place}${unknown.slice(0, 40)}\` is not known here.`;
}

function firstWrong(place: string, value: unknown, checks: Checks): string | null {
  if (typeof value !== 'object' || value === null) return `\`${place.slice(0, -1)}\` must be an object.`;
  for (const [name, check] of Object.entries(checks)) {
    const problem = check((value as Record<string, unknown>)[name]);
    if (problem !== null) return `\`${place}${name}\` ${problem}.`;
  }
  return null;
}
