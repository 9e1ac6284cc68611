import { notFound } from '../model/errors.ts';
import { deleteWatch, addressOf, type PersonsWatch } from '../registry/keys/watches.ts';
import type { Registry } from '../registry/registry.ts';
import { openValue, sealValue } from '../registry/seal.ts';
import { isAllowed, type Principal } from '../model/access.ts';
import { parseCoordinate } from '../model/address.ts';
import { type Event, deliveryRef, eventTypeOf, type Attempt, type Delivery, dueFor } from '../model/event.ts';
import { deploymentsOf, siteCoordinate, parseSite, type DocumentationSite } from '../sites/model/documentation-site.ts';
import { readerOf } from '../registry/keys/keys.ts';
import type { Name } from '../registry/lives.ts';
import { findReadable, mayRead, mayReadOrganization } from '../registry/readable.ts';
import { beginAttempt, claimDelivery, finishDelivery } from './delivery.ts';
import { readSecret } from '../config/environment.ts';
import type { MailConfig } from '../config.ts';
import { untilAborted } from '../scheduling/waiting.ts';
import { newsOf } from './send-event.ts';

const purpose = 'unsubscribe';

/** The path that ends a watch, whoever has it: it is in each mail, and only there. */
export function unsubscribePath(registry: Registry, actor: string, id: string): string {
  return `/unsubscribe?token=${sealValue(registry, purpose, { actor, id })}`;
}

/** Ends the watch of such a path. One that has ended stays so. Throws `not_found` for a token that is none. */
export async function unsubscribe(registry: Registry, token: string, origin: string | null): Promise<void> {
  const opened = openValue(registry, purpose, token) as { actor: string; id: string } | undefined;
  if (opened === undefined) throw notFound('This link is not valid. Use the one in the mail.');
  const { actor, id } = opened;
  await deleteWatch(registry, actor, id, { actor, origin }, { isRepeatable: true });
}

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
  const seen = await Promise.all(all.map((each) => mayKnow(registry, reader, org, each)));
  const to = await addressOf(registry, actor);
  const events = all.filter((_, index) => to !== null && seen[index]);
  const ending = `${url}${unsubscribePath(registry, actor, id)}`;
  const attempt =
    events.length === 0
      ? null
      : await sendMail(registry, mail, { to: to!, events, unsubscribe: ending, manage: `${url}/console/-/watches` });
  for (const each of all) {
    const isSent = events.includes(each);
    const result = isSent ? attempt! : beginAttempt(registry)(null, 'The person may not read it.');
    // A mail that was not taken is tried again with the oldest.
    if (isSent && attempt!.error !== null && each.id !== event) continue;
    const { state, tries } = await finishDelivery(registry, deliveryRef(org, id, each.id), by, result, !isSent);
    const { error } = result;
    // Nobody but the operator can see why.
    if (isSent && error !== null && (state === 'failed' || tries === 1))
      registry.log('warn', state === 'failed' ? 'delivery failed' : 'mail not taken', {
        org,
        watch: id,
        event: each.id,
        error,
      });
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

/** What every reader of a resource or site learns. The rest is for members, as on the page of one without a version. */
const forReaders = 'version.published version.status-changed latest.moved visibility.changed site.published'.split(' ');

/** Whether the person may know, as of now, what the event says. `org`: the organization whose event it is. */
async function mayKnow(registry: Registry, reader: Principal, org: string, event: Event): Promise<boolean> {
  const named = String(event.data['coordinate']);
  const site = parseSite(named);
  const resource = site === null ? parseCoordinate(named)?.coordinate : siteCoordinate(site);
  const found = resource && (await findReadable<Name>(registry, reader, resource));
  if (!found || ('deployments' in found.value && !isOfSite(found.value, event))) return false;
  const type = eventTypeOf(event);
  if (type === 'consumer.affected') return mayReadOrganization(reader, org);
  if (type === 'approval.requested') return isAllowed(reader, 'publish', { org, resource });
  return forReaders.includes(type) || mayRead(reader, { ...resource, visibility: 'private' });
}

/** Whether an event is of this site: a deleted one may have had its name. */
function isOfSite(site: DocumentationSite, { time, data }: Event): boolean {
  const { deployment } = data;
  return deployment === undefined
    ? time > site.createdAt
    : deploymentsOf(site).some(({ label }) => label === deployment);
}

/** Milliseconds for each step of SMTP, and for a whole mail: less than the lease of a delivery. */
const timeLimit = 10_000;
const patience = 30_000;
const maxListed = 200;

interface News {
  to: string;
  events: readonly Event[];
  /** The page on which one unsubscribes, and to which a mail program posts (RFC 8058). */
  unsubscribe: string;
  /** The page with all watches of the person. */
  manage: string;
}

/**
 * Sends a mail with what happened, and returns the result. Never rejects. Text that somebody published stands in
 * it as plain text on one line, and never in an address: nodemailer encodes headers, and what it gets has no
 * control characters.
 */
export async function sendMail(
  registry: Pick<Registry, 'now'>,
  config: MailConfig,
  news: News,
  signal: AbortSignal = AbortSignal.timeout(patience),
): Promise<Attempt> {
  const attempt = beginAttempt(registry);
  try {
    const { createTransport } = await import('nodemailer');
    const { hostname: host, port, protocol, username } = new URL(config.smtp);
    const isSecure = protocol === 'smtps:';
    const transport = createTransport({
      host,
      port: Number(port || (isSecure ? 465 : 587)),
      secure: isSecure,
      requireTLS: !isSecure && config.password !== undefined,
      ...(config.password && { auth: { user: decodeURIComponent(username), pass: readSecret(config.password) } }),
      connectionTimeout: timeLimit,
      greetingTimeout: timeLimit,
      socketTimeout: timeLimit,
      disableFileAccess: true,
      disableUrlAccess: true,
    });
    const lines = news.events.slice(0, maxListed).map(lineOf);
    const more = news.events.length - lines.length;
    const [first] = news.events;
    const sending = transport.sendMail({
      from: config.from,
      to: { name: '', address: news.to },
      subject: news.events.length === 1 ? newsOf(first!).title : `${news.events.length} changes of contracts you watch`,
      text: [
        ...lines,
        ...(more > 0 ? [`And ${more} more.`] : []),
        `You get this because you watch it: ${news.manage}\nUnsubscribe: ${news.unsubscribe}\n`,
      ].join('\n\n'),
      // The same for each attempt, so that mail programs show a repeated one once.
      messageId: `<${first!.id}.${news.events.length}@${new URL(news.unsubscribe).hostname}>`,
      headers: {
        'List-Unsubscribe': `<${news.unsubscribe}>`,
        'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
        'Auto-Submitted': 'auto-generated',
      },
    });
    // A server that keeps talking ends no step.
    await untilAborted(sending, signal);
    return attempt(null, null);
  } catch (error) {
    const { code, message, command, responseCode } = error as NodeJS.ErrnoException & {
      command?: string;
      responseCode?: number;
    };
    if (signal.aborted) return attempt(null, 'The mail server did not take the mail in time.');
    if (responseCode) return attempt(null, `The mail server answered ${responseCode} to ${command ?? 'the mail'}.`);
    return attempt(null, `The mail was not taken: ${(code ?? message).slice(0, 200)}.`);
  }
}

function lineOf(event: Event): string {
  const { title, detail, url } = newsOf(event);
  return [title, detail, url].filter(Boolean).join('\n');
}
