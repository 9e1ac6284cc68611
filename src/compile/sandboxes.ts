import type { ResourceType } from '../model/address.ts';
import type { Kind } from '../model/kinds.ts';
import type { OnConflict } from '../model/connection.ts';
import type { GateSettings } from '../model/gate.ts';
import type { Ownership } from '../model/ownership.ts';
import type { BlockOn, Exemption, Problem, Report, Validation } from '../model/problem.ts';
import type { Visibility } from '../model/access.ts';
import type { SiteSettings } from '../sites/model/documentation-site.ts';
import type { CompileLimits, Turn, Excerpt, FileBytes, Published, Compiler } from './compile.ts';
import type { Outline, Pages } from '../model/outline.ts';
import type { RenderedPage, SourcePage } from '../sites/model/source-page.ts';
import type { ChangeRules, Comparison } from '../model/comparison.ts';

/** Identifies a document, to find several files of one API. */
export interface Identity {
  /** The version in the document. */
  version: string | null;
  /** Hashes of some of its paths and webhooks. Two documents with much in common share some. */
  paths: string[];
  /** A hash of all its paths and webhooks. Null when it has none. */
  shape: string | null;
  /** Whether it is a template: its title or version is a placeholder such as `{{ name }}`. */
  isTemplate: boolean;
}

/** The type of a file, found without compiling it. */
export interface Detected extends Identity {
  path: string;
  type: ResourceType;
  kind: Kind;
  title: string | null;
}

/** The source of a version's label when it does not come from a tag. */
export type VersionSource =
  /** The version in the document, or the next patch version. */
  | { from: 'document' }
  /** The next patch version. The version in the document is ignored. */
  | { from: 'next' }
  /** A file of the same commit: the value at `pointer` (RFC 6901), or the whole file if null. */
  | { from: 'file'; path: string; pointer: string | null };

/**
 * Settings in `stele.yaml` for all documents or one entry. `tags` and `version` are never both set.
 */
export interface SettingsDefaults extends GateSettings, Ownership {
  visibility?: Visibility;
  ruleset?: string;
  validation?: Validation;
  onConflict?: OnConflict;
  tags?: string;
  version?: VersionSource;
}

/** An entry of a repository's `stele.yaml`: one document, or all documents that match a pattern. */
export interface SettingsResource extends SettingsDefaults {
  /** Path or pattern (`model/glob.ts`), relative to the folder of `stele.yaml`. */
  path: string;
  type?: ResourceType;
  /** A slug, or a template for slugs. */
  slug?: string;
  name?: string;
  description?: string;
  /** Paths of OpenAPI Overlays, relative to the folder of `stele.yaml`. */
  overlays?: string[];
  /** As of `View`. */
  audience?: string;
  /** Findings that are accepted. */
  exemptions?: Exemption[];
  /** The position of the entry in `stele.yaml`. */
  at: Pick<Problem, 'pointer' | 'line' | 'column'>;
}

/** A documentation site in `stele.yaml`. `path`: its folder, relative to that of `stele.yaml`. */
export interface SettingsSite extends Partial<SiteSettings> {
  path: string;
  slug: string;
  title: string;
  visibility?: Visibility;
  blockOn?: BlockOn;
}

/** The contents of a repository's `stele.yaml` (schema: `content/schemas/repository.json`). */
export interface Settings {
  resources: SettingsResource[];
  /** `at`: their position in `stele.yaml`. */
  defaults: SettingsDefaults & Pick<SettingsResource, 'at'>;
  /** Whether to look for documents that are not listed. */
  discover: boolean;
  /** Files and folders that patterns and discovery skip. */
  ignore: string[];
  /** Absent: none. */
  sites?: SettingsSite[];
}

/** A file that contains a version. `pointer`: where; null for the whole file. */
export interface VersionFile extends FileBytes {
  pointer: string | null;
}

/** A `stele.yaml` as it was read. `settings` is null exactly when the report blocks. */
export interface ReadSettings {
  settings: Settings | null;
  report: Report;
}

/** The version in a file, or the problem if there is none. */
export type ReadVersion = { version: string } | { problem: Problem };

/** Reads the settings and documents of a repository. Pure functions of their input, as `Compiler` is. */
export interface RepositoryReader {
  /** Returns the files that are documents of a known kind. Other files are left out. */
  detect(files: readonly FileBytes[], limits: CompileLimits, turn?: Turn): Promise<Detected[]>;
  /**
   * Applies patterns in gitignore syntax to paths. Returns for each path the index of the pattern
   * that excludes it, or -1. Returns null when that exceeds the limits.
   */
  ignored(
    patterns: readonly string[],
    paths: readonly string[],
    limits: CompileLimits,
    turn?: Turn,
  ): Promise<number[] | null>;
  readSettings(file: FileBytes, limits: CompileLimits, turn?: Turn): Promise<ReadSettings>;
  readVersion(file: VersionFile, limits: CompileLimits, turn?: Turn): Promise<ReadVersion>;
}

/** A rendered document: the parts of its page that depend on the document alone. */
export interface Rendered {
  /**
   * Safe HTML without `<html>`, scripts or styles. Headings start at `<h2>`. Images have addresses
   * that only the page knows (`site/pages/show-images.ts`).
   */
  html: string;
  /** The table of contents as HTML. Links to anchors in `html`. */
  navigation: string;
  /** The same content as Markdown. Headings start at `##`. */
  markdown: string;
  /** Whether the document was too long and was cut. */
  truncated: boolean;
  /** The pages that a long reference is divided into. Null: one page is enough. */
  pages: Pages | null;
}

/** Makes published documents and pages of documentation sites readable. Pure functions of their input. */
interface Renderer {
  /** Identifies the code that renders and compares. Cached output of another is not used. */
  readonly renderer: string;
  /** Returns the outline of a published document, or null if it exceeds the limits. */
  outline(document: Published, limits: CompileLimits, turn?: Turn): Promise<Outline | null>;
  /**
   * Returns a part of a published document as JSON text, with what it refers to inlined. Null if
   * there is no such part, or if it exceeds the limits.
   */
  excerpt(document: Published, part: Excerpt, limits: CompileLimits, turn?: Turn): Promise<string | null>;
  /** Renders a published document. Returns null if it exceeds the limits. */
  render(document: Published, limits: CompileLimits, turn?: Turn): Promise<Rendered | null>;
  /** Renders pages of documentation sites, in their order. One above the limits has a blocking problem. */
  renderPages(pages: readonly SourcePage[], limits: CompileLimits, turn?: Turn): Promise<RenderedPage[]>;
}

/** Compares published documents. A pure function of its input. */
export interface Comparer {
  /**
   * Compares two published documents. If that takes too much memory, the verdict is `unknown` and
   * `reason` says why. `rules`: what the organization decides about changes.
   */
  compare(old: Published, next: Published, limits: CompileLimits, rules: ChangeRules, turn?: Turn): Promise<Comparison>;
}

/**
 * All work with users' documents, in sandboxes. If one dies for another reason than the document's
 * memory, its job is done once more in a new one; if that dies too, or the job takes too long, the call
 * rejects with `unavailable` (`isSandboxLost`).
 */
export interface Sandboxes extends Compiler, RepositoryReader, Renderer, Comparer {
  /** How documents are isolated. Absent where they are not, as in tests. */
  isolation?(): Promise<{ kind: 'bwrap' | 'node' }>;
  /** Stops the sandboxes. Running and queued jobs reject with `unavailable`. */
  close(): Promise<void>;
}
