import { formatCoordinate, type ResourceType } from '../model/address.ts';
import { keyRef, type Key } from '../model/key.ts';
import { parseResourceRef, resourceRef } from '../model/resource.ts';
import type { Noted } from '../store/log/trail.ts';
import type { Registry } from './registry.ts';

/** One change: who did what, when, from where, and the generation that it made. */
export interface AuditEntry {
  at: string;
  actor: string;
  origin: string | null;
  action: string;
  subject: { kind: 'resource' | 'key' | 'webhook'; id: string };
  generation: number;
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
 * than the last entry sent. Neither number tells of other organizations.
 */
export interface AuditPosition {
  own: number;
  keys: number;
}

/** An entry, and the position after it. */
export interface AuditStep {
  entry: AuditEntry;
  position: AuditPosition;
}

/**
 * The changes of an organization's resources, keys and webhook endpoints, newest first: what is in
 * no log did not happen. Those after `position`, when it is given.
 */
export async function* readAudit(
  registry: Registry,
  org: string,
  filter: AuditFilter = {},
  position: AuditPosition | null = null,
): AsyncGenerator<AuditStep> {
  const own = await registry.refs.trail(org);
  const keys = filter.resource ? [] : await changesOfKeys(registry, org);
  let [a, b] = [
    Math.min(position?.own ?? own.length, own.length),
    Math.min(position?.keys ?? keys.length, keys.length),
  ];
  const only = filter.resource && resourceRef({ org, ...filter.resource });
  // Times in this form are in the order of their texts.
  const [since, until] = [isoTime(filter.since), isoTime(filter.until)];
  while (a > 0 || b > 0) {
    const isOwn = b === 0 || (a > 0 && own[a - 1]!.at >= keys[b - 1]!.at);
    const noted = isOwn ? own[--a]! : keys[--b]!;
    if (only !== undefined && noted.name !== only) continue;
    if (filter.actor !== undefined && noted.actor !== filter.actor) continue;
    if (until !== null && noted.at >= until) continue;
    if (since !== null && noted.at < since) continue;
    const subject = subjectOf(noted.name);
    if (subject === null) continue;
    const { at, actor, origin, action, generation } = noted;
    yield { entry: { at, actor, origin, action, subject, generation }, position: { own: a, keys: b } };
  }
}

/** The changes of an organization's keys, oldest first. They are in the log of the registry. */
async function changesOfKeys({ refs }: Registry, org: string): Promise<Noted[]> {
  const owners = new Map<string, string | null>();
  const found: Noted[] = [];
  for (const noted of await refs.trail(null)) {
    if (!noted.name.startsWith(keyRef(''))) continue;
    let owner = owners.get(noted.name);
    if (owner === undefined) {
      owner = (await refs.read<Key>(noted.name))?.value.org ?? null;
      owners.set(noted.name, owner);
    }
    if (owner === org) found.push(noted);
  }
  return found;
}

function subjectOf(name: string): AuditEntry['subject'] | null {
  const coordinate = parseResourceRef(name);
  if (coordinate !== null) return { kind: 'resource', id: formatCoordinate(coordinate) };
  const [kind, , id] = name.split('/');
  if (kind === 'keys') return { kind: 'key', id: name.slice('keys/'.length) };
  return kind === 'webhooks' ? { kind: 'webhook', id: id! } : null;
}

function isoTime(time: number | undefined): string | null {
  return time === undefined ? null : new Date(time).toISOString();
}
