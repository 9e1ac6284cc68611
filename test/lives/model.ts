/**
 * What `content/docs` promises of resources and their versions, as a value and pure functions. Written from the documentation alone:
 * where the program and this page differ, one of the two is wrong.
 */

/** An OpenAPI document as far as it matters here. `summaries`: whether its operations have what the ruleset wants. */
export interface Doc {
  title: string;
  version: string;
  operations: readonly string[];
  summaries: boolean;
  note: number;
  /** Operations that are marked as internal. */
  internal?: readonly string[];
  /** Whether it is what Stele left of another one, and wrote itself. */
  isPart?: boolean;
}

export interface Version {
  label: string;
  doc: Doc;
  status: 'active' | 'deprecated' | 'yanked' | 'withdrawn';
  /** When a deprecated version may end. */
  sunset?: number | null;
  /** False: it never becomes latest by itself. */
  isCandidate: boolean;
  /** Number of its commit in its repository; 0 for an upload. */
  date: number;
  /** Which of two versions of equal rank was published last, or is what their branch has. */
  place: number;
  /** The version that it was compared with when it was published, and what came of it. */
  changes: { from: string; verdict: string } | null;
  /** What imports put between these two since. While one of them is offered, `changes` are not shown. */
  between: Version[];
}

/** What counts for every resource of an organization that says nothing of its own. */
export interface Defaults {
  compatibility: 'none' | 'semver' | 'strict';
}

export interface Resource {
  slug: string;
  visibility: 'public' | 'private';
  /** Whether it ever was public. */
  wasPublic: boolean;
  versions: Version[];
  pinned: string | null;
  /** When it was deleted. */
  deletedAt: number | null;
  /** Null: the default of its organization. */
  compatibility: 'none' | 'semver' | 'strict' | null;
  defaults: Defaults;
  hasRuleset: boolean;
  /** Whether what breaks waits until somebody else has approved it. */
  approval: boolean;
  waiting: { label: string; changes: readonly string[]; authors: readonly string[]; at: number } | null;
  /** Who wrote which change, whatever the label, and when it was held. */
  wrote: { change: string; by: string; at: number }[];
  decisions: { change: string; verdict: 'approved' | 'rejected'; at: number }[];
  /** The repository and the file that it is published from. */
  from: { repository: string; path: string } | null;
}

/** `commit`: of a document from git, and its number there, `date`. `rejects`: `onConflict: reject`. `isStrict`: whether the ruleset, if there is one, wants summaries. */
export interface Asked {
  doc: Doc;
  label?: string | undefined;
  isCandidate?: boolean;
  rejects?: boolean;
  commit?: string;
  date?: number;
  isPast?: boolean;
  /** Who uploads it, and when. */
  by?: string;
  now?: number;
  isStrict: boolean;
}

export type Outcome =
  { outcome: 'published' | 'unchanged'; version: Version } | { outcome: 'conflict' | 'rejected'; version: null };

export function textOf(doc: Doc): string {
  const operation = { ...(doc.summaries && { summary: 'What it does' }), responses: { 200: { description: 'Done' } } };
  const marked = (name: string) => (doc.internal?.includes(name) ? { ...operation, 'x-internal': true } : operation);
  const paths = Object.fromEntries(doc.operations.map((name) => [`/${name}`, { get: marked(name) }]));
  const info = { title: doc.title, version: doc.version, description: `Note ${doc.note}` };
  const document = { openapi: '3.1.0', info, paths };
  return doc.isPart ? `${JSON.stringify(document, null, 2)}\n` : JSON.stringify(document);
}

/** What an overlay changes: the note, if it has one, and the operation that it removes. */
export interface Overlay {
  note: number | null;
  removes: string | null;
}

/** stele-yaml.md, Several resources of one file: what an overlay and the audience `public` leave of a document. */
export function publicPart({ internal = [], ...doc }: Doc, { note, removes }: Overlay): Doc {
  const operations = doc.operations.filter((name) => name !== removes && !internal.includes(name));
  return { ...doc, operations, note: note ?? doc.note, isPart: true };
}

interface Rank {
  numbers: [number, number, number];
  pre: string | null;
}

export function rankOf(label: string): Rank | null {
  const [, major, minor, patch, pre] = /^(\d+)\.(\d+)\.(\d+)(?:-([\w.-]+))?(?:\+[\w.-]+)?$/.exec(label) ?? [];
  if (major === undefined) return null;
  return { numbers: [Number(major), Number(minor), Number(patch)], pre: pre ?? null };
}

/** Semantic versions, build metadata aside. Pre-releases here are a word and a number. */
function compareRanks(a: Rank, b: Rank): number {
  for (const [at, number] of a.numbers.entries()) if (number !== b.numbers[at]) return number - b.numbers[at]!;
  if (a.pre === null || b.pre === null) return Number(a.pre === null) - Number(b.pre === null);
  return a.pre.localeCompare(b.pre, 'en', { numeric: true });
}

/** The highest by rank, then the one that was published last. Labels without a rank: the one published last. */
function highest<V extends Pick<Version, 'label' | 'place'>>(versions: readonly V[]): V | null {
  const ordered = versions.toSorted((a, b) => {
    const [left, right] = [rankOf(a.label), rankOf(b.label)];
    return (left && right ? compareRanks(left, right) : 0) || a.place - b.place;
  });
  return ordered.at(-1) ?? null;
}

const isStable = ({ label }: Version): boolean => rankOf(label)?.pre === null;
const isOffered = ({ status }: Version): boolean => status === 'active' || status === 'deprecated';

/** versions.md, Latest. */
export function latestOf({ pinned, versions }: Pick<Resource, 'pinned' | 'versions'>): Version | null {
  const offered = versions.filter(isOffered);
  const chosen = offered.find(({ label }) => label === pinned);
  if (chosen) return chosen;
  const candidates = offered.filter(({ isCandidate }) => isCandidate);
  const stable = candidates.filter(isStable);
  return highest(stable.length > 0 ? stable : candidates);
}

/** urls.md, Ranges: the version that a range of one major number means. */
export function bestOfMajor({ versions }: Resource, major: number): Version | null {
  return highest(
    versions.filter((each) => isOffered(each) && isStable(each) && rankOf(each.label)!.numbers[0] === major),
  );
}

/** What this label would follow: the highest version that is not above it; for a release, the highest release. */
export function versionBefore<V extends Pick<Version, 'label' | 'place'>>(
  versions: readonly V[],
  label: string,
  ofReleases = false,
): V | null {
  const rank = rankOf(label);
  if (rank === null) return versions.at(-1) ?? null;
  return highest(
    versions.filter((each) => {
      const other = rankOf(each.label);
      if (other === null || (each.label !== label && compareRanks(other, rank) > 0)) return false;
      return other.pre === null || (!ofReleases && rank.pre !== null);
    }),
  );
}

/** changes.md, Verdicts. */
function verdictOf(before: Doc, after: Doc): string {
  if (before.operations.some((name) => !after.operations.includes(name))) return 'breaking';
  if (after.operations.some((name) => !before.operations.includes(name))) return 'safe';
  return textOf({ ...before, version: '' }) === textOf({ ...after, version: '' }) ? 'none' : 'docs';
}

export function compatibilityOf({ compatibility, defaults }: Resource): Defaults['compatibility'] {
  return compatibility ?? defaults.compatibility;
}

/** checks.md, Breaking changes. */
function passesCompatibility(resource: Resource, label: string, doc: Doc): boolean {
  const compatibility = compatibilityOf(resource);
  if (compatibility === 'none') return true;
  const offered = resource.versions.filter(isOffered);
  const rank = rankOf(label);
  const isSemver = compatibility === 'semver' && rank !== null;
  const before = isSemver ? versionBefore(offered, label, true) : latestOf(resource);
  if (before === null || verdictOf(before.doc, doc) !== 'breaking') return true;
  const from = rankOf(before.label);
  if (!isSemver || !rank || !from) return false;
  const [major, minor] = from.numbers;
  return rank.numbers[0] > major || (major === 0 && rank.numbers[1] > minor);
}

const valid = 30 * 24 * 60 * 60_000;

/** What a resource holds at a time. */
export function waitingAt({ waiting }: Resource, now: number): Resource['waiting'] {
  return waiting !== null && now - waiting.at <= valid ? waiting : null;
}

/** How far a label raises the version that it follows. */
function raiseOf(from: string, label: string): string {
  const [before, after] = [rankOf(from), rankOf(label)];
  if (before === null || after === null) return 'none';
  return `${after.numbers.findIndex((number, at) => number !== before.numbers[at])} ${after.pre !== null}`;
}

/** governance.md, Approval: whether a version may be published. If not, it waits. What is approved is used once. */
function passesApproval(resource: Resource, next: Version, { doc, by = '', now = 0 }: Asked): boolean {
  const { label } = next;
  const there = resource.versions.filter(({ status }) => status !== 'withdrawn');
  const before = versionBefore(there, label);
  if (!resource.approval || resource.versions.length === 0 || (before === null && there.length > 0)) return true;
  const removed = before?.doc.operations.filter((name) => !doc.operations.includes(name)) ?? [];
  // Nothing is left that it could be compared with: all of it is one change.
  const plain = before ? removed.map((name) => `${name} ${before.doc.summaries}`) : [textOf(doc)];
  const isLatest = latestOf({ ...resource, versions: [...resource.versions, next] }) === next;
  const bound = `${before?.label} ${raiseOf(before?.label ?? '', label)}${isLatest ? '' : ' beside latest'}`;
  const changes = plain.map((change) => `${change} ${bound}`);
  const verdicts = changes.map(
    (each) => resource.decisions.findLast(({ change, at }) => change === each && now - at <= valid)?.verdict,
  );
  if (verdicts.every((verdict) => verdict === 'approved')) {
    resource.decisions = resource.decisions.filter(({ change }) => !changes.includes(change));
    if (resource.waiting?.changes.every((each) => changes.includes(each))) resource.waiting = null;
    return true;
  }
  const earlier = resource.wrote.filter(({ change, at }) => plain.includes(change) && now - at <= valid);
  const authors = [...new Set([by, ...earlier.map((each) => each.by)])];
  const standing = waitingAt(resource, now);
  const isSame = JSON.stringify(standing?.changes) === JSON.stringify(changes) && standing!.authors.includes(by);
  if (isSame) return false;
  resource.waiting = { label, changes, authors, at: now };
  resource.wrote.push(...plain.flatMap((change) => authors.map((each) => ({ change, by: each, at: now }))));
  return false;
}

/** Decides about what waits. False: they wrote it, so they may not. */
export function decide(resource: Resource, who: string, verdict: 'approved' | 'rejected', now: number): boolean {
  const { changes, authors } = waitingAt(resource, now)!;
  if (authors.includes(who)) return false;
  resource.decisions.push(...changes.map((change) => ({ change, verdict, at: now })));
  return true;
}

/** versions.md, Publishing a label again. A label that was withdrawn is never used again. */
function placeOf({ versions }: Resource, { doc, label: asked, rejects, commit }: Asked): Version | string | null {
  const named = asked ?? doc.version;
  const there = versions.find(({ label }) => label === named);
  if (there === undefined) return named;
  const revisions =
    asked === undefined && !rejects ? versions.filter(({ label }) => label.startsWith(`${named}+`)) : [];
  const same = [there, ...revisions].filter((each) => textOf(each.doc) === textOf(doc));
  const standing = same.find(({ status }) => status !== 'withdrawn');
  if (standing !== undefined) return standing;
  // What was withdrawn does not come back under another label.
  if (same.length > 0) return null;
  if (asked !== undefined || rejects || there.status === 'withdrawn') return null;
  if (commit !== undefined) return `${named}+${commit.slice(0, 7)}`;
  let count = 2;
  while (revisions.some(({ label }) => label === `${named}+${count}`)) count++;
  return `${named}+${count}`;
}

/** Publishes a document, as an upload or from git. Changes the resource. */
export function publish(resource: Resource, asked: Asked): Outcome {
  const placed = placeOf(resource, asked);
  const place = Math.max(0, ...resource.versions.map((each) => each.place)) + 1;
  const { doc } = asked;
  if (placed !== null && typeof placed !== 'string') {
    // What a branch has again is the latest among those of equal rank.
    if (asked.commit !== undefined) placed.place = place;
    if (resource.waiting?.label === placed.label) resource.waiting = null;
    return { outcome: 'unchanged', version: placed };
  }
  if (resource.hasRuleset && asked.isStrict && !doc.summaries && doc.operations.length > 0)
    return { outcome: 'rejected', version: null };
  if (placed === null) return { outcome: 'conflict', version: null };
  if (!passesCompatibility(resource, placed, doc)) return { outcome: 'rejected', version: null };
  // What is imported has its place by the date.
  const earlier = resource.versions.filter(({ date }) => !asked.isPast || date <= asked.date!);
  const before = versionBefore(earlier.filter(isOffered), placed);
  const changes = before && { from: before.label, verdict: verdictOf(before.doc, doc) };
  const version: Version = {
    label: placed,
    doc,
    status: 'active',
    isCandidate: asked.isCandidate ?? true,
    date: asked.date ?? 0,
    place,
    changes,
    between: [],
  };
  if (!passesApproval(resource, version, asked)) return { outcome: 'rejected', version: null };
  if (resource.waiting?.label === placed) resource.waiting = null;
  resource.versions.push(version);
  return { outcome: 'published', version };
}

/** checks.md, Breaking changes: the highest release already published, for what is history below it. */
export function floorOf({ versions }: Resource): Version | null {
  const unyanked = versions.map((each) => (each.status === 'yanked' ? { ...each, status: 'active' as const } : each));
  return latestOf({ pinned: null, versions: unyanked });
}

/**
 * history.md: below the highest release compatibility is not asked. With `keep`, a version does not take over latest from
 * one whose commit is newer.
 */
export function importVersion(
  resource: Resource,
  asked: Asked,
  { latest, floor, there }: { latest: 'keep' | 'rule'; floor: Version | null; there: readonly Version[] },
): void {
  const before = latestOf(resource);
  const isHistory = floor === null || compareRanks(rankOf(asked.label!)!, rankOf(floor.label)!) < 0;
  const { outcome, version } = publish(isHistory ? { ...resource, compatibility: 'none' } : resource, {
    ...asked,
    isPast: true,
  });
  const after = latestOf(resource);
  const isBack = before !== null && after !== null && after.date < before.date;
  if (outcome === 'published' && latest === 'keep' && isBack) version.isCandidate = false;
  if (outcome !== 'published') return;
  const isAbove = (one: Version, other: Version) => compareRanks(rankOf(one.label)!, rankOf(other.label)!) > 0;
  // What one run imports is published at one time of a life, and nothing of it came between.
  for (const each of there) {
    const from = resource.versions.find(({ label }) => label === each.changes?.from);
    if (from !== undefined && from.date <= version.date && version.date <= each.date)
      if (isAbove(version, from) && isAbove(each, version)) each.between.push(version);
  }
}

export function changesOf({ changes, between }: Version): Version['changes'] {
  return between.some(isOffered) ? null : changes;
}

export function setStatus(
  resource: Resource,
  version: Version,
  status: Version['status'],
  sunset: number | null = null,
): void {
  version.status = status;
  version.sunset = sunset;
  if (resource.pinned === version.label && !isOffered(version)) resource.pinned = null;
  // What was compared with it cannot be compared any more.
  if (status === 'withdrawn')
    for (const each of resource.versions) if (each.changes?.from === version.label) each.changes = null;
}

/** concepts.md, Keys: each scope includes those before it. */
export const scopes = ['read', 'publish', 'approve', 'keys', 'admin'] as const;

export function rankOfScopes(held: readonly string[]): number {
  return Math.max(...held.map((scope) => scopes.indexOf(scope as (typeof scopes)[number])));
}

/** management-api.md, Service accounts: a key with the scope `keys` makes keys that allow no more than itself. */
export function mayMake(maker: readonly string[], made: readonly string[]): boolean {
  return rankOfScopes(maker) >= scopes.indexOf('keys') && rankOfScopes(made) <= rankOfScopes(maker);
}

/** quotas.md: an organization has at most so many live keys. While they are replaced, twice as many. */
export const maxKeys = 6;
