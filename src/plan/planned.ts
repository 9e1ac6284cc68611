import type { VersionSource } from '../compile/sandboxes.ts';
import type { FileView } from '../model/artifact.ts';
import type { Coordinate } from '../model/address.ts';
import type { Ownership } from '../model/ownership.ts';
import type { OnConflict } from '../model/connection.ts';
import type { GateSettings } from '../model/gate.ts';
import type { Exemption, Validation } from '../model/problem.ts';
import type { Resource } from '../model/resource.ts';
import type { Visibility } from '../model/access.ts';

/** A document of a repository and the resource that it is published to. Its ownership is that of an existing resource, too. */
export interface Planned extends Ownership, GateSettings {
  /** Path of its file. Of a view: `viewPath`. */
  path: string;
  /** Absent: all of the file is published. */
  view?: FileView;
  coordinate: Coordinate;
  /**
   * Where the resource was not published from this file: those of the repository that want approval and are published from
   * another file now, or from none, with the file that they were published from.
   */
  ended?: { file: string; resource: Resource }[];
  /** Settings for a new resource, from here to `validation`. An existing resource keeps its own, also of its gate. */
  /** Empty: the title of what is published. */
  name: string;
  description: string;
  visibility: Visibility;
  ruleset: string | null;
  validation: Validation | null;
  /** Findings that the repository accepts, also for an existing resource. */
  exemptions?: Exemption[];
  onConflict: OnConflict;
  /** Glob of the tags that become versions. Null: the branch does. */
  tags: string | null;
  /** Where versions from the branch get their labels. */
  version: VersionSource;
  /** Whether `stele.yaml` or discovery connects it, rather than a person. */
  isFound: boolean;
  /** The place in `stele.yaml` that lists it, such as `stele.yaml:4:5`, or null. */
  listedAt: string | null;
}
