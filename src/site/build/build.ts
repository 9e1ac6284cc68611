import { availableParallelism } from 'node:os';
import PQueue from 'p-queue';
import { unavailable } from '../../model/errors.ts';
import { nameOf } from '../../model/resource.ts';
import { takePublicSnapshot, type PublicSnapshot } from '../../registry/public-snapshot.ts';
import type { Registry } from '../../registry/registry.ts';
import { publicLogOf } from '../../registry/transparency/public-log.ts';
import { type Answers, createSite, type Site } from '../site.ts';
import {
  openBuildFolder,
  type Beginnings,
  type BuildFolder,
  manifestName,
  pathsOf,
  type BuildManifest,
  type BuiltUnit,
} from './build-folder.ts';
import { planBuild, movedPaths } from './build-plan.ts';
import { siteAddress } from '../../sites/model/documentation-site.ts';
import { latestBases, precompressed, type Precompressed, type Unit } from './build-items.ts';
import { fieldsOf, keepUnit, makeUnit, type Making } from './build-unit.ts';
import { type EdgeHost, edgeRules } from './rules-edge.ts';
import type { ProblemKind } from '../pages/message-pages.ts';
import { decodeJson } from '../../model/json.ts';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { digestOf, type Digest } from '../../model/digest.ts';
import { httpRules, serverRules } from './rules-nginx.ts';
import { rulesTable, type RuleFile } from './rules-table.ts';

export interface BuildOptions {
  /** The target folder. */
  out: string;
  /** The public URL of the folder, including its path. */
  url: string;
  /** Opens the client for the current state of the registry. Not called if nothing has changed. */
  openAnswers(registry: Registry, site: Site): Answers | Promise<Answers>;
  /** Identifies the program. */
  program: string;
  /** Which codings of each file to write besides the plain file. Default: all. */
  precompressed?: Precompressed;
  /** Adds a function that answers on this host as the registry does. */
  host?: EdgeHost | null;
  /** Builds everything again. */
  isFresh: boolean;
  /** Called with the progress. */
  say(text: string): void;
  signal: AbortSignal;
}

/** The result of a build. */
export interface Built {
  outcome: 'built' | 'unchanged';
  resources: number;
  files: number;
  bytes: number;
  /** Files that were built. The others were kept from the previous build. */
  made: number;
}

/** The most attempts if something is withdrawn or made private, or the folder is replaced, during the build. */
const attempts = 3;

/**
 * Writes everything public as files, each as the server sends it, with rules for web servers. All
 * or nothing: the folder keeps the previous build until the new one is complete. Rejects with
 * `conflict` if the folder contains anything else, and with `unavailable` if it cannot be written
 * or the registry does not respond.
 */
export async function buildSite(registry: Registry, options: BuildOptions): Promise<Built> {
  for (let attempt = 1; attempt <= attempts; attempt++) {
    const folder = await openBuildFolder(options.out);
    // What is public enters the log first, which the build takes along.
    if (registry.config.url === options.url) await (await publicLogOf(registry))?.update();
    const snapshot = await takePublicSnapshot(registry);
    const built = await buildOnce(folder, snapshot, options);
    if (built !== null) return built;
  }
  throw unavailable('During every attempt, versions were withdrawn or made private, or another build replaced the folder. Run the build again.'); // prettier-ignore
}

/** Null if something in it is no longer public, or another build was faster. Then nothing was changed. */
async function buildOnce(folder: BuildFolder, snapshot: PublicSnapshot, options: BuildOptions): Promise<Built | null> {
  // The web server of a build decides which sites may frame its pages.
  const site = createSite(snapshot.registry, options.url, { isStatic: true });
  const basis = basisOf(site, options);
  const old = options.isFresh ? null : folder.old;
  const inputs = await planBuild(site, snapshot, { basis, problems: [] });
  if (old !== null && isSame(old, inputs)) return summarize('unchanged', snapshot, old.units, 0);
  const answers = await options.openAnswers(snapshot.registry, site);
  let beginnings: Beginnings | null = null;
  try {
    const problems = await listProblems(answers);
    const units = await planBuild(site, snapshot, { basis, problems: problems.map(({ code }) => code) });
    beginnings = await folder.begin();
    const { manifest, made } = await write({ site, snapshot, answers, beginnings, old, problems }, units, options);
    const mayBeShown = await snapshot.mayStillBeShown();
    options.signal.throwIfAborted();
    if (mayBeShown && (await beginnings.publish())) return summarize('built', snapshot, manifest.units, made);
    await beginnings.discard();
    return null;
  } catch (error) {
    await beginnings?.discard();
    // Purged bytes are missing before their status says so.
    if (options.signal.aborted) throw error;
    if ((await snapshot.mayStillBeShown()) && !(await folder.isReplaced())) throw error;
    return null;
  } finally {
    await answers.close();
  }
}

function basisOf(
  { registry, url, assets }: Site,
  { program, precompressed: packed = 'all', host = null }: BuildOptions,
): string {
  const { config, compiler } = registry;
  const files = programDigest(config.templates);
  const paths = assets.names().map((name) => assets.path(name));
  return JSON.stringify([program, packed, host, files, paths, compiler.renderer, url, config.cache, config.sites]);
}

async function listProblems(answers: Answers): Promise<ProblemKind[]> {
  const { body } = await answers.ask({ path: '/problems', accept: 'application/json' });
  return decodeJson<{ items: ProblemKind[] }>(body).items;
}

function isSame(old: BuildManifest, units: readonly Unit[]): boolean {
  const names = new Set(['rules', ...units.map(({ name }) => name)]);
  return (
    Object.keys(old.units).length === names.size &&
    units.every(({ name, inputs }) => old.units[name]?.inputs === inputs)
  );
}

interface Work {
  site: Site;
  snapshot: PublicSnapshot;
  answers: Answers;
  beginnings: Beginnings;
  old: BuildManifest | null;
  problems: readonly ProblemKind[];
}

async function write(
  { site, snapshot, answers, beginnings, old, problems }: Work,
  units: readonly Unit[],
  { signal: stop, say, precompressed: packed = 'all', host = null }: BuildOptions,
): Promise<{ manifest: BuildManifest; made: number }> {
  const failed = new AbortController();
  const former = (unit: Unit): BuiltUnit | null => old?.units[unit.name] ?? null;
  const isKept = (unit: Unit) => former(unit)?.inputs === unit.inputs;
  const headers = units.some(isKept) ? { ...old!.headers } : {};
  const codings = precompressed[packed];
  const signal = AbortSignal.any([stop, failed.signal]);
  const making: Making = { codings, answers, beginnings, headers, signal };
  const built: Record<string, BuiltUnit> = {};
  let count = 0;
  let done = 0;
  const queue = new PQueue({ concurrency: Math.min(4, availableParallelism() + 1) });
  const make = async (unit: Unit): Promise<void> => {
    if (isKept(unit)) built[unit.name] = await keepUnit(making, former(unit)!);
    else {
      built[unit.name] = await makeUnit(making, unit, former(unit));
      count += pathsOf(built[unit.name]!).length;
    }
    done += 1;
    say(`Building: ${done} of ${units.length}`);
  };
  for (const unit of units) queue.add(() => make(unit)).catch((error: unknown) => failed.abort(error));
  await queue.onIdle();
  signal.throwIfAborted();
  await askLatest(snapshot, making);
  const sorted = Object.fromEntries(Object.entries(headers).sort(([a], [b]) => (a < b ? -1 : 1)));
  const inOrder = Object.fromEntries(units.map(({ name }) => [name, built[name]!]));
  const moved = await movedPaths(site, snapshot);
  const rules = rulesFor({ site, snapshot, codings, headers: sorted, units: inOrder, problems, moved }, host);
  for (const [path, text] of Object.entries(rules)) beginnings.write(path, text);
  const ruleFiles = Object.entries(rules).map(([path, text]) => ({ path, size: Buffer.byteLength(text) }));
  const { inputs } = units.at(-1)!;
  const manifest: BuildManifest = {
    format: 1,
    units: { ...inOrder, rules: { inputs, files: ruleFiles } },
    headers: sorted,
  };
  beginnings.write(manifestName, JSON.stringify(manifest));
  return { manifest, made: count };
}

/**
 * Collects the header fields for documents at latest, for redirects of ranges and of sites, and for
 * CORS preflights.
 */
async function askLatest({ resources, sites }: PublicSnapshot, { answers, headers }: Making): Promise<void> {
  if (sites[0] !== undefined && !headers['moved']) {
    const {
      'content-type': _,
      location: __,
      ...moved
    } = fieldsOf((await answers.ask({ path: siteAddress(sites[0]), method: 'HEAD' })).headers);
    headers['moved'] = moved;
  }
  const any = resources.find((resource) => latestBases(resource) !== null);
  if (any === undefined || headers['latest']) return;
  const path = `/${nameOf(any)}.json`;
  headers['latest'] = fieldsOf((await answers.ask({ path, method: 'HEAD' })).headers);
  headers['preflight'] = fieldsOf((await answers.ask({ path, method: 'OPTIONS' })).headers);
  const { 'content-type': _, ...redirect } = headers['latest'];
  headers['range'] = redirect;
}

function summarize(
  outcome: Built['outcome'],
  { resources }: PublicSnapshot,
  units: BuildManifest['units'],
  made: number,
): Built {
  const all = Object.values(units);
  const bytes = all.flatMap(({ files }) => files).reduce((sum, { size }) => sum + size, 0);
  return { outcome, resources: resources.length, files: all.flatMap(pathsOf).length, bytes, made };
}

const program = ['../../', '../../../templates/', '../../../content/'].map((path) =>
  fileURLToPath(new URL(path, import.meta.url)),
);

/**
 * Identifies the program and its templates (`own`: the operator's templates, or null). Files from
 * another one are built again. Reads synchronously: nobody else waits, and a thread for each of a
 * thousand small files costs more than reading it.
 */
function programDigest(own: string | null): Digest {
  const digests: Digest[] = [];
  for (const folder of own === null ? program : [...program, own]) {
    const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
    const names = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
    for (const name of names.sort()) digests.push(digestOf(name.slice(folder.length)), digestOf(readFileSync(name)));
  }
  return digestOf(digests.join('\n'));
}

/** The rules for each supported web server, by file. `host`: with an edge function for it. */
function rulesFor(written: RuleFile, host: EdgeHost | null): Record<string, string> {
  const table = rulesTable(written);
  return {
    'rules/nginx-http.conf': httpRules(table),
    'rules/nginx-server.conf': serverRules(table),
    // GitHub Pages would leave out what starts with a dot or an underscore.
    '.nojekyll': '',
    ...(host === null ? {} : edgeRules(table, host)),
  };
}
