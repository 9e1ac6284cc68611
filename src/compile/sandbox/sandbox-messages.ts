import { isSlug, resourceTypes } from '../../model/address.ts';
import type { Coding } from '../../model/artifact.ts';
import type { PagePart, Pages } from '../../model/anchor.ts';
import { isKind } from '../../model/kinds.ts';
import { isDigest } from '../../model/digest.ts';
import type { ChangeRules, Comparison } from '../../model/comparison.ts';
import type { Outline, OutlineOperation, OutlineRule, OutlineSchema } from '../../model/outline.ts';
import { isBlocking, type Problem, type Report } from '../../model/problem.ts';
import { readExemptions, readGateSettings } from './gate-messages.ts';
import { readProblem } from './read-problem.ts';
import { readReport } from './read-report.ts';
import type { LoadedFile } from '../collect.ts';
import { isCount, isList, isRecord, isText, isTextOrNull, readAll } from './checked-values.ts';
import { readComparison } from './read-comparison.ts';
import { readPage } from './read-page.ts';
import { withSites } from './read-sites.ts';
import type { RenderedPage, SourcePage } from '../../sites/model/source-page.ts';
import type { Artifact, CompileInput, CompileLimits, Published, Representation } from '../compile.ts';
import type {
  Detected,
  Settings,
  SettingsDefaults,
  SettingsResource,
  VersionFile,
  VersionSource,
} from '../repository-reader.ts';
import type { Rendered } from '../renderer.ts';

/** Messages from the parent to the sandbox. */
export type ParentMessage =
  | { type: 'compile'; input: CompileInput; files: LoadedFile[] }
  | { type: 'detect'; files: { path: string; bytes: Uint8Array }[]; limits: CompileLimits }
  | { type: 'ignored'; patterns: readonly string[]; paths: readonly string[] }
  | { type: 'settings'; file: { path: string; bytes: Uint8Array }; limits: CompileLimits }
  | { type: 'version'; file: VersionFile; limits: CompileLimits }
  | { type: 'outline'; document: Published; limits: CompileLimits }
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
  | { type: 'ignored'; by: number[]; rss: number }
  | { type: 'settings'; settings: Settings | null; report: Report; rss: number }
  | { type: 'version'; version: string; rss: number }
  | { type: 'version'; problem: Problem; rss: number }
  | { type: 'outlined'; outline: Outline | null; rss: number }
  | { type: 'rendered'; rendered: Rendered | null; rss: number }
  | { type: 'paged'; pages: RenderedPage[]; rss: number }
  | { type: 'compared'; comparison: Comparison; rss: number };

const codings: readonly Coding[] = ['identity', 'gzip', 'br', 'zstd'];
const longestPage = 64_000_000;

/**
 * Validates a message from a sandbox member by member, so that a compromised sandbox can send
 * nothing else. Returns null for any other message.
 */
export function readChildMessage(value: unknown): ChildMessage | null {
  if (!isRecord(value)) return null;
  if (value['type'] === 'ready') return { type: 'ready' };
  if (value['type'] === 'load')
    return isList(value['paths'], isText) ? { type: 'load', paths: [...value['paths']] } : null;
  const { rss } = value;
  if (!isCount(rss)) return null;
  if (value['type'] === 'detected') {
    const detected = readAll(value['detected'], readDetected);
    return detected && { type: 'detected', detected, rss };
  }
  if (value['type'] === 'ignored') {
    const { by } = value;
    return isList(by, (index): index is number => index === -1 || isCount(index))
      ? { type: 'ignored', by: [...by], rss }
      : null;
  }
  if (value['type'] === 'version') {
    if (isText(value['version'])) return { type: 'version', version: value['version'], rss };
    const problem = readProblem(value['problem']);
    return problem && { type: 'version', problem, rss };
  }
  if (value['type'] === 'outlined') {
    const outline = value['outline'] === null ? null : readOutline(value['outline']);
    return { type: 'outlined', outline, rss };
  }
  if (value['type'] === 'rendered') {
    const rendered = value['rendered'] === null ? null : readRendered(value['rendered']);
    return { type: 'rendered', rendered, rss };
  }
  if (value['type'] === 'paged') {
    const pages = readAll(value['pages'], readPage);
    return pages && { type: 'paged', pages, rss };
  }
  if (value['type'] === 'compared') {
    const comparison = readComparison(value['comparison']);
    return comparison && { type: 'compared', comparison, rss };
  }
  const report = readReport(value['report']);
  if (value['type'] === 'settings') {
    const settings = value['settings'] === null ? null : withSites(readSettings(value['settings']), value['settings']);
    if (report === null || (settings === null) !== isBlocking(report)) return null;
    return { type: 'settings', settings, report, rss };
  }
  if (value['type'] === 'checked') return report && { type: 'checked', report, rss };
  if (value['type'] !== 'compiled') return null;
  const artifact = value['artifact'] === null ? null : readArtifact(value['artifact']);
  if (report === null || (artifact === null) !== isBlocking(report)) return null;
  return { type: 'compiled', artifact, report, rss };
}

function readArtifact(value: unknown): Artifact | null {
  if (!isRecord(value)) return null;
  const { specification, title, description, summary, version } = value;
  const type = resourceTypes.find((known) => known === value['type']);
  const kind = isKind(value['kind']) ? value['kind'] : undefined;
  if (type === undefined || kind === undefined) return null;
  if (!isText(specification) || !isText(title) || !isText(description) || !isText(summary)) return null;
  if (!(version === null || isText(version))) return null;
  const representations = readAll(value['representations'], readRepresentation);
  const names = new Set(representations?.map(({ format, coding }) => `${format} ${coding}`));
  if (representations?.length !== 8 || names.size !== 8) return null;
  return { type, kind, specification, title, description, summary, version, representations };
}

function readRepresentation(value: unknown): Representation | null {
  if (!isRecord(value)) return null;
  const { format, bytes } = value;
  const coding = codings.find((known) => known === value['coding']);
  if ((format !== 'json' && format !== 'yaml') || coding === undefined || !(bytes instanceof Uint8Array)) return null;
  return { format, coding, bytes };
}

function readDetected(value: unknown): Detected | null {
  if (!isRecord(value)) return null;
  const { path, title } = value;
  const type = resourceTypes.find((known) => known === value['type']);
  const kind = isKind(value['kind']) ? value['kind'] : undefined;
  const { version, paths, shape, isTemplate } = value;
  if (!isText(path) || type === undefined || kind === undefined || !isTextOrNull(title)) return null;
  if (!isTextOrNull(version) || !isTextOrNull(shape) || !isList(paths, isText)) return null;
  if (typeof isTemplate !== 'boolean') return null;
  return { path, type, kind, title, version, paths: [...paths], shape, isTemplate };
}

function readSettings(value: unknown): Settings | null {
  if (!isRecord(value) || !isRecord(value['defaults'])) return null;
  const { discover, ignore } = value;
  const at = readPlace(value['defaults']['at']);
  const resources = readAll(value['resources'], readSettingsResource);
  if (resources === null || at === null || typeof discover !== 'boolean' || !isList(ignore, isText)) return null;
  return { resources, defaults: { ...readSettingsDefaults(value['defaults']), at }, discover, ignore: [...ignore] };
}

function readSettingsResource(value: unknown): SettingsResource | null {
  if (!isRecord(value)) return null;
  const { path, slug, name, description } = value;
  const at = readPlace(value['at']);
  if (!isText(path) || at === null) return null;
  const type = resourceTypes.find((known) => known === value['type']);
  return {
    path,
    at,
    ...(type && { type }),
    ...(isText(slug) && { slug }),
    ...(isText(name) && { name }),
    ...(isText(description) && { description }),
    ...readExemptions(value['exemptions']),
    ...readSettingsDefaults(value),
  };
}

function readPlace(value: unknown): SettingsResource['at'] | null {
  if (!isRecord(value)) return null;
  const { pointer, line, column } = value;
  return isText(pointer) && isCount(line) && isCount(column) ? { pointer, line, column } : null;
}

function readSettingsDefaults(value: Record<string, unknown>): SettingsDefaults {
  const { ruleset, tags, owner, topics } = value;
  const visibility = (['private', 'public'] as const).find((known) => known === value['visibility']);
  const validation = (['strict', 'lenient'] as const).find((known) => known === value['validation']);
  const onConflict = (['revise', 'reject'] as const).find((known) => known === value['onConflict']);
  const version = readVersionSource(value['version']);
  return {
    ...(visibility && { visibility }),
    ...(isText(owner) && { owner }),
    ...(isList(topics, isText) && { topics: [...topics] }),
    ...(isText(ruleset) && { ruleset }),
    ...(validation && { validation }),
    ...(onConflict && { onConflict }),
    ...readGateSettings(value),
    ...(isText(tags) && { tags }),
    ...(version && { version }),
  };
}

function readVersionSource(value: unknown): VersionSource | null {
  if (!isRecord(value)) return null;
  const { from, path, pointer } = value;
  if (from === 'document' || from === 'next') return { from };
  if (from !== 'file' || !isText(path) || !(pointer === null || isText(pointer))) return null;
  return { from, path, pointer };
}

function readOutline(value: unknown): Outline | null {
  if (!isRecord(value)) return null;
  const { title, description, servers, truncated } = value;
  const operations = readAll(value['operations'], readOperation);
  const schemas = readAll(value['schemas'], readSchema);
  const rules = readAll(value['rules'], readRule);
  const tags = readAll(value['tags'], readTag);
  if (operations === null || schemas === null || rules === null || tags === null) return null;
  if (!isText(title) || !isText(description) || !isList(servers, isText) || typeof truncated !== 'boolean') return null;
  return { title, description, operations, schemas, tags, rules, servers: [...servers], truncated };
}

function readOperation(value: unknown): OutlineOperation | null {
  if (!isRecord(value)) return null;
  const { method, path, id, summary, tags, parameters, deprecated, digest } = value;
  if (!isText(method) || !isText(path) || !(id === null || isText(id)) || !isText(summary)) return null;
  if (!isList(tags, isText) || !isList(parameters, isText) || typeof deprecated !== 'boolean') return null;
  if (!isText(digest) || !isDigest(digest)) return null;
  return { method, path, id, summary, tags: [...tags], parameters: [...parameters], deprecated, digest };
}

function readSchema(value: unknown): OutlineSchema | null {
  if (!isRecord(value)) return null;
  const { name, properties, digest } = value;
  if (!isText(name) || !isList(properties, isText) || !isText(digest) || !isDigest(digest)) return null;
  return { name, properties: [...properties], digest };
}

function readRule(value: unknown): OutlineRule | null {
  if (!isRecord(value)) return null;
  const { name, severity, description, digest } = value;
  if (!isText(name) || !isText(severity) || !isText(description) || !isText(digest) || !isDigest(digest)) return null;
  return { name, severity, description, digest };
}

function readTag(value: unknown): Outline['tags'][number] | null {
  if (!isRecord(value) || !isText(value['name']) || !isText(value['description'])) return null;
  return { name: value['name'], description: value['description'] };
}

function readRendered(value: unknown): Rendered | null {
  if (!isRecord(value)) return null;
  const { html, navigation, markdown, truncated } = value;
  if (!isLongText(html) || !isLongText(navigation) || !isLongText(markdown) || typeof truncated !== 'boolean')
    return null;
  const pages = value['pages'] === null ? null : readPages(value['pages'], html.length);
  return pages === undefined ? null : { html, navigation, markdown, truncated, pages };
}

function readPages(value: unknown, length: number): Pages | undefined {
  if (!isRecord(value) || !isLongText(value['overview'])) return undefined;
  const parts = readAll(value['parts'], readPagePart);
  const isSound = parts?.every(({ from, to }) => from <= to && to <= length);
  const isNamed = new Set(parts?.map(({ name }) => name)).size === parts?.length;
  return parts !== null && isSound && isNamed ? { overview: value['overview'], parts } : undefined;
}

function readPagePart(value: unknown): PagePart | null {
  if (!isRecord(value)) return null;
  const { name, title, from, to, anchors } = value;
  if (!isText(name) || !isSlug(name) || !isText(title) || !isCount(from) || !isCount(to)) return null;
  return isList(anchors, isText) ? { name, title, from, to, anchors: [...anchors] } : null;
}

/** A whole page. The renderer limits its length too. */
function isLongText(value: unknown): value is string {
  return typeof value === 'string' && value.length <= longestPage;
}
