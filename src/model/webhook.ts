import type { Event, EventType } from './event.ts';

/** A secret that deliveries are signed with. */
export interface WebhookSecret {
  /** As `registry/seal.ts` stores it. */
  sealed: string;
  /** Until when it signs beside a newer one; null: as long as there is no newer one. ISO 8601, UTC. */
  until: string | null;
}

/** An endpoint that an organization's events are sent to: the value of one ref. */
export interface Webhook {
  id: string;
  org: string;
  url: string;
  /** For people. */
  description: string;
  /** Null: every type. */
  events: EventType[] | null;
  /** Globs of `type/slug`: only events about those resources, as far as the key reached that made it. Null: about all. */
  resources: string[] | null;
  /** A disabled one is sent nothing, and nothing is kept for it. */
  state: 'enabled' | 'disabled';
  /** Why Stele itself disabled it; null where it did not. */
  reason: string | null;
  /** Newest first. */
  secrets: WebhookSecret[];
  /** Events from here on are sent: when it was created, or last enabled. ISO 8601, UTC. */
  begins: string;
  createdAt: string;
  deletedAt: string | null;
}

/** How an endpoint has been doing: the value of one ref beside it. */
export interface WebhookHealth {
  /** Since when no delivery has succeeded; null: the last one did. ISO 8601, UTC. */
  failingSince: string | null;
}

/** One try to deliver. */
export interface Attempt {
  /** ISO 8601, UTC. */
  at: string;
  /** HTTP status of the answer; null where there was none. */
  status: number | null;
  /** How long it took. */
  milliseconds: number;
  /** Why it does not count as delivered, in one sentence; null where it does. */
  error: string | null;
}

/** One event on its way to one endpoint: the value of one ref. */
export interface Delivery {
  org: string;
  webhook: string;
  /** What is sent, the same at each attempt. */
  event: Event;
  state: 'pending' | 'delivered' | 'failed';
  /** Oldest first; the last 20. */
  attempts: Attempt[];
  /** Attempts since it was made, or asked for again. */
  tries: number;
  /** When it is tried next; null: no more. ISO 8601, UTC. */
  nextAt: string | null;
  /** Who tries it now, and until when that counts. */
  claim: { by: string; until: string } | null;
}

/** The name of the ref that holds an endpoint. */
export function webhookRef(org: string, id: string): string {
  return `webhooks/${org}/${id}`;
}

/** The name of the ref that holds how an endpoint has been doing. */
export function webhookHealthRef(org: string, id: string): string {
  return `webhook-health/${org}/${id}`;
}

/** The name of the ref that holds a delivery. */
export function deliveryRef(org: string, webhook: string, event: string): string {
  return `deliveries/${org}/${webhook}/${event}`;
}

/** What a name that `deliveryRef` made was made of; null for the name of another ref. */
export function parseDeliveryRef(name: string): { org: string; webhook: string; event: string } | null {
  const [kind, org, webhook, event, more] = name.split('/');
  if (kind !== 'deliveries' || !org || !webhook || !event || more !== undefined) return null;
  return { org, webhook, event };
}
