import { anonymous } from '../model/access.ts';
import type { Connection, Repository, RunDocument } from '../model/connection.ts';
import { adviceIn, describeBlocking, firstBlocker, holdIn, outcomeIn } from '../model/problem.ts';
import { formatCoordinate } from '../model/address.ts';
import { isRegistryError, type ErrorCode, conflict } from '../model/errors.ts';
import { fileOf, viewInWords } from '../model/artifact.ts';
import { decodeJson } from '../model/json.ts';
import { coordinateOf, nameOf, newestVersions, type Resource } from '../model/resource.ts';
import { bytesIn, type Compiled } from '../compile/compile.ts';
import { documentOf, readObject } from '../registry/stored.ts';
import { shareOf } from '../plan/find-twins.ts';
import { gateSettingsOf } from '../model/gate.ts';
import { ownershipOf } from '../model/ownership.ts';
import type { Snapshot } from '../source/snapshot.ts';
import type { Planned } from '../plan/planned.ts';
import { settingsPath } from '../plan/settings-of.ts';
import type { PublishRequest } from '../registry/append-version.ts';
import { publish, type PublishResult } from '../registry/publish.ts';
import { policyOf } from '../registry/gate/policy.ts';
import { mayReadFindings } from '../registry/gate/show-report.ts';
import { findResource } from '../registry/lives.ts';
import type { Registry } from '../registry/registry.ts';
import { statedVersion } from '../plan/release-tags.ts';
import type { Publishing } from './runs.ts';

/** Errors that concern one document, rather than the store, the repository or the program. */
const ownRefusals: readonly ErrorCode[] = [
  'conflict',
  'refused',
  'malformed',
  'not_found',
  'too_large',
  'quota_exceeded',
];

/** The result of the work, or the message of an error that concerns only this document. Other errors are thrown. */
export async function refusable<T>(work: () => Promise<T>): Promise<T | { refusal: string }> {
  try {
    return await work();
  } catch (error) {
    const isOwn = isRegistryError(error) && ownRefusals.includes(error.code);
    if (!isOwn) throw error;
    return { refusal: error.message };
  }
}

/** What became of a document, as a run tells it. */
export type End = Pick<RunDocument, 'outcome' | 'label' | 'report' | 'detail'>;

/** The end of a publish. `detail`: why nothing was published, in words that every reader of the resource may see. */
export async function endOf(registry: Registry, result: PublishResult): Promise<End> {
  const detail = await detailOf(registry, result);
  return result.outcome === 'rejected'
    ? { outcome: outcomeIn(result.report), label: null, report: result.reportDigest, detail }
    : { outcome: result.outcome, label: 'version' in result ? result.version.label : null, report: null, detail };
}

/** Why a document was not published. Readers of the resource see it, so it contains only what they may read. */
async function detailOf(registry: Registry, result: PublishResult): Promise<string | null> {
  if (result.outcome === 'conflict') return result.detail;
  if (result.outcome !== 'rejected') return null;
  const held = holdIn(result.report);
  if (held !== null) return held.message;
  const first = firstBlocker(result.report);
  if (!(await mayReadFindings(registry, anonymous, result.report)) && first?.ofRuleset)
    return describeBlocking(result.report);
  if (!first) return null;
  const advice = adviceIn(result.report);
  return `${advice === null ? '' : `${advice} `}${first.file}:${first.line}:${first.column} ${first.message}`;
}

/** The message with the place in `stele.yaml` that lists the document. */
export function refusalOf({ listedAt }: Planned, refusal: string): string {
  return listedAt === null ? refusal : `${listedAt} ${refusal}`;
}

/**
 * `version`: the label that a tag gives; null: the document's own. `isPast`: an import of history.
 * `latest`: as in `PublishRequest`; by default a tag that is older than the latest version does not
 * become latest. `dryRun`: decide, but write nothing.
 */
export type HowToPublish = Partial<
  Pick<PublishRequest, 'version' | 'isPast' | 'floor' | 'latest' | 'dryRun' | 'isView'>
>;

/** The connection of a planned document. */
export function connectionFor(
  { url, branch, credential }: Repository,
  { path, view, tags, onConflict, isFound }: Planned,
): Connection {
  const settings = { repository: url, branch, path, ...(view && { view }), tags, onConflict, credential };
  return { ...settings, ...(isFound && { found: true as const }) };
}

/** Publishes a document from a commit. A publish from the branch also connects the resource, in the same step. */
export async function publishDocument(
  syncing: Publishing,
  snapshot: Snapshot,
  planned: Planned,
  how: HowToPublish = {},
): Promise<PublishResult> {
  const { registry, repository, run, signal } = syncing;
  const { version = null, isPast = false, floor = null, dryRun = false, isView = false } = how;
  const { latest = version === null || 'newer' } = how;
  const { view, coordinate, onConflict, exemptions } = planned;
  const stated = version === null ? await statedVersion(registry, snapshot, planned, signal) : undefined;
  const request: PublishRequest = {
    coordinate,
    snapshot,
    entry: fileOf(planned),
    ...(view && { view: { overlays: view.overlays, audience: view.audience } }),
    version,
    isTag: version !== null,
    ...(stated !== undefined && { stated }),
    onConflict,
    latest,
    dryRun,
    isView,
    isPast,
    floor,
    create: newFrom(planned),
    ...(exemptions && { exemptions }),
    settings: settingsPath(repository),
    ...(version === null && !isPast && { connection: connectionFor(repository, planned) }),
    author: { actor: `sync:${repository.org}`, origin: `run:${run.id}` },
    signal,
  };
  if (!isPast) await assertNoWayPast(syncing, snapshot, planned, how);
  return publish(registry, request);
}

/**
 * Another name is no way past approval: throws `conflict` for a document that would be published as another resource than its
 * file was, which wants approval, or than what became half of it was, unless the other one wants it, too, and the file would be
 * published as the next version of the former one. An administrator may create and connect the resource. What is published by
 * tags is not known before. Nor does discovery publish whole what `stele.yaml` published as a view.
 */
export async function assertNoWayPast(
  syncing: Publishing,
  snapshot: Snapshot,
  planned: Planned,
  how: HowToPublish = {},
): Promise<void> {
  const { registry } = syncing;
  const { coordinate, path, ended = [] } = planned;
  const name = formatCoordinate(coordinate);
  const existing = await findResource(registry, coordinate);
  const shown = existing?.connection?.view;
  if (shown && planned.view === undefined && planned.isFound && planned.listedAt === null) {
    const what = `${path} is published as ${name} ${viewInWords(shown)} only, and nothing in stele.yaml says so any more.`;
    throw conflict(`${what} List it there, or delete the resource.`);
  }
  for (const { file, resource: former } of ended) {
    if (nameOf(former) === name) continue;
    const isOfFile = file === fileOf(planned);
    const asNext = { ...planned, coordinate: coordinateOf(former), ended: [] };
    const result = await publishDocument(syncing, snapshot, asNext, { ...how, dryRun: true });
    if (!isOfFile && !(await isAlike(registry, former, result.compiled))) continue;
    const refuse = (why: string) => {
      const was = `${path} is ${isOfFile ? '' : 'what was '}published as ${nameOf(former)}, which requires approval`;
      const advice = `Keep the slug until it is approved, or have an administrator create and connect ${name}.`;
      return conflict(`${was}, and ${why}. ${advice}`);
    };
    const fresh = { ...coordinate, ruleset: planned.ruleset, ...gateSettingsOf(planned) };
    const own = await policyOf(registry, existing ?? fresh);
    if (own.approval !== 'required') throw refuse(`${name} would not`);
    if (planned.tags !== null && !how.version) throw refuse('its next tag cannot be judged before');
    if (result.outcome !== 'published' && result.outcome !== 'unchanged') throw refuse('would not be published there');
  }
}

/** Whether a document has half of what one of a resource's newest versions has. */
async function isAlike(registry: Registry, resource: Resource, { artifact }: Compiled): Promise<boolean> {
  if (artifact === null) return false;
  const now = linesOf(bytesIn(artifact, 'json'));
  for (const version of newestVersions(resource)) {
    const { digest } = await documentOf(registry, version);
    if (shareOf(linesOf(await readObject(registry, digest, version.manifest)), now) >= 0.5) return true;
  }
  return false;
}

function linesOf(json: Uint8Array): string {
  return JSON.stringify(decodeJson(json), null, 1);
}

function newFrom(planned: Planned): NonNullable<PublishRequest['create']> {
  const { name, description, visibility, ruleset, validation } = planned;
  return {
    ...(name !== '' && { name }),
    description,
    visibility,
    ruleset,
    validation,
    ...gateSettingsOf(planned),
    ...ownershipOf(planned),
  };
}

/**
 * What a person should know about the version of a tag: that its label was taken, or that it did
 * not become latest. Null: nothing.
 */
export function noteOnTag(
  name: string,
  asked: string,
  { outcome, resource, version }: Extract<PublishResult, { outcome: 'published' | 'unchanged' }>,
): string | null {
  const { label, neverLatest } = version;
  const notes: string[] = [];
  if (label.toLowerCase() !== asked.toLowerCase())
    notes.push(`Version ${asked} was published first, with other content, so tag ${name} became ${label}.`);
  if (outcome === 'published' && neverLatest)
    notes.push(`Latest stays ${resource.latest}, because the commit of tag ${name} is older.`);
  return notes.length === 0 ? null : notes.join(' ');
}
