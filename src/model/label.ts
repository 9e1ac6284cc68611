/**
 * Version labels (design §7): their grammar, their order, which one is latest, and what a range
 * selects. Precedence follows Semantic Versioning 2.0.0 §11.
 */
import { isNameOfJavaScript } from './json.ts';

const grammar = /^[A-Za-z0-9](?:[A-Za-z0-9._+-]{0,126}[A-Za-z0-9])?$/;

/** Whether the text is a valid version label. */
export function isLabel(text: string): boolean {
  return grammar.test(text) && !text.includes('..') && !/\.(?:json|yaml|yml)$/i.test(text) && !isReservedLabel(text);
}

function isReservedLabel(text: string): boolean {
  const folded = text.toLowerCase();
  return folded === 'latest' || folded.startsWith('sha256') || isNameOfJavaScript(text) || isNameOfJavaScript(folded);
}

/** The label in lower case. Labels are unique ignoring case. */
export function foldLabel(label: string): string {
  return label.toLowerCase();
}

/**
 * Makes a label from the version stated in a document, or null when no character can be kept. A run
 * of characters outside the grammar becomes one `-`: `v 1.0 (beta)` → `v-1.0-beta`.
 */
export function labelFromVersion(version: string): string | null {
  const mapped = version
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .replace(/[^A-Za-z0-9._+-]+/g, '-')
    .replace(/\.{2,}/g, '.')
    .slice(0, 128)
    .replace(/^[^A-Za-z0-9]+|[^A-Za-z0-9]+$/g, '');
  if (isLabel(mapped)) return mapped;
  const prefixed = `v-${mapped.replace(/\./g, '-')}`.slice(0, 128).replace(/[^A-Za-z0-9]+$/, '');
  return mapped !== '' && isLabel(prefixed) ? prefixed : null;
}

/** A label parsed as a semantic version. Numbers are bigints because labels can have 128 characters. */
export interface SemanticVersion {
  core: readonly [bigint, bigint, bigint, ...bigint[]];
  prerelease: readonly string[];
}

/** Reads a label as a version that can be ordered; null if it cannot. See `readerOf`. */
type ReadVersion = (label: string) => SemanticVersion | null;

const semver =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-((?:0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*)(?:\.(?:0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*))*))?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?$/;

/**
 * Parses the label as a semantic version, with an optional leading `v`. Null when it is not one.
 * Drops build metadata (SemVer §10).
 */
export function parseSemanticVersion(label: string): SemanticVersion | null {
  // The labels of a resource are parsed again at each of its publishes.
  if (parsed.size >= 100_000) parsed.clear();
  return parsed.getOrInsertComputed(label, parse);
}

const parsed = new Map<string, SemanticVersion | null>();

function parse(label: string): SemanticVersion | null {
  const match = semver.exec(label.replace(/^v/, ''));
  if (!match) return null;
  return {
    core: [BigInt(match[1]!), BigInt(match[2]!), BigInt(match[3]!)],
    prerelease: match[4] === undefined ? [] : match[4].split('.'),
  };
}

/** Negative when a precedes b, positive when it follows, 0 when they have equal precedence (SemVer §11). */
export function compareSemanticVersions(a: SemanticVersion, b: SemanticVersion): number {
  for (let i = 0; i < Math.max(a.core.length, b.core.length); i++) {
    const difference = compareNumbers(a.core[i] ?? 0n, b.core[i] ?? 0n);
    if (difference !== 0) return difference;
  }
  if (a.prerelease.length === 0 || b.prerelease.length === 0) return b.prerelease.length - a.prerelease.length;
  for (let i = 0; i < Math.min(a.prerelease.length, b.prerelease.length); i++) {
    const difference = comparePrerelease(a.prerelease[i]!, b.prerelease[i]!);
    if (difference !== 0) return difference;
  }
  return a.prerelease.length - b.prerelease.length;
}

function comparePrerelease(a: string, b: string): number {
  const numericA = /^\d+$/.test(a);
  const numericB = /^\d+$/.test(b);
  if (numericA && numericB) return compareNumbers(BigInt(a), BigInt(b));
  if (numericA !== numericB) return numericA ? -1 : 1;
  return a < b ? -1 : a > b ? 1 : 0;
}

function compareNumbers(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** A label and its place in the order of publication: higher is newer. */
export interface LabelCandidate {
  label: string;
  order: number;
}

/**
 * The latest candidate: the highest release in semver order, else the highest pre-release, else the
 * newest publication. Among equal versions the newest publication wins. Null when there are no
 * candidates.
 */
export function latestOf<C extends LabelCandidate>(
  candidates: readonly C[],
  read: ReadVersion = parseSemanticVersion,
): C | null {
  let best: { candidate: C; rank: number; version: SemanticVersion | null } | null = null;
  for (const candidate of candidates) {
    const version = read(candidate.label);
    const rank = version === null ? 0 : version.prerelease.length > 0 ? 1 : 2;
    if (best === null || isLater(candidate, rank, version, best)) best = { candidate, rank, version };
  }
  return best?.candidate ?? null;
}

function isLater(
  { order }: LabelCandidate,
  rank: number,
  version: SemanticVersion | null,
  best: { candidate: LabelCandidate; rank: number; version: SemanticVersion | null },
): boolean {
  if (rank !== best.rank) return rank > best.rank;
  const difference = version === null ? 0 : compareSemanticVersions(version, best.version!);
  return difference > 0 || (difference === 0 && order > best.candidate.order);
}

const rangeGrammar = /^([~^]?)(0|[1-9]\d{0,15})(?:\.(0|[1-9]\d{0,15}))?(?:\.(0|[1-9]\d{0,15}))?$/;

/** Whether the text is a version range: `1`, `1.4`, `^1.2`, `~1.4`, `^1.2.3`, `~1.2.3`. */
export function isRange(text: string): boolean {
  const match = rangeGrammar.exec(text);
  return match !== null && (match[1] !== '' || match[4] === undefined);
}

/** The highest candidate within the range. Pre-releases never match. Null when nothing does. */
export function highestInRange<C extends LabelCandidate>(
  range: string,
  candidates: readonly C[],
  read: ReadVersion = parseSemanticVersion,
): C | null {
  const match = rangeGrammar.exec(range);
  if (!match || !isRange(range)) return null;
  const [, sign, majorText, minorText, patchText] = match;
  const major = BigInt(majorText!);
  const minor = minorText === undefined ? null : BigInt(minorText);
  const patch = patchText === undefined ? null : BigInt(patchText);
  const matching = candidates.filter(({ label }) => {
    const version = read(label);
    if (!version || version.prerelease.length > 0) return false;
    const floor = { core: [major, minor ?? 0n, patch ?? 0n] as const, prerelease: [] };
    if (compareSemanticVersions(version, floor) < 0) return false;
    return isSameSeries(version.core, [major, minor, patch], sign!);
  });
  return latestOf(matching, read);
}

/** As in node-semver: `^0.2` stays within 0.2, `^0.0.3` matches only that version. */
function isSameSeries(
  core: SemanticVersion['core'],
  [major, minor, patch]: readonly [bigint, bigint | null, bigint | null],
  sign: string,
): boolean {
  if (core[0] !== major) return false;
  if (sign !== '^') return minor === null || core[1] === minor;
  if (major > 0n || minor === null) return true;
  if (core[1] !== minor) return false;
  return minor > 0n || patch === null || core[2] === patch;
}

/**
 * The label for content that states no version: the next patch after the highest version, the next
 * number after dotted ones such as `2025.02.04`, or `1.0.0`.
 */
export function nextLabel(candidates: readonly LabelCandidate[], read: ReadVersion = parseSemanticVersion): string {
  const versions = candidates.flatMap(({ label }) => {
    const version = read(label);
    return version === null ? [] : [{ label, version }];
  });
  if (versions.length === 0) return '1.0.0';
  const { label, version } = versions.reduce((best, next) =>
    compareSemanticVersions(next.version, best.version) > 0 ? next : best,
  );
  const isRelease = version.prerelease.length === 0;
  if (parseSemanticVersion(label) === null) {
    const [, start, last] = /^v?((?:\d+\.)*)(\d+)/.exec(label)!;
    return start! + (isRelease ? String(BigInt(last!) + 1n).padStart(last!.length, '0') : last!);
  }
  const [major, minor, patch] = version.core;
  return `${major}.${minor}.${isRelease ? patch + 1n : patch}`;
}

interface Labelled {
  label: string;
  status?: { state: string };
}

/** Where the labels of a list stand, folded, as far as it was read: up to its item `last`. */
interface Places {
  places: Map<string, number>;
  length: number;
  last: Labelled;
  /** How many lists did not fit since it was made. */
  misfits: number;
}

/** Items that are compared one by one, from the newest. Shorter lists have no places. */
const compared = 64;
/** Lists that do not fit before places are made again. Making them takes as long as some comparisons of all items. */
const maxMisfits = 32;

/** By the first item. Each publish makes a new list, which begins with the items of the one before. */
const placesOf = new WeakMap<Labelled, Places>();

/**
 * The index of the item with this label, ignoring case, or -1. Items of a list are only ever added
 * or replaced by others with the same label: what was read of one list holds for a later one, and
 * a publish does not compare with every version.
 */
export function placeOfLabel(list: readonly Labelled[], label: string): number {
  const folded = foldLabel(label);
  const isIt = (at: number) => list[at]!.label.length === label.length && foldLabel(list[at]!.label) === folded;
  const end = list.length;
  for (let at = end - 1; at >= Math.max(0, end - compared); at--) if (isIt(at)) return at;
  if (end <= compared) return -1;
  const places = placesIn(list);
  if (places === null) return list.findLastIndex((_, at) => isIt(at));
  const at = places.get(folded);
  if (at === undefined) return -1;
  return at < end && isIt(at) ? at : list.findLastIndex((_, other) => isIt(other));
}

/** Where the labels of a list stand; null: another list was read, and the two differ in more than their ends. */
function placesIn(list: readonly Labelled[]): Map<string, number> | null {
  const end = list.length - compared;
  let places = placesOf.get(list[0]!);
  const isFit = places !== undefined && list[places.length - 1] === places.last;
  if (!isFit && places !== undefined && ++places.misfits < maxMisfits) return null;
  if (!isFit || places === undefined) places = { places: new Map(), length: 0, last: list[0]!, misfits: 0 };
  // The newest ones are left out: they may be versions that were only foreseen and never published.
  for (; places.length < end; places.length++) {
    places.last = list[places.length]!;
    places.places.set(foldLabel(places.last.label), places.length);
  }
  placesOf.set(list[0]!, places);
  return places.places;
}

const dotted = /^v?(\d+(?:\.\d+)*)(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+[0-9A-Za-z._-]+)?$/;

/**
 * Reads labels such as `2.2` and `2025.02.04`, with a leading `v` and suffixes as in semantic
 * versions. Missing parts are 0. Null for any other, such as the date `2025-02-04`.
 */
function parseDottedVersion(label: string): SemanticVersion | null {
  const [, numbers, prerelease] = dotted.exec(label) ?? [];
  if (numbers === undefined) return null;
  const [major, minor, patch, ...rest] = numbers.split('.').map(BigInt);
  if (prerelease !== undefined && minor === undefined) return null;
  return { core: [major!, minor ?? 0n, patch ?? 0n, ...rest], prerelease: prerelease?.split('.') ?? [] };
}

/** Whether every stable label of a list consists of dotted numbers, without those that were withdrawn. */
const dottedLists = new WeakMap<readonly Labelled[], boolean>();

function isDotted({ label, status }: Labelled): boolean {
  return parseSemanticVersion(label) !== null || status?.state === 'withdrawn' || parseDottedVersion(label) !== null;
}

/**
 * How the labels of a resource are read: as dotted numbers where all of them are, otherwise as
 * semantic versions. `added`: a label that is about to be added.
 */
export function readerOf(list: readonly Labelled[], added?: Labelled): ReadVersion {
  const areDotted = dottedLists.getOrInsertComputed(list, () => list.every(isDotted));
  return areDotted && (added === undefined || isDotted(added)) ? readDotted : parseSemanticVersion;
}

function readDotted(label: string): SemanticVersion | null {
  return parseSemanticVersion(label) ?? parseDottedVersion(label);
}

/** Whether two labels have equal rank: the same version apart from what follows a `+`. */
export function haveEqualRank(read: ReadVersion, one: string, other: string): boolean {
  const [a, b] = [read(one), read(other)];
  if (a === null || b === null) return a === b && stemOf(one) === stemOf(other);
  return compareSemanticVersions(a, b) === 0;
}

function stemOf(label: string): string {
  return label.replace(/\+.*$/, '').toLowerCase();
}
