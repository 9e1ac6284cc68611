import { isUtf8 } from 'node:buffer';
import type { Command } from 'commander';
import type { Compiled, Compiler } from '../compile/compile.ts';
import type { Config } from '../config.ts';
import { formatCoordinate, type Coordinate } from '../model/address.ts';
import type { Run } from '../model/connection.ts';
import { types } from '../model/kinds.ts';
import { createReport, isBlocking, type Problem } from '../model/problem.ts';
import { openFolder } from '../source/folder.ts';
import { askRegistry, readTarget, type Answer } from './registry-client.ts';
import { withCompiler, type CommonOptions } from './command-context.ts';
import { complain, formatReport, print, withProgress } from './output.ts';
import { printRun } from './print-run.ts';

/** The options of `stele publish`. */
export interface PublishOptions extends CommonOptions {
  version?: string;
  dryRun?: boolean;
  latest: boolean;
  public?: boolean;
  registry?: string;
}

/** Publishes through a running registry, and prints its report as the local command does. Answers the exit code. */
export async function publishRemotely(
  registry: string,
  file: string,
  coordinate: Coordinate,
  command: Command,
): Promise<number> {
  const options = command.optsWithGlobals<PublishOptions>();
  readTarget(registry);
  const read = await withCompiler(command, (compiler, config) => readDocument(compiler, config, file, coordinate));
  if (read === null) return 1;
  const { document, name } = read;
  const collection = `/v1/${coordinate.type}`;
  const path = `${collection}/${coordinate.slug}/${types[coordinate.type].upload}`;
  const body = {
    document,
    latest: options.latest,
    dryRun: options.dryRun ?? false,
    ...(options.version !== undefined && { version: options.version }),
  };
  let answer = await askRegistry(registry, 'POST', path, body);
  if (answer.status === 404 && !options.dryRun) {
    const visibility = options.public ? { visibility: 'public' } : {};
    const created = await askRegistry(registry, 'POST', collection, {
      name: coordinate.slug,
      slug: coordinate.slug,
      ...visibility,
    });
    if (created.status !== 201) return refuse(created, options);
    answer = await askRegistry(registry, 'POST', path, body);
  }
  if (answer.status !== 200 && answer.status !== 201) return refuse(answer, options, name);
  if (options.json) print(JSON.stringify(answer.body));
  else {
    complainReport(answer, name);
    print(formatCoordinate(coordinate, { kind: 'version', version: labelOf(answer) }));
    if (answer.status === 200 && !options.dryRun) complain('It was published before; nothing changed.');
  }
  return 0;
}

/** Asks a running registry for one reconciliation and waits for it. */
export async function syncRemotely(registry: string, coordinate: Coordinate, options: CommonOptions): Promise<number> {
  const path = `/v1/${coordinate.type}/${coordinate.slug}/sync?wait=30`;
  const answer = await withProgress('Syncing', () => askRegistry(registry, 'POST', path, {}));
  if (answer.status !== 200 && answer.status !== 202) return refuse(answer, options);
  const run = answer.body as unknown as Run;
  printRun(run, options.json ?? false);
  return run.state === 'failed' ? 1 : 0;
}

/** What is sent, and what a person calls it. */
interface Upload {
  document: string;
  name: string;
}

/**
 * The text to send: the file as it is, or, where it refers to others, the bundle, since an upload is one document. Null when it does not
 * compile here: the report is printed.
 */
async function readDocument(
  compiler: Compiler,
  { limits }: Config,
  file: string,
  { type }: Coordinate,
): Promise<Upload | null> {
  const { snapshot, entry } = await openFolder(file, limits);
  const input = { type, entry, validation: 'lenient', ruleset: null, limits } as const;
  const compiled = await withProgress(`Bundling ${entry}`, () =>
    compiler.compile(input, (paths) => snapshot.read(paths)),
  );
  const isBundle = compiled.files.length > 1;
  const bytes = isBundle ? bundleOf(compiled) : (compiled.files[0]?.bytes ?? null);
  if (bytes !== null && isUtf8(bytes))
    return { document: new TextDecoder().decode(bytes), name: isBundle ? `${file} (bundled)` : file };
  complain(formatReport(compiled.report));
  return null;
}

function bundleOf({ artifact }: Compiled): Uint8Array | null {
  return (
    artifact?.representations.find(({ format, coding }) => format === 'yaml' && coding === 'identity')?.bytes ?? null
  );
}

/** Prints a problem document (RFC 9457), its report first. */
function refuse(answer: Answer, { json }: CommonOptions, name?: string): number {
  if (json) print(JSON.stringify(answer.body));
  else {
    complainReport(answer, name);
    complain(String(answer.body['detail'] ?? answer.body['title'] ?? `The registry answered ${answer.status}.`));
  }
  return answer.status >= 500 ? 3 : 1;
}

/** The report of an answer. The registry has no file name: the document is called by the name it has here. */
function complainReport({ body }: Answer, name?: string): void {
  const report = body['report'] as { problems?: Problem[] } | undefined;
  const problems = (body['problems'] ?? report?.problems ?? []) as Problem[];
  const told = createReport(problems.map((problem) => (name === undefined ? problem : { ...problem, file: name })));
  if (told.problems.length > 0) complain(formatReport(told));
  if (isBlocking(told)) complain('The document was not published.');
}

function labelOf({ body }: Answer): string {
  const version = (body['version'] ?? body) as { label?: string } | string;
  return typeof version === 'string' ? version : (version.label ?? '');
}
