import type { Digest } from '../../model/digest.ts';
import type { Problem } from '../../model/problem.ts';
import type { Place, SiteSettings } from './documentation-site.ts';
import type { PageFacts } from './source-page.ts';

/** A page of a deployment. The place is that of its content. */
export interface DeployedPage extends Place {
  /** Identifies the bytes of its file: a digest, or the id of a blob. */
  source: string;
  facts: PageFacts;
  /**
   * The time of the commit that changed its file last. `isEarlier`: that or an earlier one did, since the first deployment
   * from git had it already. Absent: it was sent, or deployed before this was kept.
   */
  lastChange?: { at: string; isEarlier?: true };
  /** Problems that rendering found. Absent: none. */
  problems?: Problem[];
}

/** Another file of a deployment. */
export interface DeployedFile extends Place {
  source: string;
  digest: Digest;
  mediaType: string;
}

/** The version that an embedded reference meant when the site was published. */
export interface EmbeddedVersion {
  manifest: Digest;
  label: string;
  /** Whether the page asks for the newest one, so that a new version publishes the site again. */
  follows: boolean;
}

/**
 * Everything that a deployment consists of: the `config` object of its manifest. Contains no time but
 * those of commits: the same files and settings again give the same digest.
 */
export interface DeploymentContents {
  format: 1;
  /** The code that rendered the pages. */
  renderer: string;
  settings: SiteSettings;
  /** By path, in order. */
  pages: Readonly<Record<string, DeployedPage>>;
  files: Readonly<Record<string, DeployedFile>>;
  /** By coordinate as written. Those that the publisher could not read are missing. */
  embeds: Readonly<Record<string, EmbeddedVersion>>;
  /** The report of its publication. */
  report: Digest;
}

/** `artifactType` of a deployment's manifest. */
export const siteArtifactType = 'application/vnd.stele.site.v1';

/** The pages that lists, feeds and search show. */
export function listedPages({ pages }: DeploymentContents): [string, DeployedPage][] {
  return Object.entries(pages).filter(([, { facts }]) => !facts.hidden);
}
