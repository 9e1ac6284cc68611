import { isSlug, resourceTypes } from '../../model/address.ts';
import { own } from '../../model/json.ts';
import type { PagePart, Pages, Outline, OutlineOperation, OutlineRule, OutlineSchema } from '../../model/outline.ts';
import {
  maxChanges,
  maxOperations,
  verdicts,
  type Change,
  type ChangeRules,
  type Comparison,
} from '../../model/comparison.ts';
import { isKind } from '../../model/kinds.ts';
import { isBlocking, type Report } from '../../model/problem.ts';
import type { RenderedPage, SourcePage } from '../../sites/model/source-page.ts';
import type { LoadedFile } from '../collect.ts';
import type {
  Artifact,
  CompileInput,
  CompileLimits,
  Excerpt,
  FileBytes,
  Published,
  Representation,
} from '../compile.ts';
import type { CheckedSettings } from '../repository-settings.ts';
import type { Detected, ReadVersion, Rendered, VersionFile } from '../sandboxes.ts';
import {
  renderedPage,
  digest,
  problem,
  report,
  written,
  count,
  either,
  flag,
  invalid,
  list,
  nullOr,
  oneOf,
  optional,
  orNull,
  record,
  text,
  textOrNull,
  textUpTo,
  where,
  type Read,
} from './shapes.ts';
import type { Piece, Slim } from './pieces.ts';

/** What each job of a sandbox takes and gives. It asks for the files of a compilation, but for the first one. */
interface Jobs {
  compile: [{ input: CompileInput; files: LoadedFile[] }, { artifact: Artifact | null; report: Report }];
  /** Compiles for the report alone. */
  check: [{ input: CompileInput; files: LoadedFile[] }, { report: Report }];
  detect: [{ files: readonly FileBytes[]; limits: CompileLimits }, { detected: Detected[] }];
  ignored: [{ patterns: readonly string[]; paths: readonly string[] }, { by: number[] | null }];
  settings: [{ file: FileBytes; limits: CompileLimits }, CheckedSettings];
  version: [{ file: VersionFile; limits: CompileLimits }, ReadVersion];
  outline: [{ document: Published }, { outline: Outline | null }];
  excerpt: [{ document: Published; part: Excerpt }, { excerpt: string | null }];
  render: [{ document: Published }, { rendered: Rendered | null }];
  pages: [{ pages: readonly SourcePage[] }, { pages: RenderedPage[] }];
  compare: [
    { before: Published; after: Published; limits: CompileLimits; rules: ChangeRules },
    { comparison: Comparison },
  ];
}

export type JobType = keyof Jobs;
export type JobMessage<T extends JobType = JobType> = { [K in T]: { type: K } & Jobs[K][0] }[T];
export type Gives<T extends JobType> = Jobs[T][1];
/** The answer to a job. `rss`: the memory of the sandbox after it, in bytes. */
export type Answer<T extends JobType = JobType> = { [K in T]: { type: K; rss: number } & Jobs[K][1] }[T];

/** Messages from the parent to the sandbox. */
export type ParentMessage = JobMessage | { type: 'files'; files: LoadedFile[] };
/** Messages from the sandbox. */
export type ChildMessage = { type: 'ready' } | { type: 'load'; paths: string[] } | Answer;

const type = oneOf(resourceTypes);
const kind = where(text, isKind);

const bytes: Read<Uint8Array> = (value) => (value instanceof Uint8Array ? value : invalid);

const representation = record<Representation>({
  format: oneOf(['json', 'yaml'] as const),
  coding: oneOf(['identity', 'gzip', 'br', 'zstd'] as const),
  bytes,
});

const artifact = record<Artifact>({
  type,
  kind,
  specification: text,
  title: text,
  description: text,
  summary: text,
  version: textOrNull,
  removed: optional(list(text, 1000)),
  representations: where(
    list(representation, 8),
    (all) => new Set(all.map(({ format, coding }) => `${format} ${coding}`)).size === 8,
  ),
});

const detected = record<Detected>({
  path: text,
  type,
  kind,
  title: textOrNull,
  version: textOrNull,
  paths: list(text),
  shape: textOrNull,
  isTemplate: flag,
});

const outline = record<Outline>({
  title: text,
  description: text,
  operations: list(
    record<OutlineOperation>({
      method: text,
      path: text,
      id: textOrNull,
      summary: text,
      tags: list(text),
      parameters: list(text),
      deprecated: flag,
      sunset: optional(text),
      digest,
    }),
  ),
  schemas: list(record<OutlineSchema>({ name: text, properties: list(text), digest })),
  tags: list(record<Outline['tags'][number]>({ name: text, description: text })),
  rules: list(record<OutlineRule>({ name: text, severity: text, description: text, digest })),
  servers: list(text),
  truncated: flag,
});

/** A whole page. The renderer limits its length too. */
const longText = textUpTo(64_000_000);

const pages = record<Pages>({
  overview: longText,
  parts: where(
    list(record<PagePart>({ name: where(text, isSlug), title: text, from: count, to: count, anchors: list(text) })),
    (parts) =>
      parts.every(({ from, to }) => from <= to) && new Set(parts.map(({ name }) => name)).size === parts.length,
  ),
});

const rendered = where(
  record<Rendered>({ html: longText, navigation: longText, markdown: longText, truncated: flag, pages: nullOr(pages) }),
  (page) => page.pages === null || page.pages.parts.every(({ to }) => to <= page.html.length),
);

const change = record<Change>({
  verdict: oneOf(verdicts),
  usually: optional(oneOf(verdicts)),
  code: text,
  message: text,
  before: textOrNull,
  after: textOrNull,
  pointers: record<Change['pointers']>({ before: textOrNull, after: textOrNull }),
  place: optional(record<NonNullable<Change['place']>>({ line: count, column: count })),
  operations: list(text, maxOperations),
  reach: count,
  direction: oneOf(['request', 'response', 'both', null] as const),
  fingerprint: optional(digest),
});

const comparison = record<Comparison>({
  verdict: oneOf([...verdicts, 'none'] as const),
  counts: record<Comparison['counts']>({ breaking: count, unknown: count, risky: count, safe: count, docs: count }),
  changes: list(change, maxChanges),
  truncated: flag,
  reason: textOrNull,
});

/** The members of each answer besides its type and `rss`. */
const answers: { readonly [T in JobType]: Read<Gives<T>> } = {
  compile: where(
    record({ artifact: orNull(artifact), report }),
    (message) => (message.artifact === null) === isBlocking(message.report),
  ),
  check: record({ report }),
  detect: record({ detected: list(detected) }),
  ignored: record({ by: orNull(list(either<number>(count, oneOf([-1])))) }),
  settings: where(
    record({ written: orNull(written), report }),
    (message) => (message.written === null) === isBlocking(message.report),
  ),
  version: either<ReadVersion>(record({ version: text }), record({ problem })),
  outline: record({ outline: orNull(outline) }),
  excerpt: record({ excerpt: textOrNull }),
  render: record({ rendered: orNull(rendered) }),
  pages: record({ pages: list(renderedPage) }),
  compare: record({ comparison }),
};

const others: Readonly<Record<string, Read<object>>> = { ready: record({}), load: record({ paths: list(text) }) };
const memory = record({ rss: count });
const piece = record<Omit<Piece, 'type'>>({ of: count, bytes });
const slim = record<{ large: number[] | undefined }>({ large: optional(list(count, 8)) });

/**
 * Reads a message from a sandbox, and copies only what was agreed on, so that a compromised sandbox can
 * send nothing else. Returns null for any other message.
 */
export function readChildMessage(value: unknown): Slim<ChildMessage> | Piece | null {
  const name = record({ type: text })(value);
  if (name === invalid) return null;
  if (name.type === 'piece') {
    const part = piece(value);
    return part === invalid ? null : { type: 'piece', ...part };
  }
  const isAnswer = Object.hasOwn(answers, name.type);
  const read: Read<object> | undefined = isAnswer ? answers[name.type as JobType] : own(others, name.type);
  const content = read?.(value) ?? invalid;
  const rss = isAnswer ? memory(value) : {};
  if (content === invalid || rss === invalid) return null;
  return { ...name, ...content, ...rss, ...(slim(value) as object) } as Slim<ChildMessage>;
}
