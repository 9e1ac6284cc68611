import type { Principal } from '../../model/access.ts';
import { type Coordinate, isUrlPath } from '../../model/address.ts';
import { addProblems, type Exemption, type Report, problemAtFile, type Problem } from '../../model/problem.ts';
import { selectVersion, type Resource, type Version } from '../../model/resource.ts';
import type { CompileGate, Compiled, GivenRuleset, CollectedFile, Load, Turn } from '../../compile/compile.ts';
import { type View, sourceLayers, storedEntry } from '../../model/artifact.ts';
import { missing } from '../../source/lookup.ts';
import type { Snapshot } from '../../source/snapshot.ts';
import { codeFor, withExtendsChecked } from './ruleset-gate.ts';
import type { Policy } from './policy.ts';
import { withoutSources } from '../store-artifact.ts';
import type { Registry } from '../registry.ts';
import { openReferences } from '../graph/references.ts';
import { posix } from 'node:path';
import { digestOf, hexOf } from '../../model/digest.ts';
import { isRegistryError } from '../../model/errors.ts';
import type { Dependency } from '../../model/dependency.ts';
import { lockName, parseLock, type LockedContract } from '../../model/lock.ts';
import { readConfigOf, readManifestOf, readObject, readReportOf } from '../stored.ts';

/** A document to compile for a resource. */
export interface CompileRequest extends Partial<Pick<Turn, 'isAwaited'>> {
  coordinate: Coordinate;
  snapshot: Snapshot;
  /** Path of the document in the snapshot. */
  entry: string;
  /** What is published of it. Absent: all. */
  view?: View;
  /** Findings that the repository accepts. */
  exemptions?: Exemption[];
  /** With whose rights its references by URL are read. Default: those of the organization. */
  reader?: Principal;
  signal?: AbortSignal;
}

/** How urgent the work for a request is. */
export function turnOf({ isAwaited = false, signal }: CompileRequest): Turn {
  return { isAwaited, signal };
}

/** Compiles a document, and checks it against a ruleset. */
export async function compileDocument(
  registry: Registry,
  request: CompileRequest,
  resource: Resource,
  policy: Policy,
  ruleset: GivenRuleset | null,
  ratchet: Pick<CompileGate, 'known' | 'ratchet'> = { known: null },
): Promise<Compiled> {
  const { blockOn, validation } = policy;
  const today = registry.now().toISOString().slice(0, 10);
  const references = openReferences(registry, resource, (paths) => request.snapshot.read(paths), request.reader);
  const { entry, view } = request;
  const compiled = await registry.compiler.compile(
    {
      type: request.coordinate.type,
      ...(view && { view }),
      entry,
      validation,
      ruleset,
      ...(ruleset !== null && { gate: { blockOn, exemptions: request.exemptions ?? [], today, ...ratchet } }),
      limits: registry.config.limits,
      ...codeFor(registry, request.coordinate, ruleset, request.snapshot.committedAt ?? today),
    },
    references.load,
    { org: resource.org, ...turnOf(request) },
  );
  const dependencies = references.dependencies();
  const withUrls = {
    ...(view === undefined ? compiled : withoutSources(compiled, entry)),
    ...(dependencies.length > 0 && { dependencies }),
  };
  return withExtendsChecked(registry, request, await withLockDependencies(request.snapshot, withUrls));
}

/** Compiles a document. With a ratchet, findings of the ruleset that the latest version has too do not block. */
export async function compileGated(
  registry: Registry,
  request: CompileRequest,
  resource: Resource,
  policy: Policy,
  ruleset: GivenRuleset | null,
): Promise<Compiled> {
  const compiled = await compileDocument(registry, request, resource, policy, ruleset);
  const latest = selectVersion(resource, { kind: 'latest' })?.version;
  const isBlocked = compiled.artifact === null && compiled.report.gate !== undefined;
  if (!isBlocked || ruleset === null || latest === undefined || !policy.ratchet) return compiled;
  const accepted = await knownFindings(registry, resource, latest, ruleset, turnOf(request));
  return compileDocument(registry, request, resource, policy, ruleset, { known: accepted, ratchet: latest.manifest });
}

/**
 * Notes which of a commit's files that a document refers to are contracts of a `contracts.lock`: as
 * dependencies, with the lock as one more file of the version. A file that differs from its lock is
 * no dependency and causes a warning.
 */
export async function withLockDependencies(snapshot: Snapshot, compiled: Compiled): Promise<Compiled> {
  const [entry, ...others] = compiled.files;
  const present = others.filter(({ bytes, path }) => bytes !== null && !isUrlPath(path));
  if (snapshot.origin.commit === null || present.length === 0) return compiled;
  const locks = [...new Set(present.flatMap(({ path }) => locksAbove(path)))].sort();
  const dependencies = new Map<string, Dependency>();
  const problems: Problem[] = [];
  const named: CollectedFile[] = [];
  for (const lock of await snapshot.read(locks)) {
    if (!lock.found) continue;
    const folder = lock.path.slice(0, -lockName.length);
    const below = new Map(present.flatMap((file) => (file.path.startsWith(folder) ? [[file.path, file]] : [])));
    const { contracts, problem } = readLock(lock.path, lock.bytes);
    if (problem !== null) problems.push(problem);
    const met = contracts.flatMap((contract) => {
      const file = below.get(folder + contract.path);
      return file === undefined ? [] : [{ contract, file }];
    });
    for (const { contract, file } of met) {
      const { contract: coordinate, range, version, digest } = contract;
      const isLocked = hexOf(digestOf(file.bytes!)) === contract.sha256;
      if (isLocked)
        dependencies.set(`${coordinate} ${range} ${digest}`, { coordinate, range, version, digest, how: 'lock' });
      else problems.push(problemAtFile('lock-edited', file.path, editedText(contract, lock.path), 'warning'));
    }
    if (met.length > 0) named.push(lock);
  }
  if (named.length === 0 && problems.length === 0) return compiled;
  const files = [...others, ...named].sort((a, b) => (a.path < b.path ? -1 : 1));
  const all = [...(compiled.dependencies ?? []), ...dependencies.values()];
  return {
    ...compiled,
    files: [entry!, ...files],
    report: addProblems(compiled.report, problems),
    ...(all.length > 0 && { dependencies: all }),
  };
}

function locksAbove(path: string): string[] {
  const names = path.split('/');
  return names.map((_, count) => posix.join(...names.slice(0, count), lockName));
}

function readLock(path: string, bytes: Uint8Array): { contracts: LockedContract[]; problem: Problem | null } {
  try {
    return { contracts: parseLock(Buffer.from(bytes).toString(), path), problem: null };
  } catch (error) {
    if (!isRegistryError(error, 'malformed')) throw error;
    return { contracts: [], problem: problemAtFile('lock-invalid', path, error.message, 'warning') };
  }
}

function editedText({ contract, version, path }: LockedContract, lock: string): string {
  return `This file is not ${contract}@${version}, as ${lock} says: it was edited by hand. Delete it and run stele install, or run stele remove ${path} --keep.`;
}

/** Checks a published version again, from the files that are stored with it, against a ruleset. Writes nothing. */
export async function relint(
  registry: Registry,
  { org, type }: Pick<Resource, 'org' | 'type'>,
  { manifest: digest }: Pick<Version, 'manifest'>,
  ruleset: GivenRuleset,
  gate: CompileGate,
  turn: Turn = {},
): Promise<Report> {
  const config = await readConfigOf(registry, { manifest: digest });
  const { validation } = config;
  const sources = sourceLayers(await readManifestOf(registry, { manifest: digest }));
  const load: Load = (paths) =>
    Promise.all(
      paths.map(async (path) => {
        const layer = sources.get(path);
        if (layer === undefined) return missing(path, null);
        return { path, found: true, bytes: await readObject(registry, layer.digest, digest), blob: null } as const;
      }),
    );
  const { limits } = registry.config;
  // Of the commit nothing is known but its files: the day of the gate counts.
  const code = codeFor(registry, { org, type }, ruleset, null);
  const input = { type, entry: storedEntry(config), validation, ruleset, gate, limits, reportOnly: true, ...code };
  return (await registry.compiler.compile(input, load, { org, ...turn })).report;
}

/**
 * Keys of the findings that a ruleset has for a published version: those that a ratchet lets pass.
 * Exempted findings are not among them: they count again when the exemption ends.
 */
export async function knownFindings(
  registry: Registry,
  resource: Pick<Resource, 'org' | 'type'>,
  version: Pick<Version, 'manifest'>,
  ruleset: GivenRuleset,
  turn: Turn = {},
): Promise<string[]> {
  const exemptions = await exemptionsOf(registry, version);
  const gate: CompileGate = { blockOn: 'none', exemptions, today: '', known: null, listsKnown: true };
  const { known = [] } = await relint(registry, resource, version, ruleset, gate, turn);
  return known;
}

/** The exemptions that a version was published with. */
export async function exemptionsOf(registry: Registry, version: Pick<Version, 'manifest'>): Promise<Exemption[]> {
  return exemptionsIn(await readReportOf(registry, version));
}

export function exemptionsIn({ gate }: Pick<Report, 'gate'>): Exemption[] {
  return gate?.exemptions ?? [];
}
