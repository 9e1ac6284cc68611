import type { ResourceType } from '../model/address.ts';
import { keyRef, type Key } from '../model/key.ts';
import { nameOf, resourceRef, type Resource } from '../model/resource.ts';
import type { Webhook } from '../model/webhook.ts';
import type { Generation } from '../store/generations.ts';
import { listKeys } from './keys.ts';
import { readAmong } from './read-among.ts';
import type { Registry } from './registry.ts';

/** One change: who did what, when, from where, and the generation that recorded it. */
export interface AuditEntry {
  at: string;
  actor: string;
  origin: string | null;
  action: string;
  subject: { kind: 'resource' | 'key' | 'webhook'; id: string };
  generation: number;
}

/** Selects changes. Absent members select everything. */
export interface AuditFilter {
  resource?: { type: ResourceType; slug: string };
  actor?: string;
  /** Milliseconds since 1970, inclusive. */
  since?: number;
  /** Milliseconds since 1970, exclusive. */
  until?: number;
}

/** Position of the last entry on a page. */
export type AuditPosition = Pick<AuditEntry, 'at' | 'subject' | 'generation'>;

/**
 * The changes of an organization's resources, keys and webhook endpoints, newest first. They are
 * read from the histories of their refs, so nothing needs to be recorded separately. With
 * `position`, only the entries after it.
 */
export async function* readAudit(
  registry: Registry,
  org: string,
  filter: AuditFilter = {},
  position: AuditPosition | null = null,
): AsyncGenerator<AuditEntry> {
  const closed = await Array.fromAsync(chainsOf(registry, org, filter));
  // Sorted oldest first, so that `pop` takes the newest. A history is opened only when its newest
  // change could be the next entry.
  closed.sort((a, b) => compare(positionIn(b), positionIn(a)));
  const open: { entry: AuditEntry; rest: AsyncIterator<AuditEntry> }[] = [];
  for (;;) {
    const next = open.reduce<(typeof open)[number] | null>(
      (best, each) => (best === null || compare(each.entry, best.entry) < 0 ? each : best),
      null,
    );
    const chain = closed.at(-1);
    if (chain && (next === null || compare(positionIn(chain), next.entry) < 0)) {
      closed.pop();
      const rest = selected(chain, filter, position)[Symbol.asyncIterator]();
      const first = await rest.next();
      if (!first.done) open.push({ entry: first.value, rest });
      continue;
    }
    if (next === null) return;
    yield next.entry;
    const following = await next.rest.next();
    if (following.done) open.splice(open.indexOf(next), 1);
    else next.entry = following.value;
  }
}

type Subject = AuditEntry['subject'];
interface Chain {
  subject: Subject;
  newest: Generation<unknown>;
  history: () => AsyncIterable<Generation<unknown>>;
}

/** Position of a chain's newest change. */
function positionIn({ subject, newest }: Chain): AuditPosition {
  return { at: newest.at, subject, generation: newest.generation };
}

async function* chainsOf(registry: Registry, org: string, { resource, since }: AuditFilter): AsyncGenerator<Chain> {
  const { refs } = registry;
  const names = resource ? [resourceRef({ org, ...resource })] : refs.list(`resources/${org}/`);
  for await (const name of names) {
    const newest = await readAmong<Resource>(registry, name);
    if (newest === null || isBefore(newest, since)) continue;
    yield { subject: { kind: 'resource', id: nameOf(newest.value) }, newest, history: () => refs.history(name) };
  }
  if (resource) return;
  for (const { id } of await listKeys(registry, org)) {
    const newest = await readAmong<Key>(registry, keyRef(id));
    if (newest === null || isBefore(newest, since)) continue;
    yield { subject: { kind: 'key', id }, newest, history: () => refs.history(keyRef(id)) };
  }
  for await (const name of refs.list(`webhooks/${org}/`)) {
    const newest = await readAmong<Webhook>(registry, name);
    if (newest === null || isBefore(newest, since)) continue;
    yield { subject: { kind: 'webhook', id: newest.value.id }, newest, history: () => refs.history(name) };
  }
}

function isBefore({ at }: { at: string }, since: number | undefined): boolean {
  return since !== undefined && Date.parse(at) < since;
}

async function* selected(
  { subject, history }: Chain,
  { actor, since, until }: AuditFilter,
  position: AuditPosition | null,
): AsyncGenerator<AuditEntry> {
  for await (const { at, actor: by, origin, action, generation } of history()) {
    const entry: AuditEntry = { at, actor: by, origin, action, subject, generation };
    if (isBefore(entry, since)) return;
    if (actor !== undefined && by !== actor) continue;
    if (until !== undefined && Date.parse(at) >= until) continue;
    if (position !== null && compare(entry, position) <= 0) continue;
    yield entry;
  }
}

/**
 * Newest first, then by subject. Generations of one subject keep their order even if the clock went
 * back.
 */
function compare(a: AuditPosition, b: AuditPosition): number {
  if (a.subject.id === b.subject.id) return b.generation - a.generation;
  if (a.at !== b.at) return a.at > b.at ? -1 : 1;
  return a.subject.id < b.subject.id ? -1 : 1;
}
