import { withoutRegistry } from '../compile/reference.ts';
import { isUtf8 } from 'node:buffer';
import { setTimeout as delay } from 'node:timers/promises';
import type { Command } from 'commander';
import type { CollectedFile, Compiler } from '../compile/compile.ts';
import type { Config } from '../config.ts';
import { formatCoordinate, type Coordinate } from '../model/address.ts';
import type { Run } from '../model/connection.ts';
import { types } from '../model/kinds.ts';
import type { Visibility } from '../model/access.ts';
import { createReport, outcomeIn, type Report, adviceIn } from '../model/problem.ts';
import type { View } from '../model/artifact.ts';
import { openDocument } from './check/fetch-document.ts';
import type { components } from '../server/v1/management.d.ts';
import { isRegistryError, onRefusal } from '../model/errors.ts';
import { openRegistryAt, type Client } from './registry-client.ts';
import { requireDate, withCompiler, type CommonOptions } from './command-context.ts';
import { withProgress, adviseRepository, complain, formatReport, print, printJson, seenFromHere } from './output.ts';
import { type ToolFormat, findingsInReport, formatFindings } from './check/finding-formats.ts';
import { shownState, type Outcome } from '../model/states.ts';

/** Options of `stele publish`. */
export interface PublishOptions extends CommonOptions {
  version?: string;
  createdAt?: string;
  dryRun?: boolean;
  latest: boolean;
  public?: boolean;
  registry?: string;
  format: 'lines' | ToolFormat;
}

/**
 * Publishes to a running registry and prints what the local command prints. Returns the exit code.
 */
export async function publishRemotely(
  registry: string,
  file: string,
  coordinate: Coordinate,
  command: Command,
): Promise<number> {
  const options = command.optsWithGlobals<PublishOptions>();
  const client = await openRegistryAt(registry, coordinate.org);
  const upload = await withCompiler(command, (compiler, config) => readDocument(compiler, config, file, coordinate));
  const published = await send(client, coordinate, upload, options);
  return printPublished(file, coordinate, published, { ...options, root: upload.root });
}

/**
 * Sends a document and creates its resource if needed. Throws the registry's own error unless it is
 * about the document.
 */
async function send(
  registry: Client,
  coordinate: Coordinate,
  { body: upload, report }: Upload,
  { latest, version, createdAt, dryRun = false, public: isPublic }: PublishOptions,
): Promise<Published> {
  const none = { version: null, digest: null, url: null, created: false, visibility: null, dryRun, detail: null };
  if (upload === null) return { outcome: 'rejected', ...none, report };
  const { type, slug } = coordinate;
  const path = `/v1/${type}/${slug}/${types[type].upload}`;
  const dated = createdAt !== undefined && { createdAt: requireDate(createdAt) };
  const body = { ...upload, latest, dryRun, ...(version !== undefined && { version }), ...dated };
  const create = isPublic ? { visibility: 'public' } : {};
  let created = false;
  try {
    const said = (await registry.demand('POST', path, body).catch(
      onRefusal('not_found', () => {
        created = true;
        // Resource and version come into being together, so that a rejected document leaves nothing behind.
        return registry.demand('POST', path, { ...body, create });
      }),
    )) as components['schemas']['Published'];
    const { outcome, coordinate: named, digest, url } = said;
    const resource = created && !dryRun ? await registry.demand('GET', `/v1/${type}/${slug}`) : null;
    const visibility = resource && (resource['visibility'] as Visibility);
    return { outcome, version: named, digest, url, created, visibility, dryRun, detail: null, report: reportIn(said) };
  } catch (error) {
    if (!isRegistryError(error)) throw error;
    const checked = reportIn(error.extra);
    if (error.code === 'conflict' && error.extra['version'] !== undefined)
      return { outcome: 'conflict', ...none, detail: error.message, report: checked };
    if (error.code !== 'refused' || error.extra['problems'] === undefined) throw error;
    return { outcome: outcomeIn(checked), ...none, report: checked };
  }
}

type DescribedRun = Omit<Run, 'url' | 'documents'> & Pick<components['schemas']['Run'], 'documents'>;

/** Starts a sync on a running registry and waits for it. */
export async function syncRemotely(registry: string, coordinate: Coordinate): Promise<Run> {
  const { demand } = await openRegistryAt(registry, coordinate.org);
  const path = `/v1/${coordinate.type}/${coordinate.slug}`;
  const run = await withProgress('Syncing', async () => {
    let started = (await demand('POST', `${path}/sync?wait=30`, {})) as unknown as DescribedRun;
    while (started.finishedAt === null) {
      await delay(250);
      started = (await demand('GET', `${path}/syncs/${started.id}`)) as unknown as DescribedRun;
    }
    return started;
  });
  const resource = formatCoordinate(coordinate);
  const documents = run.documents.map(({ path: file, outcome, version, detail }) => {
    return { path: file, resource, outcome, label: version, report: null, detail };
  });
  return { ...run, url: run.repository, documents };
}

/** A document to send: what `/v1` takes, and the files for people. */
export interface Upload {
  /** Null: the file is not text, as the report says. */
  body: { document: string; path: string; files?: Record<string, string> } | null;
  files: readonly CollectedFile[];
  report: Report;
  /** The folder that paths begin at. */
  root: string;
}

/** Reads a file and the files that it refers to, under their paths in the repository. `view`: with its overlays. */
export async function readDocument(
  compiler: Compiler,
  { limits }: Config,
  file: string,
  { type }: Pick<Coordinate, 'type'>,
  view?: View,
): Promise<Upload> {
  const { snapshot, entry, root, isRepository } = await openDocument(file, limits);
  const input = { type, entry, ...(view && { view }), validation: 'lenient', ruleset: null, limits } as const;
  const { files, report } = await withProgress(`Reading ${entry}`, () =>
    compiler.compile(input, withoutRegistry(snapshot)),
  );
  adviseRepository(file, report, isRepository);
  const texts = files.flatMap(({ path, bytes }) =>
    bytes !== null && isUtf8(bytes)
      ? [[path, new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)] as const]
      : [],
  );
  const { [entry]: document, ...others } = Object.fromEntries(texts);
  const isAlone = Object.keys(others).length === 0;
  const body = document ? { document, path: entry, ...(!isAlone && { files: others }) } : null;
  return { body, files, report, root };
}

function reportIn(body: { report?: unknown }): Report {
  const given = (body.report ?? body) as Partial<Report>;
  return { ...createReport(given.problems ?? []), ...given };
}

/** The result of `stele publish`, local or over HTTP, as `--json` prints it. */
export interface Published {
  outcome: Exclude<Outcome, 'detached'>;
  /** `@org/type/slug@label`; null if nothing was published. */
  version: string | null;
  digest: string | null;
  /** Null if the configuration has no `url`. */
  url: string | null;
  /** Whether this created the resource, or would have in a dry run. */
  created: boolean;
  /** Who can read the new resource. Null if this created none. */
  visibility: Visibility | null;
  dryRun: boolean;
  /** Why it was not published; null if the report says so. */
  detail: string | null;
  report: Report;
}

interface Shown {
  json?: boolean | undefined;
  format?: 'lines' | ToolFormat;
  /** The folder that paths of findings begin at. */
  root: string;
}

/**
 * Prints the version's coordinate on stdout and the rest on stderr, or the findings for a tool on stdout and the
 * rest on stderr. Returns the exit code.
 */
export function printPublished(
  file: string,
  coordinate: Coordinate,
  published: Published,
  { json = false, format = 'lines', root }: Shown,
): number {
  const { outcome, version, url, visibility, dryRun, detail, report } = published;
  const code = version === null ? 1 : 0;
  if (json) {
    printJson(published);
    return code;
  }
  // The report repeats it after the changes.
  if (outcome === 'rejected') sayUnlessEmpty(adviceIn(report) ?? '', complain);
  if (format === 'lines') sayUnlessEmpty(formatReport(seenFromHere(root, report).report), complain);
  else sayUnlessEmpty(formatFindings(format, findingsInReport(report), file), print);
  if (detail !== null) complain(detail);
  if (outcome === 'rejected') complain(`${file} was not published.`);
  if (outcome === 'waiting') complain(`${file} ${shownState(outcome).text}.`);
  if (version === null) return code;
  if (format === 'lines') print(version);
  else complain(version);
  if (outcome === 'unchanged') complain('Already published; nothing changed.');
  if (!dryRun)
    complain(url ?? `stele serve returns it at /${version}. Set url in the configuration to see the full URL.`);
  if (visibility === 'private') complain(explainPrivate(coordinate, dryRun));
  return code;
}

function sayUnlessEmpty(text: string, say: (text: string) => void): void {
  if (text !== '') say(text);
}

function explainPrivate({ org, type, slug }: Coordinate, dryRun: boolean): string {
  const name = formatCoordinate({ org, type, slug });
  if (dryRun) return `${name} would be new and private. Use --public to make it public.`;
  const change = `PATCH /v1/${type}/${slug} with {"visibility": "public"} and a key with the scope admin`;
  return `${name} is new and private: only keys and members of ${org} can read it. To make it public: ${change}.`;
}
