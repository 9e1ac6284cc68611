import { coordinateOf, nameOf, type Resource, type Version } from '../model/resource.ts';

/** A published version. */
export interface Publication {
  resource: Resource;
  version: Version;
}

/** The newest published versions of these resources, newest first, without withdrawn ones. */
export function newestPublications(resources: readonly Resource[], most: number): Publication[] {
  const all = resources.flatMap((resource) =>
    resource.versions
      .toReversed()
      .flatMap((version) => (version.status.state === 'withdrawn' ? [] : [{ resource, version }])),
  );
  // The sort is stable: of versions published at the same time, the later one stays first.
  return all
    .sort(
      (a, b) =>
        compareTexts(b.version.publishedAt, a.version.publishedAt) ||
        compareTexts(nameOf(a.resource), nameOf(b.resource)),
    )
    .slice(0, most);
}

/** The time of the last publication or status change of a resource, or null. */
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
