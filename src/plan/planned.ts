import type { VersionSource } from '../compile/compile.ts';
import type { Coordinate } from '../model/address.ts';
import type { OnConflict } from '../model/connection.ts';
import type { Validation } from '../model/problem.ts';
import type { Visibility } from '../model/access.ts';

/** A document of a repository, and the resource that it is published to. */
export interface Planned {
  path: string;
  coordinate: Coordinate;
  /** What a new resource is made with: name, description, visibility, ruleset, validation. One that exists keeps its own. */
  name: string;
  description: string;
  visibility: Visibility;
  ruleset: string | null;
  validation: Validation | null;
  onConflict: OnConflict;
  /** Glob of the tags that become its versions; null: the branch does. */
  tags: string | null;
  /** Where the branch's versions have their labels from. */
  version: VersionSource;
  /** Whether `stele.yaml` or discovery connects it, and not somebody by hand. */
  isFound: boolean;
  /** Where `stele.yaml` lists it, as `stele.yaml:4:5`; null: it does not. */
  listedAt: string | null;
}
