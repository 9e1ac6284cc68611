import { posix } from 'node:path';
import type { Settings, SettingsDefaults, SettingsResource, VersionSource } from '../compile/compile.ts';
import { formatCoordinate, type Coordinate } from '../model/address.ts';
import type { Repository } from '../model/connection.ts';
import { fillTemplate } from '../model/path-glob.ts';
import type { Resource } from '../model/resource.ts';
import type { Found } from './detect-documents.ts';
import type { Planned } from './planned.ts';
import type { Listed } from './list-documents.ts';
import type { SettingsFile } from './settings-of.ts';

/** What `stele.yaml` says of one document: its entry, and the defaults where that is silent. */
type Given = SettingsDefaults & Pick<SettingsResource, 'name' | 'description'>;

/**
 * A document with all that is said about it. `stele.yaml` comes first; what it does not list goes on as it is connected.
 */
export function applySettings(
  repository: Repository,
  { path, title }: Found,
  coordinate: Coordinate,
  listed: Listed | null,
  { path: file, settings }: SettingsFile,
  resource: Resource | null,
): Planned {
  const given = givenFor(coordinate, listed, settings);
  const connection = listed === null ? (resource?.connection ?? null) : null;
  const tags = given.tags === undefined ? null : fillTags(given.tags, listed?.taken ?? [], coordinate);
  return {
    path,
    coordinate,
    name: given.name ?? (title?.trim().slice(0, 200) || coordinate.slug),
    description: given.description ?? '',
    visibility: given.visibility ?? repository.visibility,
    ruleset: given.ruleset ?? null,
    validation: given.validation ?? repository.validation,
    onConflict: given.onConflict ?? connection?.onConflict ?? 'revise',
    tags: tags ?? (given.version === undefined ? (connection?.tags ?? null) : null),
    version: versionOf(given.version, listed?.taken ?? [], posix.dirname(file)),
    isFound: true,
    listedAt: listed === null ? null : `${file}:${listed.entry.at.line}:${listed.entry.at.column}`,
  };
}

/**
 * What the registry keeps though `stele.yaml` says otherwise: whoever may push to a repository may not thereby open, rename or ungate what exists. One
 * sentence; null where nothing differs.
 */
export function keptByRegistry(
  coordinate: Coordinate,
  listed: Listed | null,
  { settings }: SettingsFile,
  resource: Resource | null,
): string | null {
  if (resource === null) return null;
  const given = givenFor(coordinate, listed, settings);
  const kept = (['visibility', 'ruleset', 'validation', 'name', 'description'] as const).flatMap((key) =>
    given[key] === undefined || given[key] === resource[key] ? [] : [key],
  );
  if (kept.length === 0) return null;
  const path = `${coordinate.type}/${coordinate.slug}`;
  return `${formatCoordinate(coordinate)} keeps the ${kept.join(', ')} that the registry has; PATCH /v1/${path} changes that.`;
}

function givenFor({ type }: Coordinate, listed: Listed | null, settings: Settings | null): Given {
  const { ruleset, tags, version, ...common }: SettingsDefaults = settings?.defaults ?? {};
  const entry: Given = listed?.entry ?? {};
  const isVersioned = entry.tags !== undefined || entry.version !== undefined;
  return {
    ...common,
    // As an organization's default ruleset, it is for APIs: a ruleset that had to pass itself could never be published.
    ...(type === 'apis' && ruleset !== undefined && { ruleset }),
    ...(!isVersioned && { ...(tags !== undefined && { tags }), ...(version !== undefined && { version }) }),
    ...entry,
    ...(entry.name !== undefined && { name: fillTemplate(entry.name, listed?.taken ?? []).slice(0, 200) }),
  };
}

function fillTags(template: string, taken: readonly string[], { slug }: Coordinate): string {
  return fillTemplate(template, taken).replaceAll('{slug}', () => slug);
}

function versionOf(source: VersionSource | undefined, taken: readonly string[], folder: string): VersionSource {
  if (source?.from !== 'file') return source ?? { from: 'document' };
  return { ...source, path: posix.join(folder, fillTemplate(source.path, taken)) };
}
