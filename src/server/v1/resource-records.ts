import { toldChanges } from '../../model/compared-with.ts';
import { formatAddress, type AddressView } from '../../model/address.ts';
import { repositoryName } from '../../model/connection.ts';
import { eventTypeOf, shownUrl, type Delivery, type Webhook, type WebhookHealth } from '../../model/event.ts';
import { gateSettingsOf } from '../../model/gate.ts';
import { wholeOwnership } from '../../model/ownership.ts';
import type { Answer } from './call.ts';
import type { Key } from '../../model/key.ts';
import { pick } from '../../model/json.ts';
import { nameOf, type Resource, type Version } from '../../model/resource.ts';
import type { Generation } from '../../store/records.ts';

/** A resource as described in the API. */
export function resourceRecord(
  url: string,
  { value: resource, at }: Pick<Generation<Resource>, 'value' | 'at'>,
): object {
  const { org, type, slug, connection, createdAt, deletedAt } = resource;
  return {
    id: slug,
    type,
    organization: org,
    ...pick(resource, 'slug', 'name', 'description'),
    summary: resource.summary ?? '',
    ...wholeOwnership(resource),
    ...pick(resource, 'visibility', 'ruleset', 'validation'),
    ...gateSettingsOf(resource),
    ...pick(resource, 'latest', 'latestPinned'),
    connection: connection && {
      repository: repositoryName(connection.repository),
      ...pick(connection, 'branch', 'path'),
    },
    createdAt,
    updatedAt: at,
    ...(deletedAt !== null && { deletedAt }),
    coordinate: nameOf(resource),
    url: `${url}/${nameOf(resource)}`,
  };
}

/** The URL of a version, or of a view of it. */
export function versionUrl(url: string, resource: Resource, label: string, view: AddressView = 'document'): string {
  const selector = { kind: 'version', version: label } as const;
  return url + formatAddress({ kind: 'resource', coordinate: resource, selector, view, format: null });
}

/** A version as described in the API. */
export function versionRecord(url: string, resource: Resource, version: Version): object {
  const { label, manifest } = version;
  return {
    version: label,
    coordinate: `${nameOf(resource)}@${label}`,
    digest: manifest,
    ...pick(version, 'publishedAt', 'createdAt', 'status'),
    latest: resource.latest === label,
    stated: version.original ?? null,
    ...pick(version, 'commit', 'problems'),
    changes: toldChanges(resource, version) ?? undefined,
    url: versionUrl(url, resource, label),
    reportUrl: versionUrl(url, resource, label, 'report'),
    provenanceUrl: versionUrl(url, resource, label, 'provenance'),
  };
}

/** A key as described in the API, without its hash. */
export function keyRecord(key: Key, lastUsedAt: string | null): object {
  const { person, organizations, use = 'requests' } = key;
  return {
    ...pick(key, 'id', 'name'),
    owner: key.owner ?? null,
    ...pick(key, 'scopes', 'resources'),
    ...(person !== undefined && { person: person.replace(/^user:/, ''), organizations, use }),
    ...pick(key, 'createdAt', 'expiresAt', 'revokedAt'),
    lastUsedAt,
  };
}

/**
 * Answers with a key that was just made, whose secret is shown only now. `url`: that of the registry,
 * where a list has it.
 */
export function answerNewKey({ key, text }: { key: Key; text: string }, url?: string): Answer {
  const headers = url === undefined ? {} : { Location: `${url}/v1/keys/${key.id}` };
  return { status: 201, headers, body: { ...keyRecord(key, null), secret: text } };
}

/** A webhook endpoint as described in the API, without its secrets. */
export function webhookRecord({ value, at }: Generation<Webhook>, health: WebhookHealth | null): object {
  const { id, description, events, resources, format = 'cloudevents', state, reason, createdAt } = value;
  const failingSince = health?.failingSince ?? null;
  const url = shownUrl(value);
  return { id, url, description, events, resources, format, state, reason, failingSince, createdAt, updatedAt: at };
}

/** A delivery as described in the API. */
export function deliveryRecord({ event, state, attempts, nextAt }: Delivery): object {
  const { id, subject, time } = event;
  return { id, type: eventTypeOf(event), subject, time, state, attempts, nextAt, event };
}
