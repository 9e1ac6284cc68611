import type { ResourceType, Format } from '../model/address.ts';
import type { Coding, DocumentFacts, View } from '../model/artifact.ts';
import type { Dependency } from '../model/dependency.ts';
import type { Kind } from '../model/kinds.ts';
import type { Digest } from '../model/digest.ts';
import type { Images } from '../model/image.ts';
import type { Exemption, ReportedGate, Report, Validation } from '../model/problem.ts';
import type { SnapshotFile } from '../source/snapshot.ts';
import { isRegistryError, type RegistryError, unavailable } from '../model/errors.ts';

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
  /** Seconds of CPU time after which a sandbox is stopped. No verdict: all else that a document may cost is counted. */
  seconds: number;
  /** Megabytes of memory for one sandbox. */
  memoryMegabytes: number;
}

/** A file of a repository. */
export interface FileBytes {
  path: string;
  bytes: Uint8Array;
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

/** The member of a published ruleset with the files of its code: their texts by path. */
export const modulesMember = 'x-stele-modules';

/** The member of a ruleset that names its functions, each with its file: `a/b.js`, or `a/b.js#name` in a ruleset that is a module. */
export const functionsMember = 'x-stele-functions';

/** The member of a ruleset in Redocly's form that names its plugins: what each has, and its file. */
export const pluginsMember = 'x-stele-plugins';

/** Whether a ruleset, or one that it extends, has code of its own. */
export function hasCode({ json, extended = {} }: Pick<GivenRuleset, 'json' | 'extended'>): boolean {
  return [json, ...Object.values(extended).map((base) => base.json)].some((text) =>
    text.includes(`"${modulesMember}"`),
  );
}

export interface CompileInput {
  /** The expected type. Null accepts any type, as for discovery and `stele lint`. */
  type: ResourceType | null;
  /** Path of the document in the snapshot. */
  entry: string;
  /** Absent: the document as it is. */
  view?: View;
  validation: Validation;
  ruleset: GivenRuleset | null;
  /** How the ruleset's findings decide. Default: errors block. */
  gate?: CompileGate;
  limits: CompileLimits;
  /** Whether the code of a ruleset may run, the document's or the one that it is checked against, and the date that it sees. */
  code?: RulesetCode;
  /** Then there is no artifact. */
  reportOnly?: boolean;
}

/** The permission to run the functions of a ruleset. */
export interface RulesetCode {
  /** The date of the commit, ISO 8601; null if there is none. */
  date: string | null;
}

/** How the findings of a ruleset decide about a document. */
export interface CompileGate extends Pick<ReportedGate, 'blockOn' | 'ratchet'> {
  /** Those of `stele.yaml`. The compiler reads `.redocly.lint-ignore.yaml` itself. */
  exemptions: Exemption[];
  today: string;
  /** Keys of findings that do not block (`findingKey`), or null: all do. */
  known: string[] | null;
  /** Whether the report lists the keys of all findings (`known`). */
  listsKnown?: boolean;
}

/** One format in one coding, ready to be sent. */
export interface Representation {
  format: Format;
  coding: Coding;
  bytes: Uint8Array;
}

/** A compiled document. */
export interface Artifact extends DocumentFacts {
  type: ResourceType;
  /** The first paragraph of its description as plain text, at most 300 characters. */
  summary: string;
  /** Operations that its view leaves out, at most 1,000. Not published. Absent: none. */
  removed?: string[];
  /** json and yaml, each as identity, gzip, br and zstd. */
  representations: Representation[];
}

/** The plain bytes of an artifact in a format. */
export function bytesIn({ representations }: Pick<Artifact, 'representations'>, wanted: Format): Uint8Array {
  return representations.find(({ format, coding }) => format === wanted && coding === 'identity')!.bytes;
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
  /** Documents of the registry that it refers to, as found by the loader of its files. Absent: none. */
  dependencies?: readonly Dependency[];
}

/** Reads files from the snapshot in one batch. */
export type Load = (paths: readonly string[]) => Promise<SnapshotFile[]>;

/**
 * A part of a published document: an operation, by its name (`GET /pets/{id}`) or its operationId, as
 * it is written or as examples of it; or a named schema (`''`: the schema document itself).
 */
export type Excerpt = { operation: string; as: 'contract' | 'examples' } | { schema: string };

/** A published document. `json`: the bytes that are served. */
export interface Published {
  kind: Kind;
  json: Uint8Array;
  /** Images that its descriptions can show. Absent: none. */
  images?: Images;
  /** As of `Artifact`. */
  removed?: string[];
  /** The file that it was compiled from. With it, `compare` says where changes are. */
  source?: FileBytes;
  /** Of the old document: what its readers had when a grace began that ends now. Absent: this. */
  told?: Uint8Array;
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
 * Compiles documents. A pure function of the files: the same input gives the same bytes and report. A document
 * that exceeds its limits gets a blocking problem. Rejects with `unavailable` if the sandbox was lost
 * twice or took too long (`isSandboxLost`).
 */
export interface Compiler {
  /** Name, version and runtime. Part of every artifact's provenance. */
  readonly id: string;
  compile(input: CompileInput, load: Load, turn?: Turn): Promise<Compiled>;
}

/**
 * The error for a job that its sandbox did not end: it died, or, with `isHung`, it was stopped because
 * it took too long. That may be the machine's fault, so it is never a finding of a document, and is
 * stored nowhere. `reason`: a sentence; for the log unless it hung.
 */
export function sandboxLost(reason: string, isHung = false): RegistryError {
  const what = isHung
    ? `The document could not be checked. ${reason}`
    : 'The process that compiles documents stopped unexpectedly.';
  return unavailable(`${what} Nothing was changed. Try again later.`, {
    retryAfter: isHung ? 300 : 30,
    extra: { sandbox: 'lost' },
    cause: new Error(reason),
  });
}

/** Whether a document could not be checked, so that a retry may succeed. */
export function isSandboxLost(error: unknown): error is RegistryError {
  return isRegistryError(error, 'unavailable') && error.extra['sandbox'] === 'lost';
}

/** Whether the report says that a sandbox ran out of memory, perhaps because of the machine. */
export function hasDied({ problems }: Report): boolean {
  return problems.some(({ rule }) => rule === 'sandbox-memory');
}
