import type { Principal } from '../../model/access.ts';
import { digestOf } from '../../model/digest.ts';
import { encodeJson, own } from '../../model/json.ts';
import { problemAtFile, type BlockOn, type Problem, type Report } from '../../model/problem.ts';
import type {
  DeployedFile,
  DeployedPage,
  DeploymentContents,
  EmbeddedVersion,
  BundlePlace,
  SiteSettings,
} from '../model/documentation-site.ts';
import { isPagePath } from '../model/page-path.ts';
import type { Registry } from '../../registry/registry.ts';
import { bundlePieces, buildDeployment, type BuiltDeployment } from './bundles.ts';
import { checkSite, reportOf, tooLarge } from './check-site.ts';
import { kindOfFile } from './drafts.ts';
import { createAnchors, type Outline } from '../../model/outline.ts';
import { parseCoordinate } from '../../model/address.ts';
import { outlineOf } from '../../registry/derived.ts';
import { findGranted, type GrantedVersion } from '../../registry/read.ts';

/** A file to publish. */
export interface SiteFile {
  path: string;
  /** Identifies its bytes: a digest, or the id of a blob. */
  source: string;
  /** Where its bytes are stored, if they are. */
  place?: BundlePlace;
}

/** The files of a site as they are published: sent, or in a folder of a commit. */
export interface SiteFiles {
  files: readonly SiteFile[];
  /** Reads these, in order. A problem says why one cannot be read. */
  read(paths: readonly string[]): Promise<(Uint8Array | Problem)[]>;
  /** The time of their commit. Null or absent: they were sent, or it is not known. */
  committedAt?: string | null;
}

/** Everything that a deployment is made from. */
export interface DeploymentInput extends SiteFiles {
  org: string;
  settings: SiteSettings;
  blockOn: BlockOn;
  /** What is published now: pages and files that did not change are taken from it. */
  previous: DeploymentContents | null;
  /** Who publishes: the report tells only of what they may read. */
  reader: Principal;
}

/** A deployment that is not stored yet. */
export interface MadeDeployment {
  contents: DeploymentContents;
  built: BuiltDeployment;
  bundles: Uint8Array[];
  report: Report;
  /** Number of pages that had to be rendered. */
  rendered: number;
}

/** Files that are read at once. */
const batch = 500;

/** Renders what changed, checks everything and makes the bytes. Stores nothing. */
export async function makeDeployment(registry: Registry, input: DeploymentInput): Promise<MadeDeployment> {
  const { compiler, config } = registry;
  const { files, previous, settings } = input;
  const isKnown = previous?.renderer === compiler.renderer;
  const pages: Record<string, DeployedPage> = {};
  const others: Record<string, DeployedFile> = {};
  const problems: Problem[] = [];
  const fresh: SiteFile[] = [];
  for (const file of files) {
    const page = previous && own(previous.pages, file.path);
    const other = previous && own(previous.files, file.path);
    if (isKnown && page?.source === file.source) pages[file.path] = page;
    else if (other?.source === file.source) others[file.path] = other;
    else fresh.push(file);
  }

  const pieces: { bytes: Uint8Array; keep(place: BundlePlace): void }[] = [];
  let rendered = 0;
  for (let start = 0; start < fresh.length; start += batch) {
    const some = fresh.slice(start, start + batch);
    const read = await input.read(some.map(({ path }) => path));
    const sources: { path: string; bytes: Uint8Array; source: string }[] = [];
    for (const [index, { path, source, place }] of some.entries()) {
      const bytes = read[index]!;
      if (!(bytes instanceof Uint8Array)) {
        problems.push({ ...bytes, severity: 'warning' });
        continue;
      }
      const kind = kindOfFile(path, bytes);
      if ('fault' in kind) problems.push(problemAtFile('site-file', path, kind.fault, 'warning'));
      else if (isPagePath(path)) sources.push({ path, bytes, source });
      else {
        const deployed = { source, digest: digestOf(bytes), mediaType: kind.mediaType };
        if (place) others[path] = { ...deployed, ...place };
        else pieces.push({ bytes, keep: (kept) => void (others[path] = { ...deployed, ...kept }) });
      }
    }
    const output = await compiler.renderPages(
      sources.map(({ path, bytes }) => ({ path, bytes })),
      config.limits,
      { org: input.org },
    );
    rendered += output.length;
    for (const [index, { path, page, problems: parts }] of output.entries()) {
      if (page === null) {
        problems.push(...parts);
        continue;
      }
      const { source } = sources[index]!;
      const lastChange = lastChangeOf(input, path, source);
      const entry = {
        source,
        facts: page.facts,
        ...(lastChange && { lastChange }),
        ...(parts.length > 0 && { problems: parts }),
      };
      pieces.push({ bytes: encodeJson(page.content), keep: (place) => void (pages[path] = { ...entry, ...place }) });
    }
  }
  const { places, objects } = bundlePieces(pieces.map(({ bytes }) => bytes));
  for (const [index, { keep }] of pieces.entries()) keep(places[index]!);

  const inOrder = <T>(record: Record<string, T>) =>
    Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));
  const { embeds, absent } = await resolveAll(registry, input.reader, pages);
  const parts = { settings, pages: inOrder(pages), files: inOrder(others), embeds };
  const large = tooLarge(pages);
  if (large === null)
    problems.push(...Object.values(pages).flatMap((page) => page.problems ?? []), ...checkSite({ ...parts, absent }));
  else problems.push(large);
  if (Object.keys(pages).length === 0)
    problems.push(problemAtFile('site-empty', 'index.md', 'The site has no pages. Add at least index.md.'));
  const report = reportOf(problems, large === null ? input.blockOn : 'error');
  const reportBytes = encodeJson(report);
  const contents: DeploymentContents = {
    format: 1,
    renderer: compiler.renderer,
    ...parts,
    report: digestOf(reportBytes),
  };
  return { contents, built: buildDeployment(contents, reportBytes), bundles: objects, report, rendered };
}

/** When a page that is rendered anew was changed last, as far as the commits of deployments tell. */
function lastChangeOf(
  { previous, committedAt = null }: DeploymentInput,
  path: string,
  source: string,
): DeployedPage['lastChange'] {
  const before = previous && own(previous.pages, path);
  if (before?.source === source) return before.lastChange;
  if (committedAt === null) return undefined;
  const wasFollowed = Object.values(previous?.pages ?? {}).some(({ lastChange }) => lastChange !== undefined);
  return wasFollowed ? { at: committedAt } : { at: committedAt, isEarlier: true };
}

/** The versions that embedded references mean now, and the operations that they do not have. */
async function resolveAll(registry: Registry, reader: Principal, pages: DeploymentContents['pages']) {
  const embeds: Record<string, EmbeddedVersion> = {};
  const absent = new Set<string>();
  const wanted = Map.groupBy(
    Object.values(pages).flatMap(({ facts }) => facts.embeds),
    ({ coordinate }) => coordinate,
  );
  for (const coordinate of [...wanted.keys()].sort()) {
    const resolved = await resolveEmbed(registry, reader, coordinate);
    if (resolved === null) continue;
    embeds[coordinate] = resolved.embedded;
    const operations = new Set(wanted.get(coordinate)!.flatMap(({ operation }) => operation ?? []));
    if (operations.size === 0) continue;
    for (const operation of await absentOperations(registry, resolved.granted, operations))
      absent.add(`${coordinate} ${operation}`);
  }
  return { embeds, absent };
}

/** The version that a coordinate means for a reader; null if they cannot read it. */
export async function resolveEmbed(
  registry: Registry,
  reader: Principal,
  text: string,
): Promise<{ granted: GrantedVersion; embedded: EmbeddedVersion } | null> {
  const parsed = parseCoordinate(text);
  if (parsed === null) return null;
  const { coordinate, selector } = parsed;
  const selected = await findGranted(registry, reader, coordinate, selector);
  if (!selected) return null;
  const { manifest, label } = selected.granted.version;
  const follows = selector.kind === 'latest' || !selected.exact;
  return { granted: selected.granted, embedded: { manifest, label, follows } };
}

/** Finds the anchor of an operation on its API's page: `GET /payments/{id}`, or its id. Null: there is none. */
export function createFindAnchor({ operations }: Pick<Outline, 'operations'>): (wanted: string) => string | null {
  const anchors = createAnchors();
  const byId = new Map<string, string>();
  const byName = new Map<string, string>();
  for (const operation of operations) {
    const { id, method, path } = operation;
    const anchor = anchors.operation(operation);
    const name = `${method} ${path}`.toLowerCase();
    if (id !== null && !byId.has(id)) byId.set(id, anchor);
    if (!byName.has(name)) byName.set(name, anchor);
  }
  return (wanted) => byId.get(wanted) ?? byName.get(wanted.replace(/\s+/g, ' ').toLowerCase()) ?? null;
}

/** The operations among these that an API does not have. None if the API cannot be read. */
async function absentOperations(
  registry: Registry,
  granted: GrantedVersion,
  wanted: Iterable<string>,
): Promise<string[]> {
  const outline = await outlineOf(registry, granted);
  if (outline === null || outline.truncated) return [];
  const anchorOf = createFindAnchor(outline);
  return [...wanted].filter((operation) => anchorOf(operation) === null);
}
