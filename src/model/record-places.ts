import { consumerDays } from './dependency.ts';

/**
 * Where the records of each kind are kept (design §5). A kind is the first segment of a record's
 * name, such as `resources` in `resources/acme/apis/payments`.
 */
export type RecordPlace =
  /** In the log of the organization that is the name's second segment. */
  | { kept: 'organization' }
  /** In the log of what belongs to no organization. */
  | { kept: 'registry' }
  /** Outside the logs, and deleted this many days after its last change. */
  | { kept: 'days'; days: number };

const organization: RecordPlace = { kept: 'organization' };
const registry: RecordPlace = { kept: 'registry' };
const daysFor = (days: number): RecordPlace => ({ kept: 'days', days });

const places: Readonly<Record<string, RecordPlace>> = {
  organizations: organization,
  resources: organization,
  sites: organization,
  'site-files': organization,
  repositories: organization,
  webhooks: organization,
  // What waits for approval, and what was decided about it (`model/approval.ts`).
  approvals: organization,
  publishers: organization,
  // Raised when a lease is taken over (`sync/lease.ts`).
  fences: organization,
  // What was done to people's keys, for the audit of an organization.
  'personal-keys': organization,
  keys: registry,
  // Who may do what in an organization, which every request of a person asks for all (`model/access.ts`).
  rights: registry,
  // What people get mail about (`model/event.ts`).
  watches: registry,
  // These records expire. The defaults are documented in `content/docs/operating.md`.
  runs: daysFor(90),
  pulls: daysFor(90),
  checks: daysFor(14),
  deliveries: daysFor(30),
  'webhook-health': daysFor(90),
  // Made again by the next look at the host.
  owners: daysFor(90),
  'event-marks': daysFor(90),
  'key-uses': daysFor(400),
  // How far each log reached (`store/log/heads.ts`). A log that is used gets a new one.
  heads: daysFor(400),
  idempotency: daysFor(2),
  tokens: daysFor(2),
  sessions: daysFor(60),
  members: daysFor(180),
  // The last sign-in, which people's keys depend on.
  people: daysFor(400),
  // Programs that ask a person for a key (`registry/keys/personal-keys.ts`).
  devices: daysFor(2),
  consumers: daysFor(consumerDays),
  // Made again each day (`registry/estate/replay-estate.ts`).
  estate: daysFor(8),
  leases: daysFor(2),
  // Of `stele mirror`, which is gone.
  mirrors: daysFor(400),
  imports: daysFor(400),
  'imported-tags': daysFor(400),
};

/** The place of a record. Kinds that the table does not name are in the log `registry`. */
export function placeOf(name: string): RecordPlace {
  const kind = name.slice(0, name.indexOf('/'));
  return (Object.hasOwn(places, kind) && places[kind]) || registry;
}

/** Kinds of records that are in the logs of organizations. */
export function organizationKinds(): string[] {
  return Object.entries(places).flatMap(([kind, place]) => (place.kept === 'organization' ? [kind] : []));
}

/** Kinds of records that are deleted by age, each with its days. */
export function expiringKinds(): { kind: string; days: number }[] {
  return Object.entries(places).flatMap(([kind, place]) => (place.kept === 'days' ? [{ kind, days: place.days }] : []));
}

/**
 * A list in the value of a record whose members are stored one by one, so that a change writes only
 * the members that it changes. Members are never removed and keep their order.
 */
export interface StoredList {
  /** The member of the value that holds the list. */
  field: string;
  /** What names an item within the list. */
  keyOf: (item: Record<string, unknown>) => string;
  /** The kind of the items' own records. */
  kind: string;
}

const versions: StoredList = { field: 'versions', keyOf: ({ label }) => String(label), kind: 'versions' };
const deployments: StoredList = {
  field: 'deployments',
  // Each of the sites that have had a name counts from 1.
  keyOf: ({ label, site }) => (site === undefined ? String(label) : `${String(site)}-${String(label)}`),
  kind: 'deployments',
};

/** The list that records of this kind hold, or null: the versions of a resource, the deployments of a site. */
export function listIn(name: string): StoredList | null {
  if (name.startsWith('resources/')) return versions;
  return name.startsWith('sites/') ? deployments : null;
}

/** The name of an item's own record: `versions/acme/apis/payments/1.4.0`. */
export function itemName(list: StoredList, owner: string, key: string): string {
  return `${list.kind}${owner.slice(owner.indexOf('/'))}/${key}`;
}
