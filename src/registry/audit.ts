import { isAllowed, type Principal, rightsRef } from '../model/access.ts';
import { formatCoordinate, type ResourceType } from '../model/address.ts';
import { approvalsRef, parseApprovalsRef } from '../model/approval.ts';
import { gone } from '../model/errors.ts';
import { keyRef } from '../model/key.ts';
import { parseOrganizationRef } from '../model/gate.ts';
import type { ToldChanges } from '../model/comparison.ts';
import { toldChanges } from '../model/compared-with.ts';
import { nameOf, parseResourceRef, resourceRef } from '../model/resource.ts';
import { formatSite, parseSiteRef } from '../sites/model/documentation-site.ts';
import type { Noted } from '../store/log/history.ts';
import { listAffected, type Affected, type AffectedConsumer } from './graph/affected.ts';
import { listKeys } from './keys/list-keys.ts';
import { mayReadOrganization, readReadable } from './readable.ts';
import type { Registry } from './registry.ts';
import type { Generation } from '../store/records.ts';

/** One change: who did what, when, from where, and the generation that it made. */
export interface AuditEntry extends Pick<Generation<unknown>, 'generation' | 'at' | 'origin' | 'action'> {
  /** Null for those who may not know. */
  actor: string | null;
  subject: { kind: 'resource' | 'site' | 'key' | 'webhook' | 'organization' | 'consumer'; id: string };
  /** How a contract that a consumer pinned affects it. Only where the subject is one. */
  affected?: {
    coordinate: string;
    range: string;
    pinned: string;
    because: Affected['because'];
    version: string;
    /** What breaks. Only where that is why. */
    changes?: ToldChanges;
  };
}

/** Which changes. Absent members: all. */
export interface AuditFilter {
  resource?: { type: ResourceType; slug: string };
  actor?: string;
  /** Milliseconds since 1970: at or after. */
  since?: number;
  /** Before. */
  until?: number;
}

/**
 * Where a page ended: how many of the organization's changes, and of those of its keys, are older
 * than the last entry sent. Neither number reveals anything about other organizations.
 */
export interface AuditPosition {
  own: number;
  keys: number;
  /** The time of the last of `own`, by which it is recognized; absent where nobody kept it. */
  at?: string;
  /** The key of the last of what affects consumers. */
  affected?: string;
}

/** An entry, and the position after it. */
export interface AuditStep {
  entry: AuditEntry;
  position: AuditPosition;
}

/**
 * The changes of an organization's settings, resources, sites, keys and webhook endpoints, newest
 * first, beginning after `position` if given.
 */
export async function* readAudit(
  registry: Registry,
  org: string,
  filter: AuditFilter = {},
  position: AuditPosition | null = null,
): AsyncGenerator<AuditStep> {
  const { changes, keys } = await changesOf(registry, org, position, !filter.resource);
  let [a, b] = [
    Math.min(position?.own ?? changes.length, changes.length),
    Math.min(position?.keys ?? keys.length, keys.length),
  ];
  const named = filter.resource && { org, ...filter.resource };
  const only = named && [resourceRef(named), approvalsRef(named)];
  // Times in this form are in the order of their texts.
  const [since, until] = [isoTime(filter.since), isoTime(filter.until)];
  while (a > 0 || b > 0) {
    const isOwn = b === 0 || (a > 0 && changes[a - 1]!.at >= keys[b - 1]!.at);
    const noted = isOwn ? changes[--a]! : keys[--b]!;
    if (only !== undefined && !only.includes(noted.name)) continue;
    if (filter.actor !== undefined && noted.actor !== filter.actor) continue;
    if (until !== null && noted.at >= until) continue;
    if (since !== null && noted.at < since) continue;
    const subject = subjectOf(noted.name);
    if (subject === null) continue;
    const { at, actor, origin, action, generation } = noted;
    yield { entry: { at, actor, origin, action, subject, generation }, position: { own: a, keys: b } };
  }
}

/** Some changes, oldest first. */
export interface ChangesPage {
  entries: AuditEntry[];
  /** Where the next page begins. */
  position: AuditPosition;
  hasMore: boolean;
}

/**
 * Milliseconds to wait before reporting what affects a consumer. A version is committed a little after its date, and
 * each report must come after all earlier ones.
 */
const affectedAfter = 60_000;

/**
 * The changes of an organization after a position that the principal may see, oldest first: all for
 * its administrators, for others those of resources that they may read now, without who made them. Those who may
 * read the whole organization also see what affects its consumers.
 */
export async function readChanges(
  registry: Registry,
  principal: Principal,
  org: string,
  position: AuditPosition | null,
  limit: number,
): Promise<ChangesPage> {
  const isAdmin = isAllowed(principal, 'admin', { org });
  const { changes, keys } = await changesOf(registry, org, position, isAdmin);
  const entries: AuditEntry[] = [];
  let { own: a, keys: b, affected: told = '' } = position ?? { own: 0, keys: 0 };
  const here = (): AuditPosition => ({
    own: a,
    keys: b,
    ...(a > 0 && { at: changes[a - 1]!.at }),
    ...(told !== '' && { affected: told }),
  });
  const affected = await affectedAfterKey(registry, principal, org, told);
  let reached = here();
  while (a < changes.length || b < keys.length || affected.length > 0) {
    const next = affected[0];
    if (next && [changes[a], keys[b]].every((each) => each === undefined || next.at <= each.at)) {
      if (entries.length === limit) return { entries, position: reached, hasMore: true };
      affected.shift();
      told = next.key;
      reached = here();
      entries.push(entryOf(next));
      continue;
    }
    const isOwn = b >= keys.length || (a < changes.length && changes[a]!.at <= keys[b]!.at);
    const noted = isOwn ? changes[a++]! : keys[b++]!;
    const subject = subjectOf(noted.name);
    if (subject === null || !(isAdmin || (await isSeen(registry, principal, noted.name)))) continue;
    // Only visible changes count as more. Others would reveal that something happens.
    if (entries.length === limit) return { entries, position: reached, hasMore: true };
    reached = here();
    const { at, actor, origin, action, generation } = noted;
    entries.push({ at, actor: isAdmin ? actor : null, origin: isAdmin ? origin : null, action, subject, generation });
  }
  return { entries, position: here(), hasMore: false };
}

/** What affects an organization's consumers and stands after a key, oldest first. None for who may not know them. */
async function affectedAfterKey(
  registry: Registry,
  principal: Principal,
  org: string,
  key: string,
): Promise<AffectedConsumer[]> {
  if (!mayReadOrganization(principal, org)) return [];
  const end = new Date(registry.now().getTime() - affectedAfter).toISOString();
  return (await listAffected(registry, org)).filter((each) => each.key > key && each.at <= end);
}

function entryOf({ at, because, version, pin, resource }: AffectedConsumer): AuditEntry {
  const { range, version: pinned } = pin.contract;
  const changes = because === 'breaking' ? toldChanges(resource, version) : null;
  return {
    at,
    actor: null,
    origin: null,
    action: `${because} ${version.label}`,
    subject: { kind: 'consumer', id: pin.consumer },
    generation: 1,
    affected: {
      coordinate: nameOf(resource),
      range,
      pinned,
      because,
      version: version.label,
      ...(changes && { changes }),
    },
  };
}

interface Changes {
  changes: readonly Noted[];
  keys: readonly Noted[];
}

/**
 * The changes of an organization, and of its keys, as far as a position in them at least. Rejects with
 * `gone` if they do not reach as far, and with `corrupt` if that is because a log is damaged.
 */
async function changesOf(
  registry: Registry,
  org: string,
  position: AuditPosition | null,
  hasKeys: boolean,
): Promise<Changes> {
  const read = async (): Promise<Changes> => ({
    changes: await registry.refs.trail(org),
    keys: hasKeys ? await changesOfKeys(registry, org) : [],
  });
  const isIn = ({ changes, keys }: Changes): boolean =>
    position === null ||
    (position.own <= changes.length &&
      (position.keys <= keys.length || !hasKeys) &&
      (position.at === undefined || changes[position.own - 1]?.at === position.at));
  const changes = await read();
  if (isIn(changes)) return changes;
  // Another process may be ahead of this one.
  await registry.refs.refresh(`resources/${org}/`);
  const newest = await read();
  if (isIn(newest)) return newest;
  throw gone(
    'This registry does not have the changes before this cursor any more: it was restored to an earlier state. Start again without a cursor.',
  );
}

async function isSeen(registry: Registry, principal: Principal, name: string): Promise<boolean> {
  const coordinate = parseResourceRef(name);
  return coordinate !== null && (await readReadable(registry, principal, coordinate)) !== null;
}

/** The changes of an organization's keys and rights, oldest first. They are in the log of the registry, beside those of others. */
async function changesOfKeys(registry: Registry, org: string): Promise<readonly Noted[]> {
  const { refs, answers } = registry;
  const changes: (Noted & { sequence: number })[] = [];
  const keys = await listKeys(registry, org);
  for (const name of [...keys.map(({ id }) => keyRef(id)), rightsRef(org)]) {
    const writeId = (await refs.read(name))?.writeId;
    if (writeId === undefined) continue;
    const history = () => Array.fromAsync(refs.history(name), (change) => ({ ...change, name }));
    changes.push(...(await answers.content(`changes ${writeId}`, history, ({ length }) => length * 300)));
  }
  return changes.sort((a, b) => a.sequence - b.sequence || (a.name < b.name ? -1 : 1));
}

function subjectOf(name: string): AuditEntry['subject'] | null {
  const coordinate = parseResourceRef(name);
  if (coordinate !== null) return { kind: 'resource', id: formatCoordinate(coordinate) };
  const held = parseApprovalsRef(name);
  if (held !== null) return { kind: 'resource', id: formatCoordinate(held) };
  const site = parseSiteRef(name);
  if (site !== null) return { kind: 'site', id: formatSite(site) };
  const organization = parseOrganizationRef(name);
  if (organization !== null) return { kind: 'organization', id: organization };
  const [kind, , id] = name.split('/');
  if (kind === 'rights') return { kind: 'organization', id: name.slice('rights/'.length) };
  if (kind === 'keys') return { kind: 'key', id: name.slice('keys/'.length) };
  if (kind === 'personal-keys') return { kind: 'key', id: id! };
  return kind === 'webhooks' ? { kind: 'webhook', id: id! } : null;
}

function isoTime(time: number | undefined): string | null {
  return time === undefined ? null : new Date(time).toISOString();
}
