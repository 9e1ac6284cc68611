import type { Principal } from '../model/access.ts';
import { parseCoordinate } from '../model/address.ts';
import type { Event } from '../model/event.ts';
import { deliveryRef, type Attempt, type Delivery } from '../model/webhook.ts';
import { dueFor } from '../model/watch.ts';
import { parseSite } from '../sites/model/documentation-site.ts';
import { readerOf } from '../registry/keys/key-owner.ts';
import { addressOf, type PersonsWatch } from '../registry/keys/watches.ts';
import { findReadable, findReadableSite } from '../registry/readable.ts';
import type { Registry } from '../registry/registry.ts';
import { claimDelivery, finishDelivery } from './delivery.ts';
import { sendMail } from './send-mail.ts';
import { unsubscribePath } from './unsubscribe.ts';

/** Milliseconds after which to look again at what another delivery takes along. */
const again = 60_000;
/** Less than the most between two attempts, so that no clock seems to be set back. */
const longestWait = 20 * 3_600_000;

/**
 * Mails an event to somebody who watches, or a digest of all that are due. A digest goes with the oldest delivery:
 * who claims that one sends the mail, of all processes. What the person may not read by then is left out. `url`:
 * public base URL. Returns as `tryDelivery`.
 */
export async function tryMail(
  registry: Registry,
  by: string,
  watch: PersonsWatch,
  event: string,
  url: string,
): Promise<number | null> {
  const { org, id, actor, rhythm } = watch;
  const { mail } = registry.config;
  const name = deliveryRef(org, id, event);
  const stored = (await registry.refs.read<Delivery>(name))?.value;
  if (stored === undefined || mail === null) return null;
  const now = registry.now().getTime();
  const due = dueFor(watch, Date.parse(stored.event.time));
  if (due > now) return Math.min(due, now + longestWait);
  const waiting = rhythm === 'once' ? [] : await dueDeliveries(registry, watch, now);
  if (waiting.length > 0 && waiting[0]!.event.id < event) return now + again;
  const claimed = await claimDelivery(registry, name, by);
  if (claimed.state === 'waits') return claimed.until;
  if (claimed.state !== 'ours') return null;

  const all = [claimed.delivery, ...waiting.filter((each) => each.event.id !== event)].map((each) => each.event);
  const reader = await readerOf(registry, actor);
  const seen = await Promise.all(all.map((each) => mayRead(registry, reader, each)));
  const to = await addressOf(registry, actor);
  const events = all.filter((_, index) => to !== null && seen[index]);
  const unsubscribe = `${url}${unsubscribePath(registry, actor, id)}`;
  const attempt =
    events.length === 0
      ? null
      : await sendMail(registry, mail, { to: to!, events, unsubscribe, manage: `${url}/console/-/watches` });
  for (const each of all) {
    const isSent = events.includes(each);
    const result: Attempt = isSent
      ? attempt!
      : { at: registry.now().toISOString(), status: null, milliseconds: 0, error: 'The person may not read it.' };
    // A mail that was not taken is tried again with the oldest.
    if (isSent && attempt!.error !== null && each.id !== event) continue;
    await finishDelivery(registry, deliveryRef(org, id, each.id), by, result, !isSent);
  }
  return null;
}

/** What is due of a digest, oldest first. */
async function dueDeliveries({ refs }: Registry, watch: PersonsWatch, now: number): Promise<Delivery[]> {
  const due: Delivery[] = [];
  for await (const name of refs.list(deliveryRef(watch.org, watch.id, ''))) {
    const delivery = (await refs.read<Delivery>(name))?.value;
    if (delivery?.state === 'pending' && dueFor(watch, Date.parse(delivery.event.time)) <= now) due.push(delivery);
  }
  return due.sort((a, b) => (a.event.id < b.event.id ? -1 : 1));
}

/** Whether the person may read, as of now, what the event is about. */
async function mayRead(registry: Registry, reader: Principal, { data }: Event): Promise<boolean> {
  const named = String(data['coordinate']);
  const site = parseSite(named);
  if (site !== null) return (await findReadableSite(registry, reader, site)) !== null;
  const parsed = parseCoordinate(named);
  return parsed !== null && (await findReadable(registry, reader, parsed.coordinate)) !== null;
}
