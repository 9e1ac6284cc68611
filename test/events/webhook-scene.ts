import { afterEach, vi } from 'vitest';
import type { UserConfig } from '../../src/config.ts';
import type { Delivery } from '../../src/model/event.ts';
import { openDeliveries, type Deliveries, type DeliveriesOptions } from '../../src/events/deliveries.ts';
import { publish } from '../../src/registry/publish.ts';
import type { Registry } from '../../src/registry/registry.ts';
import { createWebhook, type NewWebhook, type WithSecret } from '../../src/events/endpoints.ts';
import { openReceiver, type Receiver } from '../servers/receiver.ts';
import { createWorld, snapshotOf, type World } from '../registry/world.ts';

export const base = 'https://registry.test';
export const author = { actor: 'operator:test', origin: null };
export const local: UserConfig = { organizations: { acme: {} }, webhooks: { allowPrivateAddresses: true } };
/** Milliseconds. */
export const [minute, hour, day] = [60_000, 3_600_000, 86_400_000] as const;

const opened: Deliveries[] = [];
const receivers: Receiver[] = [];
afterEach(async () => {
  vi.unstubAllEnvs();
  await Promise.all(receivers.splice(0).map((receiver) => receiver[Symbol.asyncDispose]()));
  await Promise.all(opened.splice(0).map((deliveries) => deliveries.close()));
});

/** An endpoint, closed after the test. */
export async function receive(host = '127.0.0.1'): Promise<Receiver> {
  const receiver = await openReceiver(host);
  receivers.push(receiver);
  return receiver;
}

/** A process that sends events, closed after the test. */
export function deliver(registry: Registry, options: DeliveriesOptions = {}): Deliveries {
  const deliveries = openDeliveries(registry, base, options);
  opened.push(deliveries);
  return deliveries;
}

/** Publishes a version: two events for the first, as for each that is the latest. */
export async function publishVersion(registry: Registry, version: string, slug = 'pay'): Promise<void> {
  const text = `openapi: 3.1.0\ninfo: {title: Pay, version: "${version}"}\n`;
  await publish(registry, {
    coordinate: { org: 'acme', type: 'apis', slug },
    snapshot: snapshotOf(null, null, { 'api.yaml': text }),
    entry: 'api.yaml',
    version: null,
    onConflict: 'revise',
    latest: true,
    dryRun: false,
    create: {},
    author,
  });
}

/** A world with an endpoint and a process that sends to it. */
export interface Scene extends World {
  receiver: Receiver;
  deliveries: Deliveries;
  made: WithSecret;
  id: string;
}

/** A receiver that wants the versions that are published, and a process that sends them. */
export async function begin(given: Partial<NewWebhook> = {}, user: UserConfig = local): Promise<Scene> {
  const world = createWorld(user);
  const receiver = await receive();
  const whole: NewWebhook = { url: receiver.url, events: ['version.published'], ...given };
  const made = await createWebhook(world.registry, 'acme', whole, author);
  return { ...world, receiver, made, id: made.webhook.value.id, deliveries: deliver(world.registry) };
}

/** The deliveries of an endpoint, oldest first. */
export async function log(registry: Registry, id: string): Promise<Delivery[]> {
  const names = await Array.fromAsync(registry.refs.list(`deliveries/acme/${id}/`));
  return Promise.all(names.map(async (name) => (await registry.refs.read<Delivery>(name))!.value));
}

/** The ends of the subjects that an endpoint was sent: versions. */
export const subjects = ({ received }: Receiver) => received.map(({ event }) => event.subject.slice(-5));
