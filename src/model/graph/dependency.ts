import { formatCoordinate, type Coordinate, type Selector } from '../address.ts';
import type { Digest } from '../digest.ts';

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
