import { isDeepStrictEqual } from 'node:util';
import { isUrlPath, formatCoordinate } from '../model/address.ts';
import {
  documentAt,
  isUnpublished,
  type Connection,
  type DocumentState,
  type RunDocument,
} from '../model/connection.ts';
import { hasDied } from '../compile/compile.ts';
import { pick } from '../model/json.ts';
import { ownershipOf } from '../model/ownership.ts';
import { resourceRef, type Resource } from '../model/resource.ts';
import { withBranchAt, effectOnLatest } from '../model/latest.ts';
import { approvalText } from '../model/approval.ts';
import type { Snapshot } from '../source/snapshot.ts';
import type { Moves } from '../plan/plan.ts';
import type { Planned } from '../plan/planned.ts';
import { assertConnectable, changeResource, type ResourceChange, newResource } from '../registry/change-resource.ts';
import { endHeld } from '../registry/approval/hold.ts';
import { meaningOf } from '../registry/graph/references.ts';
import { assertNoWayPast, connectionFor, endOf, publishDocument, refusable, refusalOf } from './publish-document.ts';
import type { Registry } from '../registry/registry.ts';
import { findResource } from '../registry/lives.ts';
import { holdIn, type Report } from '../model/problem.ts';
import { gateNow, rulesetDigest, rulesetNameFor, readInputs, referencesOf, type Inputs } from './inputs.ts';
import { noteOnRelease } from './sync-tags.ts';
import type { Syncing } from './runs.ts';

/** The result of a sync for one document. */
export interface SyncedDocument {
  path: string;
  state: DocumentState;
  /** Null when nothing changed. */
  result: RunDocument | null;
}

/**
 * Publishes one document of a commit, unless every file that it was made from is unchanged.
 * Problems of the document are its outcome. Rejects only for errors that concern the whole
 * registry: the store, the repository, or a bug.
 */
export async function syncDocument(
  syncing: Syncing,
  snapshot: Snapshot,
  document: Planned,
  blobs: ReadonlyMap<string, string>,
): Promise<SyncedDocument> {
  const { registry, repository, run } = syncing;
  const { path, coordinate } = document;
  const name = formatCoordinate(coordinate);
  await describeResource(syncing, document);
  const recorded = documentAt(repository, path, name);
  if (recorded !== null && recorded.resource === name && (await isUnchanged(registry, recorded, document, blobs))) {
    return { path, state: recorded, result: null };
  }
  const started = registry.monotonic();
  const before = await findResource(registry, coordinate);
  const result = await refusable(async () =>
    document.tags === null ? publishDocument(syncing, snapshot, document) : connectTagged(syncing, snapshot, document),
  );
  if (result === 'connected') return { path, state: await unpublished(registry, document, 'unchanged'), result: null };
  if ('refusal' in result) {
    const refused = { resource: name, outcome: 'conflict', label: null, report: null } as const;
    const detail = refusalOf(document, result.refusal);
    registry.log('warn', 'document', { run: run.id, path, ...refused, detail });
    const state = { ...(await unpublished(registry, document, 'conflict')), detail };
    // The branch has something else now than what it held.
    const { url, branch } = repository;
    if (document.tags === null && before?.connection?.repository === url && before.connection.branch === branch)
      await endHeld(registry, coordinate, ({ source }) => source === 'branch');
    return { path, state, result: { path, ...refused, detail } };
  }
  const inputs: Inputs = Object.fromEntries([
    ...result.compiled.files.map((file) => [file.path, file.blob] as const),
    ...versionFile(document).map((file) => [file, blobs.get(file) ?? null] as const),
  ]);
  const end = await endOf(registry, result);
  const state: DocumentState = {
    resource: name,
    ...end,
    // The sandbox may have died because of the machine, users change too, and what is held expires, so the document is
    // read again with the next commit, or when somebody asks.
    inputs: isPassing(result.report) ? null : await registry.objects.put(JSON.stringify(inputs)),
    rulesetName: await rulesetNameFor(registry, document),
    ruleset: result.ruleset,
    compiler: registry.compiler.id,
    ...(document.view && { view: document.view }),
    ...(result.outcome === 'rejected' && { ...(await gateNow(registry, document)), ...referencesOf(document, inputs) }),
  };
  const isFirst = result.outcome === 'published' && (before === null || before.versions.length === 0);
  const release = isFirst ? await noteOnRelease(syncing, snapshot, document, result.version.label) : null;
  if (release !== null) registry.log('warn', 'release tag', { run: run.id, resource: name, detail: release });
  const effect = 'version' in result ? effectOnLatest(result.resource, result.version, before?.latest ?? null) : null;
  const note = [end.detail ?? release ?? effect, approvalText(result.approvals)].filter(Boolean).join(' ') || null;
  const isExpected = result.outcome === 'published' || (result.outcome === 'unchanged' && effect === null);
  registry.log(isExpected ? 'info' : 'warn', 'document', {
    run: run.id,
    path,
    resource: name,
    outcome: end.outcome,
    label: end.label,
    detail: note,
    milliseconds: Math.round(registry.monotonic() - started),
  });
  const read: RunDocument = { path, resource: name, ...end, detail: note };
  return { path, state, result: read };
}

/** Gives an existing resource of this repository the ownership that `stele.yaml` states. */
async function describeResource({ registry, repository, run }: Syncing, planned: Planned) {
  const { coordinate } = planned;
  const change = ownershipOf(planned);
  if (Object.keys(change).length === 0) return;
  const resource = await findResource(registry, coordinate);
  if (resource?.connection?.repository !== repository.url) return;
  if (isDeepStrictEqual(change, pick(resource, ...(Object.keys(change) as (keyof ResourceChange)[])))) return;
  await changeResource(registry, coordinate, change, { actor: `sync:${repository.org}`, origin: `run:${run.id}` });
}

/** For a document that is published by tag: creates and connects its resource, without the branch's content. */
async function connectTagged(syncing: Syncing, snapshot: Snapshot, document: Planned): Promise<'connected'> {
  const { registry, repository, run } = syncing;
  const { coordinate } = document;
  const { org } = repository;
  const connection = connectionFor(repository, document);
  await assertNoWayPast(syncing, snapshot, document);
  await registry.refs.update<Resource>(resourceRef(coordinate), (current) => {
    if (current?.value.deletedAt) return null;
    if (current) assertConnectable(current.value, connection);
    const resource =
      current?.value ?? newResource(registry, coordinate, { ...document, name: document.name || coordinate.slug });
    if (JSON.stringify(resource.connection) === JSON.stringify(connection)) return null;
    const change = { actor: `sync:${org}`, origin: `run:${run.id}`, action: 'connect' };
    return { value: { ...resource, connection }, change };
  });
  return 'connected';
}

/** Lets connections follow documents that moved. A publish did so before; one that was refused did not. */
export async function moveConnections(
  { registry, repository: { org, url, branch }, run }: Syncing,
  moves: Moves,
  planned: readonly Planned[],
): Promise<void> {
  for (const [from, to] of moves) {
    const document = planned.find(({ path }) => path === to);
    if (document === undefined) continue;
    await registry.refs.update<Resource>(resourceRef(document.coordinate), (current) => {
      const connection = current?.value.connection;
      if (!current || !connection || current.value.deletedAt || connection.path !== from) return null;
      if (connection.repository !== url || connection.branch !== branch) return null;
      const change = { actor: `sync:${org}`, origin: `run:${run.id}`, action: 'connect' };
      return { value: { ...current.value, connection: { ...connection, path: to } }, change };
    });
  }
}

/** The state of a document that was neither read nor published. */
async function unpublished(
  registry: Registry,
  document: Planned,
  outcome: 'unchanged' | 'conflict',
): Promise<DocumentState> {
  const gate = await rulesetNameFor(registry, document);
  return {
    resource: formatCoordinate(document.coordinate),
    outcome,
    label: null,
    report: null,
    inputs: null,
    rulesetName: gate,
    ruleset: await rulesetDigest(registry, document.coordinate.org, gate),
    compiler: registry.compiler.id,
    ...(document.view && { view: document.view }),
  };
}

/** Whether the ruleset, every file that the last sync read, and what its references by URL mean are unchanged. */
async function isUnchanged(
  registry: Registry,
  state: DocumentState,
  document: Planned,
  blobs: ReadonlyMap<string, string>,
): Promise<boolean> {
  if (state.inputs === null || state.outcome === 'detached') return false;
  if (!isDeepStrictEqual(state.view, document.view)) return false;
  if (isUnpublished(state)) {
    if (state.compiler !== registry.compiler.id) return false;
    const { gate, exemptions } = await gateNow(registry, document);
    if (state.gate !== undefined && (state.gate !== gate || state.exemptions !== exemptions)) return false;
  }
  const resource = await findResource(registry, document.coordinate);
  if (resource === null && state.label !== null) return false;
  const connection = resource?.connection ?? null;
  if (connection !== null && !isConnectedAs(connection, document)) return false;
  // Older programs did not record what the branch has.
  const isOld = resource !== null && resource.onBranch === undefined && document.tags === null && state.label !== null;
  if (isOld && withBranchAt(resource, state.label!) !== resource) return false;
  const name = await rulesetNameFor(registry, document);
  if (name !== state.rulesetName || (await rulesetDigest(registry, document.coordinate.org, name)) !== state.ruleset)
    return false;
  const inputs = await readInputs(registry, state.inputs);
  if (inputs === null) return false;
  if (!versionFile(document).every((path) => Object.hasOwn(inputs, path))) return false;
  for (const [path, blob] of Object.entries(inputs)) {
    const referrer = resource ?? { ...document.coordinate, visibility: document.visibility };
    const now = isUrlPath(path) ? await meaningOf(registry, referrer, path) : (blobs.get(path) ?? null);
    if (now !== blob) return false;
  }
  return true;
}

/** Whether the same document may pass later. */
function isPassing(report: Report): boolean {
  return hasDied(report) || holdIn(report) !== null || report.problems.some(({ rule }) => rule === 'user-broken');
}

function versionFile({ version }: Planned): string[] {
  return version.from === 'file' ? [version.path] : [];
}

function isConnectedAs({ tags, onConflict, view }: Connection, document: Planned): boolean {
  return tags === document.tags && onConflict === document.onConflict && isDeepStrictEqual(view, document.view);
}
