import { readSecret } from '../config/environment.ts';
import {
  type Event,
  type Webhook,
  type EventType,
  shortenUrl,
  shownUrl,
  webhookRef,
  type WebhookSecret,
} from '../model/event.ts';
import { readAudit } from '../registry/audit.ts';
import { type Registry, newId, type Author } from '../registry/registry.ts';
import { isAllowed, type Principal } from '../model/access.ts';
import { envelopeOf, eventId, type Subject } from './events.ts';
import { invalidMember, notFound, conflict } from '../model/errors.ts';
import type { Generation } from '../store/records.ts';
import { updateLive, type Guard } from '../registry/lives.ts';
import { openSecret, sealSecret } from '../registry/seal.ts';
import { isIP } from 'node:net';
import { isPublicAddress } from '../source/location.ts';

/** The id of the operator's endpoint, among those of each organization. Other ids have 20 characters. */
export const auditId = 'audit';

const always = new Date(0).toISOString();

/** The endpoint of the configuration that receives the audit trails of all organizations, as one of this. Null: none. */
export function auditEndpoint({ config }: Pick<Registry, 'config'>, org: string): Webhook | null {
  const { audit } = config.webhooks;
  if (audit === undefined) return null;
  const dates = { begins: always, createdAt: always, deletedAt: null };
  const whatever = { description: '', events: [], resources: null, reason: null, secrets: [] };
  return { id: auditId, org, url: audit.url, state: 'enabled', ...whatever, ...dates };
}

/**
 * The changes in an organization's audit trail since a time (milliseconds since 1970) as events, oldest first. The same
 * change always gives the same event.
 */
export async function auditEvents(registry: Registry, url: string, org: string, since: number): Promise<Event[]> {
  const events: Event[] = [];
  for await (const { entry } of readAudit(registry, org, { since })) {
    const { at, subject } = entry;
    const id = eventId(at, JSON.stringify([org, entry]));
    const data = { organization: org, ...entry };
    events.push(envelopeOf(url, org, { id, type: 'dev.stele.audit', subject: subject.id, time: at, data }));
  }
  return events.reverse();
}

/** The input that creates an endpoint. */
export type NewWebhook = Pick<Webhook, 'url'> &
  Partial<Pick<Webhook, 'description' | 'events' | 'resources' | 'format'>>;

/** Changes to an endpoint. Absent members stay as they are. */
export type WebhookChange = Partial<NewWebhook & Pick<Webhook, 'state'>>;

/** An endpoint with its signing secret, which is shown once. */
export interface WithSecret {
  webhook: Generation<Webhook>;
  secret: string;
}

const maxEndpoints = 50;
/** Milliseconds for which the previous secret still signs. */
const rotation = 24 * 60 * 60 * 1000;

/**
 * Creates an endpoint, which receives events from now on. Rejects with `malformed` for an invalid
 * URL, and with `conflict` when the organization has 50 endpoints. A repeat of the same operation
 * (`Author.operation`) returns the same endpoint.
 */
export async function createWebhook(
  registry: Registry,
  org: string,
  given: NewWebhook,
  author: Author,
): Promise<WithSecret> {
  const url = checkedUrl(registry, given.url);
  const all = await listWebhooks(registry, org);
  const created = all.find(({ generation, operation }) => generation === 1 && isSame(operation, author));
  if (created) return withSecret(registry, created);
  if (all.length >= maxEndpoints) {
    throw conflict(`The organization already has ${maxEndpoints} endpoints. Delete one first.`);
  }
  const at = registry.now().toISOString();
  const { description = '', events = null, resources = null, format = 'cloudevents' } = given;
  const id = newId(registry);
  const value = sealUrl(registry, {
    id,
    org,
    url,
    description,
    events,
    resources,
    format,
    state: 'enabled',
    reason: null,
    secrets: [newSecret(registry)],
    begins: at,
    createdAt: at,
    deletedAt: null,
  });
  const change = { ...author, action: 'create webhook' };
  const webhook = await registry.refs.update<Webhook>(webhookRef(org, id), (current) => {
    if (current !== null) throw conflict('The random id is already used. Try again.');
    return { value, change };
  });
  return withSecret(registry, webhook!);
}

/** The endpoints of an organization, oldest first. */
export async function listWebhooks(registry: Registry, org: string): Promise<Generation<Webhook>[]> {
  return (await registry.refs.all<Webhook>(`webhooks/${org}/`)).filter(({ value }) => value.deletedAt === null);
}

/** The endpoint with this id, or null. */
export async function findWebhook(registry: Registry, org: string, id: string): Promise<Generation<Webhook> | null> {
  const webhook = await registry.refs.read<Webhook>(webhookRef(org, id));
  return webhook === null || webhook.value.deletedAt !== null ? null : webhook;
}

/**
 * Changes an endpoint. When it is enabled, it receives events from then on. The URL that is shown changes nothing, so
 * that clients can send back what they read.
 */
export async function changeWebhook(
  registry: Registry,
  org: string,
  id: string,
  { url, ...change }: WebhookChange,
  author: Author,
  guard: Guard | null = null,
): Promise<Generation<Webhook>> {
  return updateLive<Webhook>(registry, recordOf(org, id), author, guard, (current) => {
    const { sealedUrl: _former, ...whole } = current;
    const isKept = url === undefined || url === shownUrl(current);
    const addressed = isKept ? current : { ...whole, url: checkedUrl(registry, url) };
    const next = sealUrl(registry, { ...addressed, ...change });
    if (next.state !== current.state) {
      next.reason = null;
      if (next.state === 'enabled') next.begins = registry.now().toISOString();
    }
    if (JSON.stringify(next) === JSON.stringify(current)) return null;
    return { next, action: next.state === current.state ? 'change webhook' : `${next.state.slice(0, -1)} webhook` };
  });
}

/** Disables an endpoint that no longer accepts events. */
export async function disableWebhook(registry: Registry, { org, id }: Webhook, reason: string): Promise<void> {
  const author = { actor: `events:${org}`, origin: null };
  await updateLive<Webhook>(registry, recordOf(org, id), author, null, (current) =>
    current.state === 'disabled'
      ? null
      : { next: { ...current, state: 'disabled', reason }, action: 'disable webhook' },
  );
  registry.log('warn', 'webhook disabled', { org, webhook: id, reason });
}

/** Deletes an endpoint and its log. It receives nothing more. */
export async function deleteWebhook(
  registry: Registry,
  org: string,
  id: string,
  author: Author,
  guard: Guard | null = null,
): Promise<void> {
  await updateLive<Webhook>(registry, recordOf(org, id), author, guard, ({ sealedUrl: _secret, ...current }) => ({
    next: { ...current, url: shownUrl(current), secrets: [], deletedAt: registry.now().toISOString() },
    action: 'delete webhook',
  }));
}

/**
 * Gives an endpoint a new secret. The previous one also signs for 24 hours, so that the receiver
 * has time to change.
 */
export async function rotateSecret(registry: Registry, org: string, id: string, author: Author): Promise<WithSecret> {
  const fresh = newSecret(registry);
  const now = registry.now().getTime();
  const webhook = await registry.refs.update<Webhook>(webhookRef(org, id), (current) => {
    if (current === null || current.value.deletedAt !== null) throw notFound(absent);
    if (isSame(current.operation, author)) return null;
    const [before] = current.value.secrets;
    const secrets = [fresh, { ...before!, until: new Date(now + rotation).toISOString() }];
    return { value: { ...current.value, secrets }, change: { ...author, action: 'rotate webhook secret' } };
  });
  return withSecret(registry, webhook!);
}

/** The URL to send to. */
export function wholeUrl(registry: Pick<Registry, 'config' | 'ownKey'>, { url, sealedUrl }: Webhook): string {
  return sealedUrl === undefined ? url : openSecret(registry, sealedUrl);
}

/** Encrypts the address of a chat. What was encrypted once stays so, whatever its format becomes. */
function sealUrl(registry: Registry, webhook: Webhook): Webhook {
  const { format = 'cloudevents', url, sealedUrl } = webhook;
  if (format === 'cloudevents' || sealedUrl !== undefined) return webhook;
  return { ...webhook, url: shortenUrl(url), sealedUrl: sealSecret(registry, url) };
}

/** The secrets that sign at this time, newest first. */
export function secretsAt(registry: Pick<Registry, 'config' | 'ownKey'>, { id, secrets }: Webhook, at: Date): string[] {
  if (id === auditId) return [readSecret(registry.config.webhooks.audit!.secret)];
  const usable = secrets.filter(({ until }) => until === null || Date.parse(until) > at.getTime());
  return usable.map(({ sealed }) => openSecret(registry, sealed));
}

/**
 * Whether the endpoint receives events of this type about one of these resources: only about those
 * that its key could administer, which is no consumer.
 */
export function wants(
  webhook: Pick<Webhook, 'id' | 'org' | 'events' | 'resources'>,
  type: EventType,
  resources: readonly Subject[],
): boolean {
  if (webhook.events !== null && !webhook.events.includes(type)) return false;
  if (webhook.resources === null) return true;
  if (type === 'consumer.affected') return false;
  const principal: Principal = { kind: 'key', scopes: ['admin'], ...webhook };
  return resources.some((resource) => isAllowed(principal, 'admin', { org: webhook.org, resource }));
}

function recordOf(org: string, id: string): { name: string; absent: string } {
  return { name: webhookRef(org, id), absent };
}

const absent = 'There is no such webhook.';

function isSame(operation: string | undefined, author: Author): boolean {
  return operation !== undefined && operation === author.operation;
}

/** `whsec_` and 24 random bytes (Standard Webhooks, "Signature scheme"). */
function newSecret(registry: Registry): WebhookSecret {
  const secret = `whsec_${Buffer.from(registry.randomBytes(24)).toString('base64')}`;
  return { sealed: sealSecret(registry, secret), until: null };
}

function withSecret(registry: Registry, webhook: Generation<Webhook>): WithSecret {
  return { webhook, secret: openSecret(registry, webhook.value.secrets[0]!.sealed) };
}

function checkedUrl(registry: Registry, text: string): string {
  const isShortened = text.includes('…');
  const read = isShortened
    ? { fault: 'must be the whole address, not the shortened one' }
    : readEndpointUrl(registry, text);
  if ('url' in read) return read.url.href;
  throw invalidMember('/url', read.fault);
}

/**
 * Parses an endpoint's URL, or says what is wrong with it. Does not resolve host names: that
 * happens at each delivery.
 */
export function readEndpointUrl({ config }: Pick<Registry, 'config'>, text: string): { url: URL } | { fault: string } {
  const isPrivateAllowed = config.webhooks.allowPrivateAddresses;
  const url = URL.parse(text);
  if (url === null) return { fault: 'must be a URL' };
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isPrivateAllowed))
    return { fault: 'must be an https URL' };
  if (url.username !== '' || url.password !== '') return { fault: 'must not contain a user name or password' };
  if (url.hash !== '') return { fault: 'must not contain a fragment' };
  const host = hostOf(url);
  const isLocal = isIP(host) ? !isPublicAddress(host) : /(?:^|\.)localhost\.?$/.test(host);
  if (isLocal && !isPrivateAllowed) return { fault: 'must not be a private network address' };
  return { url };
}

/** The host to resolve. IPv6 addresses have no brackets. */
export function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, '$1');
}
