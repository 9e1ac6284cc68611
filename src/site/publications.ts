import { coordinateOf, nameOf, type Resource, type Version } from '../model/resource.ts';

/** A version that came out. */
export interface Publication {
  resource: Resource;
  version: Version;
}

/** The newest publications of these resources, the newest first. What was withdrawn is none. */
export function newestPublications(resources: readonly Resource[], most: number): Publication[] {
  const all = resources.flatMap((resource) =>
    resource.versions
      .toReversed()
      .flatMap((version) => (version.status.state === 'withdrawn' ? [] : [{ resource, version }])),
  );
  // Stable: of what came out at once, the later of a resource stays first.
  return all
    .sort(
      (a, b) =>
        compareTexts(b.version.publishedAt, a.version.publishedAt) ||
        compareTexts(nameOf(a.resource), nameOf(b.resource)),
    )
    .slice(0, most);
}

/** When anything of a resource last came out, or something was said about a version; null where nothing has. */
export function lastChange({ versions }: Pick<Resource, 'versions'>): string | null {
  const times = versions.flatMap(({ publishedAt, status }) =>
    'since' in status ? [publishedAt, status.since] : [publishedAt],
  );
  return times.reduce<string | null>((latest, time) => (latest === null || time > latest ? time : latest), null);
}

function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** `@acme/apis/payments@1.4.0` */
export function publicationName({ resource, version }: Publication): string {
  return `${nameOf(coordinateOf(resource))}@${version.label}`;
}
