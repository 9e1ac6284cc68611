import { isUtf8 } from 'node:buffer';
import type { Command } from 'commander';
import type { Compiled, Compiler } from '../compile/compile.ts';
import type { Config } from '../config.ts';
import type { Coordinate } from '../model/address.ts';
import type { Run } from '../model/connection.ts';
import { types } from '../model/kinds.ts';
import { createReport, type Report } from '../model/problem.ts';
import { openFolder } from '../source/folder.ts';
import { askRegistry, demand, readTarget, refusalOf, type Answer } from './registry-client.ts';
import { withCompiler, type CommonOptions } from './command-context.ts';
import { withProgress } from './output.ts';
import { printPublished, type Published } from './print-publish.ts';

/** The options of `stele publish`. */
export interface PublishOptions extends CommonOptions {
  version?: string;
  dryRun?: boolean;
  latest: boolean;
  public?: boolean;
  registry?: string;
}

/** Publishes through a running registry, and prints what the local command does. Answers the exit code. */
export async function publishRemotely(
  registry: string,
  file: string,
  coordinate: Coordinate,
  command: Command,
): Promise<number> {
  const options = command.optsWithGlobals<PublishOptions>();
  readTarget(registry);
  const upload = await withCompiler(command, (compiler, config) => readDocument(compiler, config, file, coordinate));
  const published = await send(registry, coordinate, upload, options);
  return printPublished(file, coordinate, published, { json: options.json, isPrivate: !options.public });
}

/** Sends a document, and makes its resource where there is none. Refuses in the registry's words unless it is about the document. */
async function send(
  registry: string,
  coordinate: Coordinate,
  { document, name, report }: Upload,
  { latest, version, dryRun = false, public: isPublic }: PublishOptions,
): Promise<Published> {
  const none = { version: null, digest: null, url: null, created: false, dryRun, detail: null };
  if (document === null) return { outcome: 'rejected', ...none, report };
  const { type, slug } = coordinate;
  const path = `/v1/${type}/${slug}/${types[type].upload}`;
  const body = { document, latest, dryRun, ...(version !== undefined && { version }) };
  let answer = await askRegistry(registry, 'POST', path, body);
  const created = answer.status === 404 && !dryRun;
  const unpublished = { ...none, created };
  if (created) {
    const visibility = isPublic ? { visibility: 'public' } : {};
    await demand(registry, 'POST', `/v1/${type}`, { name: slug, slug, ...visibility });
    answer = await askRegistry(registry, 'POST', path, body);
  }
  const told = reportIn(answer, name);
  const { status, body: said } = answer;
  if (status === 200 || status === 201) {
    const { outcome, coordinate: named, digest, url } = said as unknown as Accepted;
    return { outcome, version: named, digest, url, created, dryRun, detail: null, report: told };
  }
  if (status === 409 && said['version'] !== undefined)
    return { outcome: 'conflict', ...unpublished, detail: String(said['detail']), report: told };
  if (status === 422 && said['problems'] !== undefined) return { outcome: 'rejected', ...unpublished, report: told };
  throw refusalOf(answer);
}

/** What the answer to a publish says, as far as it is used here. */
interface Accepted {
  outcome: 'published' | 'unchanged';
  coordinate: string;
  digest: string;
  url: string;
}

/** Asks a running registry for one reconciliation and waits for it. */
export async function syncRemotely(registry: string, coordinate: Coordinate): Promise<Run> {
  const path = `/v1/${coordinate.type}/${coordinate.slug}/sync?wait=30`;
  return (await withProgress('Syncing', () => demand(registry, 'POST', path, {}))) as unknown as Run;
}

/** What is sent, and what a person calls it; null where it does not compile here, as the report says. */
interface Upload {
  document: string | null;
  name: string;
  report: Report;
}

/**
 * The text to send: the file as it is, or, where it refers to others, the bundle, since an upload is one document. Null where it does not
 * compile here.
 */
async function readDocument(
  compiler: Compiler,
  { limits }: Config,
  file: string,
  { type }: Coordinate,
): Promise<Upload> {
  const { snapshot, entry } = await openFolder(file, limits);
  const input = { type, entry, validation: 'lenient', ruleset: null, limits } as const;
  const compiled = await withProgress(`Bundling ${entry}`, () =>
    compiler.compile(input, (paths) => snapshot.read(paths)),
  );
  const isBundle = compiled.files.length > 1;
  const bytes = isBundle ? bundleOf(compiled) : (compiled.files[0]?.bytes ?? null);
  const isText = bytes !== null && isUtf8(bytes);
  return {
    document: isText ? new TextDecoder().decode(bytes) : null,
    name: isText && isBundle ? `${file} (bundled)` : file,
    report: compiled.report,
  };
}

function bundleOf({ artifact }: Compiled): Uint8Array | null {
  return (
    artifact?.representations.find(({ format, coding }) => format === 'yaml' && coding === 'identity')?.bytes ?? null
  );
}

/** The report of an answer. The registry has no file name: the document is called by the name it has here. */
function reportIn({ body }: Answer, name: string): Report {
  const given = (body['report'] ?? body) as Partial<Report>;
  const report = createReport((given.problems ?? []).map((problem) => ({ ...problem, file: name })));
  return { ...report, truncated: given.truncated ?? report.truncated };
}
