import { createServer, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import { type Attempt, deliveryRef } from '../../src/model/event.ts';
import { claimDelivery, createDelivery, finishDelivery, redeliver } from '../../src/events/delivery.ts';
import { changeWebhook, createWebhook, disableWebhook, rotateSecret, secretsAt } from '../../src/events/endpoints.ts';
import { eventsSince } from '../../src/events/record-events.ts';
import { sendEvent } from '../../src/events/send-event.ts';
import { tryDelivery } from '../../src/events/deliveries.ts';
import { createWorld } from '../registry/world.ts';
import { author, base, day, hour, local, minute, publishVersion } from './webhook-scene.ts';

const name = 'resources/acme/apis/pay';

describe('the events of a resource', () => {
  test('are told oldest first, and none that was told before', async () => {
    const { registry } = createWorld(local);
    const labels = async (from: number) => {
      const { happened } = await eventsSince(registry, base, name, { from, since: 0 });
      const published = happened.filter(({ event }) => event.type.endsWith('version.published'));
      return published.map(({ event }) => event.subject.slice(-5));
    };
    await publishVersion(registry, '1.0.0');
    await publishVersion(registry, '1.1.0');
    const { newest } = await eventsSince(registry, base, name, { from: 0, since: 0 });
    await publishVersion(registry, '1.2.0');
    expect(await labels(0)).toEqual(['1.0.0', '1.1.0', '1.2.0']);
    expect(await labels(newest)).toEqual(['1.2.0']);
  });
});

/** A delivery of the first event to an endpoint that nobody reaches. */
async function createScene(url = 'http://127.0.0.1:1/') {
  const world = createWorld(local);
  const { registry } = world;
  const { webhook } = await createWebhook(registry, 'acme', { url }, author);
  await publishVersion(registry, '1.0.0');
  const { happened } = await eventsSince(registry, base, name, { from: 0, since: 0 });
  const { event } = happened[0]!;
  await createDelivery(registry, webhook.value, event);
  const { id } = webhook.value;
  return { ...world, webhook: webhook.value, event, id, ref: deliveryRef('acme', id, event.id) };
}

function attemptAt(at: Date, error: string | null = 'No.'): Attempt {
  return { at: at.toISOString(), status: null, milliseconds: 1, error };
}

describe('a delivery', () => {
  test('that another process has taken over is not changed by a failure of the first', async () => {
    const { registry, pass, ref } = await createScene();
    expect((await claimDelivery(registry, ref, 'one')).state).toBe('ours');
    pass(minute);
    expect((await claimDelivery(registry, ref, 'two')).state).toBe('ours');
    const late = await finishDelivery(registry, ref, 'one', attemptAt(registry.now()), false);
    expect(late).toMatchObject({ state: 'pending', tries: 0, attempts: [], claim: { by: 'two' } });
    const done = await finishDelivery(registry, ref, 'one', attemptAt(registry.now(), null), false);
    expect(done).toMatchObject({ state: 'delivered', claim: null });
  });

  test('keeps its newest twenty attempts, and counts them anew when it is sent again', async () => {
    const { registry, pass, ref, id, event } = await createScene();
    let last = null;
    for (let n = 0; n < 23; n++) {
      await redeliver(registry, 'acme', id, event.id, author);
      await claimDelivery(registry, ref, 'one');
      last = await finishDelivery(registry, ref, 'one', attemptAt(registry.now(), `No ${n}.`), false);
      pass(day);
    }
    expect(last!.tries).toBe(1);
    expect(last!.attempts).toHaveLength(20);
    expect(last!.attempts.map(({ error }) => error)).toContain('No 22.');
  });
});

describe('an endpoint', () => {
  test('whose secret was replaced has both for 24 hours', async () => {
    const { registry, webhook } = await createScene();
    const [before] = secretsAt(registry, webhook, registry.now());
    const { webhook: rotated, secret } = await rotateSecret(registry, 'acme', webhook.id, author);
    const at = (milliseconds: number) =>
      secretsAt(registry, rotated.value, new Date(registry.now().getTime() + milliseconds));
    expect(at(24 * hour - 1)).toEqual([secret, before]);
    expect(at(24 * hour)).toEqual([secret]);
  });

  test('that is enabled again has five days to accept something, however long it failed before', async () => {
    const { registry, pass, webhook, id, event } = await createScene();
    const state = async () => {
      await redeliver(registry, 'acme', id, event.id, author);
      await tryDelivery(
        registry,
        'one',
        { org: 'acme', webhook: id, event: event.id },
        { url: 'https://registry.test' },
      );
      return (await registry.refs.read<typeof webhook>(`webhooks/acme/${id}`))!.value.state;
    };
    expect(await state()).toBe('enabled');
    pass(6 * day);
    await disableWebhook(registry, webhook, 'By hand.');
    await changeWebhook(registry, 'acme', id, { state: 'enabled' }, author);
    pass(day);
    expect(await state()).toBe('enabled');
    pass(4 * day);
    expect(await state()).toBe('disabled');
  });

  test('whose answer never ends has answered after its first 64 KB', async () => {
    const write = (response: ServerResponse): void => {
      while (response.write(Buffer.alloc(16_384)));
    };
    const server = createServer((request, response) => {
      request.resume();
      response.on('drain', () => write(response)).on('error', () => undefined);
      write(response);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { registry, webhook, event } = await createScene(
      `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    );
    expect(await sendEvent(registry, webhook, event, { timeLimit: 3_600_000 })).toMatchObject({
      status: 200,
      error: null,
    });
    server.close();
  });
});
