import type { ResourceType, Format } from '../model/address.ts';
import type { Coding } from '../model/artifact.ts';
import type { Kind } from '../model/kinds.ts';
import type { Digest } from '../model/digest.ts';
import type { ChangeRules, Comparison } from '../model/comparison.ts';
import type { Outline } from '../model/outline.ts';
import type { Images } from '../model/images/image.ts';
import type { OnConflict } from '../model/connection.ts';
import type { Pages } from '../model/anchor.ts';
import type { GateSettings } from '../model/gate.ts';
import type { Ownership } from '../model/resource.ts';
import type { BlockOn, Exemption, Gate, Problem, Report, Validation } from '../model/problem.ts';
import type { Visibility } from '../model/access.ts';
import type { SiteSettings } from '../sites/model/documentation-site.ts';
import type { RenderedPage, SourcePage } from '../sites/model/source-page.ts';
import type { SnapshotFile } from '../source/snapshot.ts';

/** The limits of design §6. Each has its own problem rule. */
export interface CompileLimits {
  /** Bytes of one file. */
  fileBytes: number;
  /** Bytes of all collected files, and of the bundle. */
  bundleBytes: number;
  /** Number of collected files. */
  files: number;
  /** Nesting of a document's nodes. */
  depth: number;
  /** Alias nodes in one YAML document. */
  aliases: number;
  /** Nodes of one document with its aliases expanded. */
  nodes: number;
  /** Seconds of CPU time for one document, enforced with SIGKILL. */
  seconds: number;
  /** Megabytes of memory for one sandbox. */
  memoryMegabytes: number;
}

/** The published ruleset that the document is checked against. */
export interface GivenRuleset {
  digest: Digest;
  /** Its coordinate with its version, or the name of its file. */
  name: string;
  /** JSON text of the published ruleset. */
  json: string;
  /** The rulesets that it extends, also through others, by the coordinate as written there. */
  extended?: Readonly<Record<string, Pick<GivenRuleset, 'digest' | 'json'>>>;
}

export interface CompileInput {
  /** The expected type. Null accepts any type, as for discovery and `stele lint`. */
  type: ResourceType | null;
  /** Path of the document in the snapshot. */
  entry: string;
  validation: Validation;
  ruleset: GivenRuleset | null;
  /** How the ruleset's findings decide. Default: errors block. */
  gate?: CompileGate;
  limits: CompileLimits;
  /** Then there is no artifact. */
  reportOnly?: boolean;
}

/** How the findings of a ruleset decide about a document. */
export interface CompileGate extends Pick<Gate, 'blockOn' | 'ratchet'> {
  /** Those of `stele.yaml`. The compiler reads `.redocly.lint-ignore.yaml` itself. */
  exemptions: Exemption[];
  today: string;
  /** Keys of findings that do not block (`findingKey`), or null: all do. */
  known: string[] | null;
  /** Whether the report shall list the keys of all findings (`known`). */
  listsKnown?: boolean;
}

/** One format in one coding, ready to be sent. */
export interface Representation {
  format: Format;
  coding: Coding;
  bytes: Uint8Array;
}

/** A compiled document. */
export interface Artifact {
  type: ResourceType;
  kind: Kind;
  /** `3.1.0`, `2020-12`, … */
  specification: string;
  title: string;
  description: string;
  /** The first paragraph of its description as plain text, at most 300 characters. */
  summary: string;
  /** The version in the document, or null. */
  version: string | null;
  /** json and yaml, each as identity, gzip, br and zstd. */
  representations: Representation[];
}

/** A file that was read or requested. `blob` and `bytes` are null when it is missing or rejected. */
export interface CollectedFile {
  path: string;
  blob: string | null;
  bytes: Uint8Array | null;
}

/** `artifact` is null exactly when the report blocks or was all that was wanted. */
export interface Compiled {
  artifact: Artifact | null;
  report: Report;
  /** The entry first, then the others by path. */
  files: CollectedFile[];
}

/** Reads files from the snapshot in one batch. */
export type Load = (paths: readonly string[]) => Promise<SnapshotFile[]>;

/** What tells a document apart from others, to find several files of one API. */
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
  /** Path or pattern (`model/path-glob.ts`), relative to the folder of `stele.yaml`. */
  path: string;
  type?: ResourceType;
  /** A slug, or a template for slugs. */
  slug?: string;
  name?: string;
  description?: string;
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
export interface VersionFile {
  path: string;
  bytes: Uint8Array;
  pointer: string | null;
}

/** A published document. `json`: the bytes that are served. */
export interface Published {
  type: ResourceType;
  kind: Kind;
  json: Uint8Array;
  /** What its descriptions can show. Absent: no images. */
  images?: Images;
  /** The file that it was compiled from. With it, `compare` says where changes are. */
  source?: { path: string; bytes: Uint8Array };
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

/** Who a job belongs to and how long it may wait for a sandbox. */
export interface Turn {
  /** Organizations share the sandboxes evenly. Jobs without one share a turn of their own. */
  org?: string;
  /** Reads and publishes of one organization alternate. Default: `publish`. */
  lane?: 'publish' | 'read';
  /**
   * Whether a client waits for the result. Such a job rejects after a minute in the queue: with
   * `rate_limited` if the organization's own jobs are ahead of it, or `unavailable` if others are.
   * Other jobs wait without a limit.
   */
  isAwaited?: boolean;
  signal?: AbortSignal | undefined;
}

/**
 * The sandboxed compiler. A pure function of the files: the same input gives the same bytes and
 * report. A document that exceeds its limits (CPU time, memory) gets a blocking problem. If a
 * sandbox dies for any other reason, the job is retried once in a new sandbox; if that dies too,
 * the call rejects with `unavailable` (see `isSandboxLost`).
 */
export interface Compiler {
  /** Name, version and runtime. Part of every artifact's provenance. */
  readonly id: string;
  /** Identifies the code that renders and compares. Cached output of another is not used. */
  readonly renderer: string;
  /** How documents are isolated. Absent where they are not, as in tests. */
  isolation?(): Promise<{ kind: 'bwrap' | 'node' }>;
  compile(input: CompileInput, load: Load, turn?: Turn): Promise<Compiled>;
  /** Returns the files that are documents of a known kind. Other files are left out. */
  detect(
    files: readonly { path: string; bytes: Uint8Array }[],
    limits: CompileLimits,
    turn?: Turn,
  ): Promise<Detected[]>;
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
  /** Parses a `stele.yaml`. `settings` is null exactly when the report blocks. */
  readSettings(
    file: { path: string; bytes: Uint8Array },
    limits: CompileLimits,
    turn?: Turn,
  ): Promise<{ settings: Settings | null; report: Report }>;
  /** Returns the version in a file, or the problem if there is none. */
  readVersion(
    file: VersionFile,
    limits: CompileLimits,
    turn?: Turn,
  ): Promise<{ version: string } | { problem: Problem }>;
  /** Returns the outline of a published document, or null if it exceeds the limits. */
  outline(document: Published, limits: CompileLimits, turn?: Turn): Promise<Outline | null>;
  /** Renders a published document. Returns null if it exceeds the limits. */
  render(document: Published, limits: CompileLimits, turn?: Turn): Promise<Rendered | null>;
  /** Renders pages of documentation sites, in their order. One above the limits has a blocking problem. */
  renderPages(pages: readonly SourcePage[], limits: CompileLimits, turn?: Turn): Promise<RenderedPage[]>;
  /** These pages will be rendered soon: what takes long to start can start now. */
  expectPages?(pages: readonly SourcePage[], limits: CompileLimits): void;
  /**
   * Compares two published documents. If that exceeds the limits, the verdict is `unknown` and
   * `reason` says why. `rules`: what the organization decides about changes.
   */
  compare(old: Published, next: Published, limits: CompileLimits, rules: ChangeRules, turn?: Turn): Promise<Comparison>;
  /** Stops the sandboxes. Running and queued jobs reject with `unavailable`. */
  close(): Promise<void>;
}
