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
   * - `lock`: a file of the repository, which `contracts.lock` names.
   */
  how: 'lock';
}
