import type { Connection, Repository } from '../model/connection.ts';
import { isRegistryError, type ErrorCode } from '../model/errors.ts';
import { fileOf } from '../model/artifact.ts';
import { gateSettingsOf } from '../model/gate.ts';
import { ownershipOf } from '../model/ownership.ts';
import type { Snapshot } from '../source/snapshot.ts';
import type { Planned } from '../plan/planned.ts';
import type { PublishRequest } from '../registry/append-version.ts';
import { publish, type PublishResult } from '../registry/publish.ts';
import { statedVersion } from '../plan/release-tags.ts';
import type { Syncing } from './runs.ts';

/** Errors that concern one document, rather than the store, the repository or the program. */
const ownRefusals: readonly ErrorCode[] = [
  'conflict',
  'refused',
  'malformed',
  'not_found',
  'too_large',
  'quota_exceeded',
];

/**
 * Runs the work and returns its result, or the message of an error that concerns only this
 * document. Other errors are thrown.
 */
export async function refusable<T>(work: () => Promise<T>): Promise<T | { refusal: string }> {
  try {
    return await work();
  } catch (error) {
    const isOwn = isRegistryError(error) && ownRefusals.includes(error.code);
    if (!isOwn) throw error;
    return { refusal: error.message };
  }
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
export interface HowToPublish {
  version?: string | null;
  isPast?: boolean;
  /** As in `PublishRequest`. */
  floor?: string | null;
  latest?: PublishRequest['latest'];
  dryRun?: boolean;
  /** As in `PublishRequest`. */
  isView?: boolean;
}

/** The connection of a planned document. */
export function connectionFor(
  { url, branch, credential }: Repository,
  { path, view, tags, onConflict, isFound }: Planned,
): Connection {
  const settings = { repository: url, branch, path, ...(view && { view }), tags, onConflict, credential };
  return { ...settings, ...(isFound && { found: true as const }) };
}

/**
 * Publishes a document from a commit. A publish from the branch also connects the resource, in the
 * same step.
 */
export async function publishDocument(
  { registry, repository, run, signal }: Syncing,
  snapshot: Snapshot,
  planned: Planned,
  {
    version = null,
    isPast = false,
    floor = null,
    latest = version === null || 'newer',
    dryRun = false,
    isView = false,
  }: HowToPublish = {},
): Promise<PublishResult> {
  const { view, coordinate, onConflict, exemptions } = planned;
  const stated = version === null ? await statedVersion(registry, snapshot, planned, signal) : undefined;
  return publish(registry, {
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
    ...(version === null && !isPast && { connection: connectionFor(repository, planned) }),
    author: { actor: `sync:${repository.org}`, origin: `run:${run.id}` },
    signal,
  });
}

/** The settings of the resource that a planned document creates. */
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
