import { inTurns } from '../scheduling/turns.ts';
import { coordinateOf, nameOf, type Resource, type Version } from '../model/resource.ts';

/** A published version. */
export interface Publication {
  resource: Resource;
  version: Version;
}

/** The newest published versions of these resources, newest first, without withdrawn ones. */
export function newestPublications(resources: readonly Resource[], max: number): Publication[] {
  const newest: Publication[] = [];
  for (const resource of resources) {
    for (const version of resource.versions.toReversed()) {
      if (version.status.state === 'withdrawn') continue;
      const publication = { resource, version };
      if (newest.length === max && inOrder(publication, newest.at(-1)!) >= 0) continue;
      // Of versions published at the same time, the later one stays first.
      const at = newest.findLastIndex((other) => inOrder(other, publication) <= 0) + 1;
      newest.splice(at, 0, publication);
      newest.length = Math.min(newest.length, max);
    }
  }
  return newest;
}

/** As `newestPublications`, of resources that may be many: others have their turn meanwhile. */
export async function newestInTurns(resources: readonly Resource[], max: number): Promise<Publication[]> {
  const found = new Set<Resource>();
  for await (const some of inTurns(resources, 500))
    for (const { resource } of newestPublications(some, max)) found.add(resource);
  return newestPublications([...found], max);
}

/** Newest first, then by name. */
function inOrder(a: Publication, b: Publication): number {
  return (
    compareTexts(b.version.publishedAt, a.version.publishedAt) || compareTexts(nameOf(a.resource), nameOf(b.resource))
  );
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
