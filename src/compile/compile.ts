import type { ResourceType, Format } from '../model/address.ts';
import type { Coding } from '../model/artifact.ts';
import type { Kind } from '../model/kinds.ts';
import type { Digest } from '../model/digest.ts';
import type { Outline } from '../model/outline.ts';
import type { OnConflict } from '../model/connection.ts';
import type { Validation } from '../model/problem.ts';
import type { Visibility } from '../model/access.ts';
import type { Problem, Report } from '../model/problem.ts';
import type { SnapshotFile } from '../source/snapshot.ts';

/** The walls of design §6, each with a problem rule of its own. */
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
  /** Seconds of processor time for one document, enforced with SIGKILL. */
  seconds: number;
  /** Megabytes of memory for one sandbox. */
  memoryMegabytes: number;
}

/** A ruleset to check by: the bytes of a published version, and what it is. */
export interface GivenRuleset {
  digest: Digest;
  /** JSON text of the published ruleset. */
  json: string;
}

export interface CompileInput {
  /** What the document is to be; null: whatever it is, as discovery and `stele lint` ask. */
  type: ResourceType | null;
  /** Path of the document in the snapshot. */
  entry: string;
  validation: Validation;
  ruleset: GivenRuleset | null;
  limits: CompileLimits;
}

/** One format in one coding, ready to be sent. */
export interface Representation {
  format: Format;
  coding: Coding;
  bytes: Uint8Array;
}

/** What a document compiles to. */
export interface Artifact {
  type: ResourceType;
  kind: Kind;
  /** `3.1.0`, `2020-12`, … */
  specification: string;
  title: string;
  description: string;
  /** The version that the document states, or null. */
  version: string | null;
  /** json and yaml, each as identity, gzip, br and zstd. */
  representations: Representation[];
}

/** Every file that was read or looked for, the entry first, then by path. `blob` null and `bytes` null: absent or refused. */
export interface CollectedFile {
  path: string;
  blob: string | null;
  bytes: Uint8Array | null;
}

/** `artifact` is null exactly when the report blocks. */
export interface Compiled {
  artifact: Artifact | null;
  report: Report;
  files: CollectedFile[];
}

/** Reads files of the snapshot that is compiled, in one batch. */
export type Load = (paths: readonly string[]) => Promise<SnapshotFile[]>;

/** What a document is, seen without compiling it. */
export interface Detected {
  path: string;
  type: ResourceType;
  kind: Kind;
  title: string | null;
}

/** Where the label of a version comes from, where no tag gives it. */
export type VersionSource =
  /** The version that the document states, else the next patch. */
  | { from: 'document' }
  /** The next patch, whatever the document states. */
  | { from: 'next' }
  /** A file of the same commit: what it says at a pointer (RFC 6901), or, for null, all that it holds. */
  | { from: 'file'; path: string; pointer: string | null };

/** What `stele.yaml` says for all documents, or for those of one entry. `tags` and a `version` are never set both. */
export interface SettingsDefaults {
  visibility?: Visibility;
  ruleset?: string;
  validation?: Validation;
  onConflict?: OnConflict;
  tags?: string;
  version?: VersionSource;
}

/** An entry of a repository's `stele.yaml`: a document, or all that a pattern takes. */
export interface SettingsResource extends SettingsDefaults {
  /** Path or pattern (`model/path-glob.ts`), from the folder of `stele.yaml`. */
  path: string;
  type?: ResourceType;
  /** Slug or template of slugs. */
  slug?: string;
  name?: string;
  description?: string;
  /** Where the entry stands in `stele.yaml`. */
  at: Pick<Problem, 'pointer' | 'line' | 'column'>;
}

/** What a repository says about itself in `stele.yaml` (described by `content/schemas/repository.json`). */
export interface Settings {
  resources: SettingsResource[];
  /** `at`: where they stand. */
  defaults: SettingsDefaults & Pick<SettingsResource, 'at'>;
  /** Whether documents that it does not name are looked for too. */
  discover: boolean;
  /** Files, and folders with all that is in them, that patterns and discovery pass over. */
  ignore: string[];
}

/** A file that holds a version, and where. */
export interface VersionFile {
  path: string;
  bytes: Uint8Array;
  pointer: string | null;
}

/** A published document, to be read again: its JSON, as it is served. */
export interface Published {
  type: ResourceType;
  kind: Kind;
  json: Uint8Array;
}

/** A published document made readable: the parts of its page that come from the document alone. */
export interface Rendered {
  /** HTML, safe by construction, without `<html>`, scripts, styles or outside images; headings from `<h2>` on. */
  html: string;
  /** HTML: the document's table of contents, links to anchors in `html`. */
  navigation: string;
  /** The same for readers of plain text: Markdown, headings from `##` on. */
  markdown: string;
  /** Whether the document was too long to be shown whole. */
  truncated: boolean;
}

/** Whose work it is, and how long it waits for a sandbox. */
export interface Turn {
  /** The organization. Organizations share the sandboxes evenly; work that names none is one more. */
  org?: string;
  /** What readers wait for counts as their organization's, but takes turns with what it publishes. Default: `publish`. */
  lane?: 'publish' | 'read';
  /**
   * Whether somebody waits for the answer. Such work waits a minute for its turn, then it rejects with `rate_limited` (the
   * organization's own work is in the way) or `unavailable` (others' is). All other work waits as long as it takes.
   */
  isAwaited?: boolean;
  signal?: AbortSignal | undefined;
}

/**
 * The compiler behind its sandbox. A pure function of the files: the same input gives the same bytes and report. A document
 * that goes over its own limits (processor time, memory) gets a blocking problem. A sandbox that dies for any other reason
 * is no fault of the document's: the work is done once more in a fresh one, and where that dies too, it rejects with
 * `unavailable` (see `isSandboxLost`).
 */
export interface Compiler {
  /** Name, version and runtime: part of every artifact's provenance. */
  readonly id: string;
  /** Names the code that outlines and renders: what it made under another name is not used again. */
  readonly renderer: string;
  compile(input: CompileInput, load: Load, turn?: Turn): Promise<Compiled>;
  /** Which of these files are documents of a kind that Stele knows. Files that do not parse are left out, like any other file. */
  detect(
    files: readonly { path: string; bytes: Uint8Array }[],
    limits: CompileLimits,
    turn?: Turn,
  ): Promise<Detected[]>;
  /** Reads a `stele.yaml`. `settings` is null exactly when the report blocks. */
  readSettings(
    file: { path: string; bytes: Uint8Array },
    limits: CompileLimits,
    turn?: Turn,
  ): Promise<{ settings: Settings | null; report: Report }>;
  /** The version that a file holds, or why it holds none. */
  readVersion(
    file: VersionFile,
    limits: CompileLimits,
    turn?: Turn,
  ): Promise<{ version: string } | { problem: Problem }>;
  /** What is in a published document. Null when the document is over its limits. */
  outline(document: Published, limits: CompileLimits, turn?: Turn): Promise<Outline | null>;
  /** A published document made readable. Null when the document is over its limits. */
  render(document: Published, limits: CompileLimits, turn?: Turn): Promise<Rendered | null>;
  /** Stops the sandboxes. Whatever still runs or waits rejects with `unavailable`. */
  close(): Promise<void>;
}
