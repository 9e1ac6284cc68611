import { posix } from 'node:path';
import type { Settings, SettingsDefaults, SettingsResource, VersionSource } from '../compile/sandboxes.ts';
import { formatCoordinate, type Coordinate } from '../model/address.ts';
import type { Connection, Repository } from '../model/connection.ts';
import { gateKeys, gateSettingsOf } from '../model/gate.ts';
import { fillTemplate } from '../model/glob.ts';
import { ownershipOf } from '../model/ownership.ts';
import type { Resource } from '../model/resource.ts';
import type { DetectedDocument, Listed } from './find-documents.ts';
import { isGenericTitle } from './find-twins.ts';
import type { Planned } from './planned.ts';
import type { SettingsFile } from './settings-of.ts';

/** The settings of one document: its entry in `stele.yaml`, completed by the defaults. */
type DocumentSettings = SettingsDefaults & Pick<SettingsResource, 'name' | 'description' | 'exemptions'>;

/**
 * Plans one document. `stele.yaml` wins; a document that it does not list keeps the settings of its
 * connection. `release`: pattern of the tags to publish instead of the branch, where nothing else
 * says what to publish. `codeOwner`: whom CODEOWNERS names, where nobody else is named.
 */
export function applySettings(
  repository: Repository,
  { path, title }: DetectedDocument,
  coordinate: Coordinate,
  listed: Listed | null,
  { path: file, settings }: SettingsFile,
  resource: Resource | null,
  release: string | null = null,
  codeOwner: string | null = null,
): Planned {
  const given = givenFor(coordinate, listed, settings);
  const connection = listed === null ? (resource?.connection ?? null) : null;
  const captures = listed?.captures ?? [];
  const tags = given.tags && fillTemplate(given.tags, captures).replaceAll('{slug}', () => coordinate.slug);
  const view = listed === null ? {} : viewOf(listed, posix.dirname(file));
  return {
    path,
    coordinate,
    // The title of the file may say more than that of a view.
    name: given.name ?? (view.view === undefined ? (nameFrom(title) ?? coordinate.slug) : ''),
    description: given.description ?? '',
    visibility: given.visibility ?? repository.visibility,
    ruleset: given.ruleset ?? null,
    validation: given.validation ?? repository.validation,
    ...gateSettingsOf(given),
    ...ownershipOf({ ...given, owner: given.owner ?? (isSetByHand(resource) ? null : codeOwner) }),
    ...view,
    ...(given.exemptions && { exemptions: given.exemptions }),
    onConflict: given.onConflict ?? connection?.onConflict ?? 'revise',
    tags: tags ?? (given.version === undefined ? tagsOf(resource, connection, release) : null),
    version: versionOf(given.version, captures, posix.dirname(file)),
    isFound: true,
    listedAt: listed === null ? null : `${file}:${listed.entry.at.line}:${listed.entry.at.column}`,
  };
}

/** Whether somebody named the owner. What CODEOWNERS named follows it: `@acme/pay`. */
function isSetByHand(resource: Resource | null): boolean {
  return Boolean(resource?.owner) && !resource!.owner!.startsWith('@');
}

function viewOf({ file, entry: { overlays, audience } }: Listed, folder: string): Pick<Planned, 'view'> {
  if ((overlays ?? audience) === undefined) return {};
  const paths = (overlays ?? []).map((each) => posix.join(folder, each));
  return { view: { file, overlays: paths, audience: audience ?? null } };
}

/** The tags that a connection publishes. Those that a sync chose, and that published nothing, are chosen again. */
function tagsOf(resource: Resource | null, connection: Connection | null, release: string | null): string | null {
  const isBarren = connection?.found === true && resource?.versions.length === 0;
  return isBarren ? (release ?? connection.tags) : (connection?.tags ?? release);
}

/**
 * Says which settings in `stele.yaml` differ from the registry's and are ignored: permission to
 * push must not be enough to publish, rename or ungate an existing resource. One sentence, or null
 * when nothing differs.
 */
export function keptByRegistry(
  coordinate: Coordinate,
  listed: Listed | null,
  { settings }: SettingsFile,
  resource: Resource | null,
): string | null {
  if (resource === null) return null;
  const given = givenFor(coordinate, listed, settings);
  const ignored = keptKeys.flatMap((key) =>
    given[key] === undefined || given[key] === (resource[key] ?? null) ? [] : [key],
  );
  if (ignored.length === 0) return null;
  const path = `${coordinate.type}/${coordinate.slug}`;
  return `stele.yaml cannot change the ${ignored.join(', ')} of ${formatCoordinate(coordinate)} because it already exists. Use PATCH /v1/${path}.`;
}

const keptKeys = ['visibility', 'ruleset', 'validation', ...gateKeys, 'name', 'description'] as const;

function givenFor({ type }: Coordinate, listed: Listed | null, settings: Settings | null): DocumentSettings {
  const { ruleset, tags, version, ...common }: SettingsDefaults = settings?.defaults ?? {};
  const entry: DocumentSettings = listed?.entry ?? {};
  const isVersioned = entry.tags !== undefined || entry.version !== undefined;
  return {
    ...common,
    // The default ruleset is for APIs only. A ruleset that had to pass itself could never be
    // published.
    ...(type === 'apis' && ruleset !== undefined && { ruleset }),
    ...(!isVersioned && { ...(tags !== undefined && { tags }), ...(version !== undefined && { version }) }),
    ...entry,
    ...(entry.name !== undefined && { name: fillTemplate(entry.name, listed?.captures ?? []).slice(0, 200) }),
  };
}

/** The name for people, unless the title names nothing. */
function nameFrom(title: string | null): string | null {
  return title === null || isGenericTitle(title) ? null : title.trim().slice(0, 200);
}

function versionOf(source: VersionSource | undefined, captures: readonly string[], folder: string): VersionSource {
  if (source?.from !== 'file') return source ?? { from: 'document' };
  return { ...source, path: posix.join(folder, fillTemplate(source.path, captures)) };
}
