import { toldChanges } from '../model/compared-with.ts';
import type { Approvals, Held } from '../model/approval.ts';
import { formatAddress, formatCoordinate, parseCoordinate, type Coordinate } from '../model/address.ts';
import {
  documentOf,
  isInStep,
  isRejected,
  publicDetail,
  repositoryName,
  staysVisible,
  type DocumentState,
  type Repository,
} from '../model/connection.ts';
import { digestOf, hexOf } from '../model/digest.ts';
import { eventIdPrefix, type Event, type EventType } from '../model/event.ts';
import {
  deploymentsOf,
  formatSite,
  siteAddress,
  type DocumentationSite,
  type SiteCoordinate,
} from '../sites/model/documentation-site.ts';
import { countOutcomes, type StateCounts } from '../model/states.ts';
import { coordinateOf, findVersion, nameOf, type Resource, type Version } from '../model/resource.ts';
import type { Generation } from '../store/records.ts';

/** A resource or a documentation site. */
export type Subject = Coordinate | SiteCoordinate;

/** An event and what it is about. Only endpoints that may know one of them receive it. */
export interface Happened {
  event: Event;
  resources: Subject[];
}

/** The content of an event, before its envelope. */
interface Happening {
  type: EventType;
  subject: string;
  /** Distinguishes it from other events of the same type, subject and generation. */
  detail: string;
  data: Record<string, unknown>;
}

/**
 * Two successive generations of a record (`before` null: the first). The same two always give the same events, so it is
 * safe to compute them more than once. `url`: public base URL.
 */
export interface Step<T> {
  url: string;
  before: Generation<T> | null;
  after: Generation<T>;
}

/** The events of a resource. */
export function eventsOfResource({ url, before, after }: Step<Resource>): Happened[] {
  const [old, resource] = [before?.value ?? null, after.value];
  const name = nameOf(resource);
  const happenings: Happening[] = [];
  const add = (type: EventType, subject: string, detail: string, data: object) =>
    void happenings.push({ type, subject, detail, data: { coordinate: name, ...data } });
  // There may be many versions, and all but one are the same objects as before.
  const same = new Set(old?.versions);
  for (const version of resource.versions) {
    if (same.has(version)) continue;
    const earlier = old === null ? null : findVersion(old, version.label);
    const about = versionData(url, resource, version);
    const subject = `${name}@${version.label}`;
    if (earlier === null) {
      const changes = toldChanges(resource, version);
      add('version.published', subject, version.label, {
        ...about,
        publishedAt: version.publishedAt,
        ...(changes && { changes }),
      });
    } else if (JSON.stringify(earlier.status) !== JSON.stringify(version.status)) {
      const { status } = version;
      add('version.status-changed', subject, version.label, { ...about, status, previous: earlier.status });
    }
  }
  const latest = resource.latest === null ? null : findVersion(resource, resource.latest);
  const previous = old?.latest ?? null;
  if (resource.latest !== previous) {
    const about = latest === null ? { version: null } : versionData(url, resource, latest);
    add('latest.moved', name, resource.latest ?? '', { ...about, previous });
  }
  if (old !== null && old.visibility !== resource.visibility) {
    const { visibility } = resource;
    add('visibility.changed', name, visibility, { visibility, previous: old.visibility, url: `${url}/${name}` });
  }
  return happenings.map((happening) => eventOf(url, resource.org, after, happening, [coordinateOf(resource)]));
}

/** The events of a followed repository. */
export function eventsOfRepository({ url, before, after }: Step<Repository>): Happened[] {
  const [old, repository] = [before?.value ?? null, after.value];
  const name = repositoryName(repository.url);
  const all = Object.values(repository.documents).map(({ resource }) => resource);
  // It goes on under another name, and nothing happened to what it publishes.
  if (repository.formerId !== old?.formerId || repository.renamed !== undefined) return [];
  const events: Happened[] = [];
  const add = (type: EventType, subject: string, about: readonly string[], data: Record<string, unknown>) => {
    const source = { repository: name, branch: repository.branch, commit: repository.commit };
    const happening = { type, subject, detail: `${data['path']} ${data['state']}`, data: { ...source, ...data } };
    events.push(eventOf(url, repository.org, after, happening, about.flatMap(readCoordinate)));
  };
  const detail = publicDetail(repository.url, repository.detail);
  if (repository.commit !== null && repository.commit !== (old?.commit ?? null))
    add('sync.completed', name, all, totals(repository));
  if (isFailed(repository) && !isFailed(old)) add('sync.failed', name, all, { detail });
  if (!isFailed(repository) && isFailed(old)) add('sync.recovered', name, all, {});
  if (repository.state === 'detached' && old?.state !== 'detached') {
    add('source.detached', name, all, { state: 'detached', detail });
  }
  if (repository.onHost === 'made private' && old?.onHost === 'public')
    add('source.private', name, all, { detail: staysVisible });
  const rewritten = repository.diverged?.detail ?? null;
  if (rewritten !== null && rewritten !== (old?.diverged?.detail ?? null)) {
    add('source.diverged', name, all, { state: 'diverged', detail: publicDetail(repository.url, rewritten) });
  }
  const changed = Object.entries(repository.documents).map(
    ([path, document]) =>
      [path, document, changeOf(old && documentOf(old, document.resource, path), document)] as const,
  );
  const ended = Object.entries(repository.left ?? {}).flatMap(([resource, document]) => {
    const [path = null] = Object.entries(old?.documents ?? {}).find(([, each]) => each.resource === resource) ?? [];
    const isKnown = old !== null && documentOf(old, resource, '')?.outcome === 'detached';
    return isKnown ? [] : [[path, document, 'source.detached'] as const];
  });
  for (const [path, document, type] of [...changed, ...ended]) {
    if (type === null) continue;
    const data = { coordinate: document.resource, path, detail: publicDetail(repository.url, document.detail ?? null) };
    add(
      type,
      document.resource,
      [document.resource],
      type === 'source.detached' ? { ...data, state: 'detached' } : data,
    );
  }
  return events;
}

/**
 * The events of what a resource holds. What pull requests hold is said there. The versions and changes are not named: not
 * all readers may know them.
 */
export function eventsOfApprovals(coordinate: Coordinate, { url, before, after }: Step<Approvals>): Happened[] {
  const ids = new Set(before?.value.held.map(({ id }) => id));
  const isAsked = ({ id, source }: Held) => !ids.has(id) && !source.startsWith('pull ');
  const name = formatCoordinate(coordinate);
  return after.value.held.filter(isAsked).map(({ id }) => {
    const data = { coordinate: name, url: `${url}/console/${coordinate.org}/approvals/${id}` };
    const whole = { type: 'approval.requested', subject: name, detail: id, data } as const;
    return eventOf(url, coordinate.org, after, whole, [coordinate]);
  });
}

/** The events of a documentation site. */
export function eventsOfSite({ url, before, after }: Step<DocumentationSite>): Happened[] {
  const site = after.value;
  const { org, slug, visibility } = site;
  // A deleted site that had the name is another one.
  const isSame = before?.value.id === site.id && before?.value.createdAt === site.createdAt;
  const old = isSame ? before.value : null;
  const name = formatSite(site);
  const labels = new Set(old && deploymentsOf(old).map(({ label }) => label));
  const about = { coordinate: name, url: `${url}${siteAddress(site)}/` };
  const happenings = deploymentsOf(site)
    .filter(({ label }) => !labels.has(label))
    .map(({ label, manifest, publishedAt, again = null, followed }): Happening => {
      // What it followed may be an API that the endpoint may not know.
      const data = { ...about, deployment: label, manifest, publishedAt, again, followed: followed !== undefined };
      return { type: 'site.published', subject: name, detail: label, data };
    });
  if (old !== null && old.visibility !== visibility) {
    const data = { ...about, visibility, previous: old.visibility };
    happenings.push({ type: 'visibility.changed', subject: name, detail: visibility, data });
  }
  return happenings.map((happening) => eventOf(url, org, after, happening, [{ org, slug, type: 'sites' }]));
}

function totals({ documents }: Repository): Omit<StateCounts, 'published'> & { documents: number } {
  const there = Object.values(documents).filter(({ outcome }) => outcome !== 'detached');
  const { waiting, rejected } = countOutcomes(there);
  return { documents: there.length, waiting, rejected };
}

function isFailed(repository: Repository | null): boolean {
  return repository?.state === 'failed';
}

/**
 * The event for a document: newly rejected, well again, or its file was removed. Null for no
 * change.
 */
function changeOf(old: DocumentState | null, document: DocumentState): EventType | null {
  if (document.outcome === 'detached') return old?.outcome === 'detached' ? null : 'source.detached';
  if (isRejected(document)) return old !== null && isRejected(old) ? null : 'sync.failed';
  return old !== null && isRejected(old) && isInStep(document) ? 'sync.recovered' : null;
}

function readCoordinate(text: string): Coordinate[] {
  const parsed = parseCoordinate(text);
  return parsed === null ? [] : [parsed.coordinate];
}

/** What events say of a version. */
export function versionData(url: string, resource: Resource, { label, manifest }: Version): object {
  const selector = { kind: 'version', version: label } as const;
  const address = { kind: 'resource', coordinate: resource, selector, format: null } as const;
  return { version: label, manifest, url: url + formatAddress({ ...address, view: 'document' }) };
}

/** The event of something that happened at a generation of a record. */
export function eventOf(
  url: string,
  org: string,
  { at, writeId }: Generation<unknown>,
  { type, subject, detail, data }: Happening,
  resources: Subject[],
): Happened {
  const id = eventId(at, [writeId, type, subject, detail].join('\n'));
  return { event: envelopeOf(url, org, { id, type: `dev.stele.${type}`, subject, time: at, data }), resources };
}

/** The id of an event that happened at a time (ISO 8601). The same `what` always has the same. */
export function eventId(at: string, what: string): string {
  return eventIdPrefix(Date.parse(at)) + hexOf(digestOf(what)).slice(0, 22);
}

/** An event of an organization (CloudEvents 1.0). */
export function envelopeOf(
  url: string,
  org: string,
  { id, type, subject, time, data }: Pick<Event, 'id' | 'type' | 'subject' | 'time' | 'data'>,
): Event {
  const source = `${url}/@${org}`;
  return { specversion: '1.0', id, source, type, subject, time, datacontenttype: 'application/json', data };
}

/** The event that tests an endpoint. */
export function testEvent(url: string, org: string, id: string, at: Date): Event {
  const about = { type: 'dev.stele.test' as const, subject: `@${org}`, data: { message: 'This is a test event.' } };
  return envelopeOf(url, org, { ...about, id, time: at.toISOString() });
}
