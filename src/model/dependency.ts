import { formatCoordinate, type Coordinate, type Selector } from './address.ts';
import type { Digest } from './digest.ts';
import type { Comparison, WorstVerdict } from './comparison.ts';
import { countText } from './problem.ts';

/** What a version refers to, as it was when the version was published. */
export interface Dependency {
  /** `@acme/schemas/money` */
  coordinate: string;
  /** What was written after the `@`: a version, a range or a digest. Empty: the latest version. */
  range: string;
  /** The version that it meant. */
  version: string;
  /** The manifest of that version. Of a lock, it may be in another registry. */
  digest: Digest;
  /**
   * - `url`: a reference by URL, which is part of the document.
   * - `extends`: a ruleset by its coordinate. Who uses the ruleset resolves it anew.
   * - `lock`: a file of the repository, which `contracts.lock` names.
   */
  how: 'url' | 'extends' | 'lock';
}

/** The text of a selector as in `Dependency.range`. */
export function rangeOf(selector: Selector): string {
  if (selector.kind === 'latest') return '';
  return selector.kind === 'digest' ? selector.digest : selector.version;
}

/** The dependency that a coordinate and a selector lead to, or null. */
export function findDependency(
  dependencies: readonly Dependency[],
  coordinate: Coordinate,
  selector: Selector,
): Dependency | null {
  const [name, range] = [formatCoordinate(coordinate), rangeOf(selector)];
  return dependencies.find((each) => each.coordinate === name && each.range === range) ?? null;
}

/** The days after which a report of a consumer expires. */
export const consumerDays = 90;

/** A program that uses contracts and is in no followed repository, as it reported itself. */
export interface Consumer {
  name: string;
  /** What is in its `contracts.lock`. */
  contracts: ReportedContract[];
  /** When it last reported. ISO 8601, UTC. */
  reportedAt: string;
}

/** A contract that a consumer pinned. */
export interface ReportedContract extends Pick<Dependency, 'range' | 'version' | 'digest'> {
  contract: Dependency['coordinate'];
}

/** The name of the record of a consumer. */
export function consumerRef(org: string, name: string): string {
  return `consumers/${org}/${name}`;
}

/** What a new version does to one resource that uses it. */
export interface ImpactOnUser {
  /** `@acme/apis/orders` */
  coordinate: string;
  /** Its latest version, which was compiled again. */
  version: string;
  /** How it refers to the new version, or to what stands between them. */
  uses: Dependency;
  /**
   * How it gets the new version:
   * - `range`: at its next publish, since its range means it then.
   * - `update`: by `stele update`, since the range in its `contracts.lock` allows it.
   * - `pinned`: only when somebody changes what it refers to.
   */
  gets: 'range' | 'update' | 'pinned';
  /** The worst change of its own document. `breaking` also where it can no longer be compiled. */
  verdict: WorstVerdict;
  /** Why it can no longer be compiled. Null: it can. */
  rejected: string | null;
  /** Null: it can no longer be compiled. */
  comparison: Comparison | null;
}

/** Somebody who has the resource in a `contracts.lock`, and publishes nothing that is made of it. */
export interface ConsumerTouched {
  organization: string;
  name: string;
  /** The version in its lock. */
  version: string;
  gets: 'update' | 'pinned';
}

/** Whom a new version touches. */
export interface Impact {
  /** Those that were compiled again, those that it breaks first. */
  users: ImpactOnUser[];
  consumers: ConsumerTouched[];
  /** How many more there are that were not looked at. */
  unchecked: number;
}

/** The most users that a new version is tried on. */
export const maxUsersChecked = 200;

/** What is told of a user: as a version was tried on it, or as `/v1` says it. */
export type ToldUser = Pick<ImpactOnUser, 'coordinate' | 'version' | 'gets' | 'verdict'>;

/** Users and consumers who get a new version in the same way. */
export interface ImpactGroup<T extends ToldUser> {
  /** "It breaks 2 of 14 users at their next publish." */
  title: string;
  broken: T[];
  consumers: ConsumerTouched[];
}

/**
 * Whom a new version breaks: those that get it, those that vendor it, and those that stay, apart. A group without anybody
 * is left out.
 */
export function impactGroups<T extends ToldUser>({
  users,
  consumers = [],
  unchecked,
}: {
  users: readonly T[];
  /** A registry of an earlier version says nothing of them. */
  consumers?: readonly ConsumerTouched[];
  unchecked: number;
}): ImpactGroup<T>[] {
  const groups = (['range', 'update', 'pinned'] as const).map((gets) => {
    const [mine, theirs] = [users.filter((each) => each.gets === gets), consumers.filter((each) => each.gets === gets)];
    const broken = mine.filter(({ verdict }) => verdict === 'breaking');
    const { when, who } = groupText[gets];
    const title = [
      ...(mine.length > 0
        ? [`It breaks ${broken.length || 'none'} of ${countText(mine.length, 'user')} ${when}.`]
        : []),
      ...(theirs.length > 0 ? [`${who}: ${theirs.length}.`] : []),
    ];
    return { title: title.join(' '), broken, consumers: theirs };
  });
  const told = groups.filter(({ title }) => title !== '');
  if (unchecked > 0)
    told.push({ title: `${countText(unchecked, 'user')} more: not checked.`, broken: [], consumers: [] });
  return told;
}

const groupText: Readonly<Record<ImpactOnUser['gets'], { when: string; who: string }>> = {
  range: { when: 'at their next publish', who: 'Consumers that get it' },
  update: { when: 'by stele update', who: 'Consumers that get it by stele update' },
  pinned: { when: 'only if they leave their version', who: 'Consumers that stay with their version' },
};

/** What a user would notice, in one sentence: "POST /orders: Property \"amount\" of the request body is required; it was optional." */
export function impactText({ rejected, comparison }: ImpactOnUser): string {
  if (rejected !== null) return `It can no longer be compiled: ${rejected}`;
  const worst = comparison?.changes[0];
  if (worst === undefined) return comparison?.reason ?? 'Nothing changes.';
  const [operation] = worst.operations;
  const more = worst.reach > 1 ? ` and ${worst.reach - 1} more` : '';
  return operation === undefined ? worst.message : `${operation}${more}: ${worst.message}`;
}

/** How a user gets the new version, in words. */
export const getsText: Readonly<Record<ImpactOnUser['gets'], string>> = {
  range: 'gets it at its next publish',
  update: 'gets it by stele update',
  pinned: 'stays with its version',
};
