import { compareSemanticVersions, parseSemanticVersion, type ReadVersion, type SemanticVersion } from '../label.ts';

interface Labelled {
  label: string;
  status?: { state: string };
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

const dottedLists = new WeakMap<readonly Labelled[], boolean>();

/** Whether every stable label of a list consists of dotted numbers, without those that were withdrawn. */
function areDotted(list: readonly Labelled[]): boolean {
  let answer = dottedLists.get(list);
  if (answer === undefined) dottedLists.set(list, (answer = list.every(isDotted)));
  return answer;
}

function isDotted({ label, status }: Labelled): boolean {
  return parseSemanticVersion(label) !== null || status?.state === 'withdrawn' || parseDottedVersion(label) !== null;
}

/**
 * How the labels of a resource are read: as dotted numbers where all of them are, otherwise as
 * semantic versions. `added`: a label that is about to be added.
 */
export function readerOf(list: readonly Labelled[], added?: Labelled): ReadVersion {
  return areDotted(list) && (added === undefined || isDotted(added)) ? readDotted : parseSemanticVersion;
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
