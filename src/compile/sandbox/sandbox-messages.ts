import { isSlug, resourceTypes } from '../../model/address.ts';
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
import { isBlocking, type Problem, type Report } from '../../model/problem.ts';
import type { RenderedPage, SourcePage } from '../../sites/model/source-page.ts';
import type { LoadedFile } from '../collect.ts';
import type { Artifact, CompileInput, CompileLimits, Excerpt, Published, Representation } from '../compile.ts';
import type { Rendered, Detected, Settings, VersionFile } from '../sandboxes.ts';
import {
  renderedPage,
  digest,
  problem,
  report,
  settings,
  count,
  either,
  flag,
  invalid,
  list,
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

/** Messages from the parent to the sandbox. */
export type ParentMessage =
  | { type: 'compile'; input: CompileInput; files: LoadedFile[] }
  | { type: 'detect'; files: readonly { path: string; bytes: Uint8Array }[]; limits: CompileLimits }
  | { type: 'ignored'; patterns: readonly string[]; paths: readonly string[] }
  | { type: 'settings'; file: { path: string; bytes: Uint8Array }; limits: CompileLimits }
  | { type: 'version'; file: VersionFile; limits: CompileLimits }
  | { type: 'outline'; document: Published; limits: CompileLimits }
  | { type: 'excerpt'; document: Published; part: Excerpt; limits: CompileLimits }
  | { type: 'render'; document: Published; limits: CompileLimits }
  | { type: 'pages'; pages: readonly SourcePage[]; limits: CompileLimits }
  | { type: 'compare'; before: Published; after: Published; limits: CompileLimits; rules: ChangeRules }
  | { type: 'files'; files: LoadedFile[] };

/** Messages from the sandbox. `rss`: its memory in bytes after the job. */
export type ChildMessage =
  | { type: 'ready' }
  | { type: 'load'; paths: string[] }
  | { type: 'compiled'; artifact: Artifact | null; report: Report; rss: number }
  | { type: 'checked'; report: Report; rss: number }
  | { type: 'detected'; detected: Detected[]; rss: number }
  | { type: 'ignored'; by: number[] | null; rss: number }
  | { type: 'settings'; settings: Settings | null; report: Report; rss: number }
  | { type: 'version'; version: string; rss: number }
  | { type: 'version'; problem: Problem; rss: number }
  | { type: 'outlined'; outline: Outline | null; rss: number }
  | { type: 'excerpted'; excerpt: string | null; rss: number }
  | { type: 'rendered'; rendered: Rendered | null; rss: number }
  | { type: 'paged'; pages: RenderedPage[]; rss: number }
  | { type: 'compared'; comparison: Comparison; rss: number };

type MessageOf<T> = Extract<ChildMessage, { type: T }>;

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
  record<Rendered>({
    html: longText,
    navigation: longText,
    markdown: longText,
    truncated: flag,
    pages: (value) => (value === null ? null : pages(value)),
  }),
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

const rss = count;

/** The members of each message besides its type. */
const contents: { [T in ChildMessage['type']]: Read<ContentOf<MessageOf<T>>> } = {
  ready: record({}),
  load: record({ paths: list(text) }),
  compiled: where(
    record({ artifact: orNull(artifact), report, rss }),
    (message) => (message.artifact === null) === isBlocking(message.report),
  ),
  checked: record({ report, rss }),
  detected: record({ detected: list(detected), rss }),
  ignored: record({ by: orNull(list(either<number>(count, oneOf([-1])))), rss }),
  settings: where(
    record({ settings: orNull(settings), report, rss }),
    (message) => (message.settings === null) === isBlocking(message.report),
  ),
  version: either<ContentOf<MessageOf<'version'>>>(record({ version: text, rss }), record({ problem, rss })),
  outlined: record({ outline: orNull(outline), rss }),
  excerpted: record({ excerpt: textOrNull, rss }),
  rendered: record({ rendered: orNull(rendered), rss }),
  paged: record({ pages: list(renderedPage), rss }),
  compared: record({ comparison, rss }),
};

type ContentOf<M> = M extends unknown ? Omit<M, 'type'> : never;

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
  if (!Object.hasOwn(contents, name.type)) return null;
  const content = contents[name.type as ChildMessage['type']](value);
  return content === invalid ? null : ({ ...name, ...content, ...(slim(value) as object) } as Slim<ChildMessage>);
}
