import type { Principal } from '../../model/access.ts';
import type { Coordinate } from '../../model/address.ts';
import type { Exemption, Report } from '../../model/problem.ts';
import { releaseBefore } from '../../model/compared-with.ts';
import { selectVersion, type Resource, type Version } from '../../model/resource.ts';
import type { CompileGate, Compiled, GivenRuleset } from '../../compile/compile.ts';
import type { View } from '../../model/artifact.ts';
import type { Snapshot } from '../../source/snapshot.ts';
import { checkCompatibility } from './compatibility.ts';
import { replacedLatest } from './latest-gate.ts';
import { codeFor } from './ruleset-code.ts';
import { withLockDependencies } from './lock-dependencies.ts';
import type { Policy } from './policy.ts';
import { withoutSources } from '../store-artifact.ts';
import { withExtendsChecked } from './ruleset-gate.ts';
import type { Registry } from '../registry.ts';
import { openReferences } from '../graph/references.ts';
import { knownFindings } from './relint.ts';

/** A document to compile for a resource. */
export interface CompileRequest {
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
  /** Whether somebody waits for the result: see `Turn`. */
  isAwaited?: boolean;
  signal?: AbortSignal;
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
    { org: resource.org, isAwaited: request.isAwaited ?? false, signal: request.signal },
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
  const turn = { isAwaited: request.isAwaited ?? false, signal: request.signal };
  const accepted = await knownFindings(registry, resource, latest, ruleset, turn);
  return compileDocument(registry, request, resource, policy, ruleset, { known: accepted, ratchet: latest.manifest });
}

/** The report of a document that would be published as this version, after its changes are judged. */
export async function checkNext(
  registry: Registry,
  request: CompileRequest,
  existing: Resource | null,
  { compatibility }: Policy,
  { resource, version }: { resource: Resource; version: Version },
  compiled: Compiled,
): Promise<Report> {
  if (existing === null) return compiled.report;
  const { entry, exemptions = [], snapshot } = request;
  const { label } = version;
  const replaced = replacedLatest(existing, { resource, version }, releaseBefore(existing, { label }));
  const next = { label, entry, compiled, exemptions, committedAt: snapshot.committedAt, replaced };
  const turn = { isAwaited: request.isAwaited ?? false, signal: request.signal };
  return checkCompatibility(registry, existing, compatibility, next, turn);
}
