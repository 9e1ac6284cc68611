import { entryKey } from '../../src/store/log/entry.ts';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import type { Delivery } from '../../src/model/event.ts';
import { delays, redeliver } from '../../src/events/delivery.ts';
import { changeWebhook, createWebhook, deleteWebhook, findWebhook, listWebhooks } from '../../src/events/endpoints.ts';
import { isSigned } from '../servers/receiver.ts';
import {
  author,
  begin,
  day,
  deliver,
  hour,
  local,
  log,
  minute,
  publishVersion,
  receive,
  subjects,
} from './webhook-scene.ts';
import { createWorld } from '../registry/world.ts';

describe('delivery', () => {
  test('what is published arrives signed, as a CloudEvent, once, without anybody asking', async () => {
    const { registry, receiver, made, deliveries, id } = await begin();
    await publishVersion(registry, '1.0.0');
    const [received] = await receiver.got(1);
    expect(isSigned(received!, made.secret)).toBe(true);
    expect(isSigned({ ...received!, body: received!.body.replace('1.0.0', '6.6.6') }, made.secret)).toBe(false);
    expect(received!.headers).toMatchObject({
      'content-type': 'application/cloudevents+json',
      'webhook-id': received!.event.id,
      'webhook-timestamp': String(registry.now().getTime() / 1000),
    });
    expect(received!.event).toMatchObject({ type: 'dev.stele.version.published', subject: '@acme/apis/pay@1.0.0' });
    await deliveries.poke();
    expect(receiver.received).toHaveLength(1);
    expect(await log(registry, id)).toMatchObject([
      { state: 'delivered', nextAt: null, attempts: [{ status: 204, error: null }] },
    ]);
  });

  test('what happened before there was an endpoint is not sent', async () => {
    const world = createWorld(local);
    await publishVersion(world.registry, '1.0.0');
    world.pass(1);
    const receiver = await receive();
    await createWebhook(world.registry, 'acme', { url: receiver.url, events: ['version.published'] }, author);
    const deliveries = deliver(world.registry);
    await deliveries.poke();
    expect(receiver.received).toEqual([]);
    await publishVersion(world.registry, '1.1.0');
    await deliveries.poke();
    expect(subjects(receiver)).toEqual(['1.1.0']);
  });

  test('an endpoint that comes later is not sent what others were', async () => {
    const { registry, deliveries, receiver, pass } = await begin();
    await publishVersion(registry, '1.0.0');
    await deliveries.poke();
    pass(1000);
    const late = await receive();
    await createWebhook(registry, 'acme', { url: late.url, events: ['version.published'] }, author);
    await publishVersion(registry, '1.1.0');
    await deliveries.poke();
    expect([subjects(receiver), subjects(late)]).toEqual([['1.0.0', '1.1.0'], ['1.1.0']]);
  });

  test('what another process published is found', async () => {
    const { another, receiver, deliveries, pass } = await begin();
    await publishVersion(another(), '1.0.0');
    pass(500);
    await deliveries.poke();
    expect(subjects(receiver)).toEqual(['1.0.0']);
  });

  test('an endpoint is sent the types that it wants, about the resources that its key covered', async () => {
    const { registry, receiver, deliveries } = await begin({ events: ['latest.moved'], resources: ['apis/pay-*'] });
    await publishVersion(registry, '1.0.0', 'pay-in');
    await publishVersion(registry, '1.0.0', 'ledger');
    await deliveries.poke();
    expect(receiver.received.map(({ event }) => `${event.type} ${event.subject}`)).toEqual([
      'dev.stele.latest.moved @acme/apis/pay-in',
    ]);
  });

  test('what was published before a crash, and not written down, is sent by the next process', async () => {
    const { registry, bucket, receiver, deliveries, another, id } = await begin();
    let isDown = true;
    const when = (key: string) => isDown && key.startsWith('work/deliveries/');
    bucket.fault('putIfAbsent', 'fail', { count: Infinity, when });
    await publishVersion(registry, '1.0.0');
    await deliveries.poke();
    await deliveries.close();
    expect(receiver.received).toEqual([]);
    expect(await log(registry, id)).toEqual([]);
    isDown = false;
    await deliver(another()).poke();
    expect(subjects(receiver)).toEqual(['1.0.0']);
  });

  test('what was written down and not sent before a crash is sent by the next process', async () => {
    const { registry, receiver, deliveries, another, pass, id } = await begin();
    receiver.answer = () => ({ status: 503 });
    await publishVersion(registry, '1.0.0');
    await deliveries.poke();
    await deliveries.close();
    receiver.answer = () => ({ status: 200 });
    pass(minute);
    await deliver(another()).poke();
    expect(subjects(receiver)).toEqual(['1.0.0', '1.0.0']);
    expect(receiver.received[1]!.event).toEqual(receiver.received[0]!.event);
    expect((await log(registry, id))[0]).toMatchObject({
      state: 'delivered',
      attempts: [{ status: 503 }, { status: 200 }],
    });
  });

  test('what is long past the mark, and still to be tried again, is tried by the next process', async () => {
    const { registry, bucket, receiver, deliveries, another, pass } = await begin();
    receiver.answer = () => ({ status: 503 });
    await publishVersion(registry, '1.0.0');
    for (let n = 0; n < 4; n++) {
      await deliveries.poke();
      pass(30 * minute);
    }
    await deliveries.close();
    receiver.answer = () => ({ status: 200 });
    const tried = receiver.received.length;
    pass(3 * hour);
    let isDown = true;
    const when = (key: string) => isDown && key.startsWith('work/deliveries/');
    bucket.fault('list', 'fail', { count: Infinity, when });
    const next = deliver(another());
    await next.poke();
    expect(receiver.received).toHaveLength(tried);
    isDown = false;
    await next.poke();
    expect(receiver.received).toHaveLength(tried + 1);
  });

  test('an attempt whose end was not written down is made again when its lease is over', async () => {
    const { registry, bucket, receiver, deliveries, another, pass } = await begin();
    let isDown = false;
    const when = (key: string) => isDown && key.startsWith('work/deliveries/');
    bucket.fault('putIfAbsent', 'fail', { count: Infinity, when });
    receiver.answer = () => {
      isDown = true;
      return { status: 200 };
    };
    await publishVersion(registry, '1.0.0');
    await deliveries.poke();
    await deliveries.close();
    isDown = false;
    receiver.answer = () => ({ status: 200 });
    const next = deliver(another());
    await next.poke();
    expect(receiver.received).toHaveLength(1);
    pass(2 * minute);
    await next.poke();
    expect(receiver.received).toHaveLength(2);
  });

  test('a clock that is set back by a week holds up no delivery, neither claimed nor to be tried again', async () => {
    const { bucket, registry, receiver, deliveries, another, pass } = await begin();
    receiver.answer = () => ({ status: 503 });
    await publishVersion(registry, '1.0.0');
    await deliveries.poke();
    expect(receiver.received).toHaveLength(1);
    pass(-7 * day);
    await deliveries.poke();
    expect(receiver.received).toHaveLength(2);

    let isDown = false;
    bucket.fault('putIfAbsent', 'fail', {
      count: Infinity,
      when: (key) => isDown && key.startsWith('work/deliveries/'),
    });
    receiver.answer = () => {
      isDown = true;
      return { status: 503 };
    };
    pass(hour);
    await deliveries.poke();
    await deliveries.close();
    expect(receiver.received).toHaveLength(3);
    isDown = false;
    receiver.answer = () => ({ status: 200 });
    pass(-7 * day);
    await deliver(another()).poke();
    expect(receiver.received).toHaveLength(4);
  });

  test('several processes on one bucket deliver each event once', async () => {
    const { registry, receiver, deliveries, another } = await begin();
    const others = [deliver(another()), deliver(another())];
    const versions = Array.from({ length: 20 }, (_, n) => `1.${n}.0`);
    await Promise.all([
      ...versions.map((version) => publishVersion(registry, version)),
      ...[deliveries, ...others].map((each) => each.poke()),
    ]);
    await Promise.all([deliveries, ...others].map((each) => each.poke()));
    const ids = receiver.received.map(({ event }) => event.id);
    expect(ids).toHaveLength(20);
    expect(new Set(ids).size).toBe(20);
  });

  test('older events are begun first', async () => {
    const { registry, receiver, deliveries, pass } = await begin();
    receiver.answer = () => ({ status: 500 });
    for (const version of ['1.0.0', '1.1.0', '1.2.0', '1.3.0', '1.4.0']) {
      await publishVersion(registry, version);
      await deliveries.poke();
      pass(1);
    }
    receiver.received.splice(0);
    receiver.answer = async () => {
      await new Promise((resolve) => setImmediate(resolve));
      return { status: 204 };
    };
    pass(minute);
    await deliveries.poke();
    expect(subjects(receiver).slice(0, 4).sort()).toEqual(['1.0.0', '1.1.0', '1.2.0', '1.3.0']);
    expect(subjects(receiver)[4]).toBe('1.4.0');
  });

  test('a slow endpoint holds nobody up, and is sent four at a time', async () => {
    const { registry, receiver: slow } = await begin();
    const quick = await receive();
    await createWebhook(registry, 'acme', { url: quick.url, events: ['version.published'] }, author);
    const release = Promise.withResolvers<void>();
    let [now, most] = [0, 0];
    slow.answer = async () => {
      most = Math.max(most, ++now);
      await release.promise;
      now--;
      return { status: 204 };
    };
    for (let n = 0; n < 10; n++) await publishVersion(registry, `1.${n}.0`);
    await quick.got(10);
    await slow.got(4);
    expect(slow.received).toHaveLength(4);
    release.resolve();
    await slow.got(10);
    expect(most).toBe(4);
  });

  test('the log says that an endpoint did not answer in time', async () => {
    const world = createWorld(local);
    const receiver = await receive();
    const forever = Promise.withResolvers<never>();
    receiver.answer = () => forever.promise;
    const { webhook } = await createWebhook(world.registry, 'acme', { url: receiver.url }, author);
    await publishVersion(world.registry, '1.0.0');
    await deliver(world.registry, { timeLimit: 100 }).poke();
    const [delivery] = await log(world.registry, webhook.value.id);
    expect(delivery!.attempts[0]!.error).toBe('The endpoint did not answer within 0.1 s.');
  });

  test.for([
    ['nothing', ''],
    ['garbage', '\0\xff no HTTP at all\r\n\r\n'],
    ['another protocol', 'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n'],
    ['a hint and no answer', 'HTTP/1.1 103 Early Hints\r\n\r\n'],
  ] as const)('an answer that is %s is a failure, and hangs nobody', async ([, bytes]) => {
    const server = createServer((socket) => {
      socket.on('error', () => undefined).once('data', () => socket.end(bytes, 'latin1'));
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const world = createWorld(local);
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const { webhook } = await createWebhook(world.registry, 'acme', { url, events: ['version.published'] }, author);
    await publishVersion(world.registry, '1.0.0');
    await deliver(world.registry).poke();
    server.close();
    const [delivery] = await log(world.registry, webhook.value.id);
    expect(delivery).toMatchObject({ state: 'pending', attempts: [{ status: null, error: expect.any(String) }] });
    expect(delivery!.attempts[0]!.error).not.toContain('within');
  });

  test('an answer of any size is not waited for', async () => {
    const { registry, receiver, deliveries, id } = await begin();
    receiver.answer = () => ({ status: 200, body: Buffer.alloc(20 * 1024 * 1024) });
    await publishVersion(registry, '1.0.0');
    await deliveries.poke();
    expect((await log(registry, id))[0]).toMatchObject({ state: 'delivered' });
  });
});

describe('failure', () => {
  test('it is tried again over three days, ever more rarely, and then no more', async () => {
    const { registry, receiver, deliveries, pass, id } = await begin();
    receiver.answer = () => ({ status: 500 });
    await publishVersion(registry, '1.0.0');
    await deliveries.poke();
    for (const [index, wait] of delays.entries()) {
      expect(receiver.received).toHaveLength(index + 1);
      pass(wait - 1);
      await deliveries.poke();
      expect(receiver.received).toHaveLength(index + 1);
      pass(1 + wait / 5);
      await deliveries.poke();
    }
    expect(receiver.received).toHaveLength(10);
    const [delivery] = await log(registry, id);
    expect(delivery).toMatchObject({ state: 'failed', nextAt: null, tries: 10 });
    expect(delivery!.attempts.at(-1)).toMatchObject({
      status: 500,
      error: 'The endpoint answered 500 instead of 2xx.',
    });
    pass(10 * day);
    await deliveries.poke();
    expect(receiver.received).toHaveLength(10);
  });

  test('what failed can be asked for again, and carries the same id', async () => {
    const { registry, receiver, deliveries, id } = await begin();
    receiver.answer = () => ({ status: 500 });
    await publishVersion(registry, '1.0.0');
    await deliveries.poke();
    receiver.answer = () => ({ status: 200 });
    const [{ event }] = (await log(registry, id)) as [Delivery];
    await redeliver(registry, 'acme', id, event.id, author);
    await receiver.got(2);
    await deliveries.poke();
    expect(receiver.received.map(({ headers }) => headers['webhook-id'])).toEqual([event.id, event.id]);
    expect((await log(registry, id))[0]).toMatchObject({
      state: 'delivered',
      tries: 1,
      attempts: [{ status: 500 }, {}],
    });
    await redeliver(registry, 'acme', id, event.id, author);
    await receiver.got(3);
  });

  test('410 disables the endpoint, at once', async () => {
    const { registry, receiver, deliveries, pass, id } = await begin();
    receiver.answer = () => ({ status: 410 });
    await publishVersion(registry, '1.0.0');
    await deliveries.poke();
    const { value } = (await findWebhook(registry, 'acme', id))!;
    expect(value).toMatchObject({ state: 'disabled', reason: 'The endpoint answered 410 Gone.' });
    expect((await log(registry, id))[0]).toMatchObject({ state: 'failed' });
    pass(day);
    await publishVersion(registry, '1.1.0');
    await deliveries.poke();
    expect(receiver.received).toHaveLength(1);

    // Enabled again, it is sent what happens from then on.
    pass(1);
    receiver.answer = () => ({ status: 204 });
    await changeWebhook(registry, 'acme', id, { state: 'enabled' }, author);
    pass(1);
    await publishVersion(registry, '1.2.0');
    await deliveries.poke();
    expect(subjects(receiver)).toEqual(['1.0.0', '1.2.0']);
  });

  test('an endpoint that takes nothing for five days is disabled; one that took something between is not', async () => {
    const { registry, receiver, deliveries, pass, id } = await begin();
    let status = 500;
    receiver.answer = () => ({ status });
    const state = async () => (await findWebhook(registry, 'acme', id))!.value;
    const publishDaily = async (days: number) => {
      for (let n = 0; n < days; n++) {
        pass(day);
        await publishVersion(registry, `${registry.now().getTime()}.0.0`);
        await deliveries.poke();
      }
    };
    await publishDaily(5);
    status = 204;
    await publishDaily(1);
    status = 500;
    await publishDaily(5);
    expect(await state()).toMatchObject({ state: 'enabled' });
    await publishDaily(2);
    expect(await state()).toMatchObject({ state: 'disabled', reason: expect.stringContaining('has succeeded since') });
  });

  test('what waited for an endpoint that was disabled by hand fails, and none of a deleted one is sent', async () => {
    const { registry, receiver, deliveries, pass, id } = await begin();
    receiver.answer = () => ({ status: 500 });
    await publishVersion(registry, '1.0.0');
    await deliveries.poke();
    await changeWebhook(registry, 'acme', id, { state: 'disabled' }, author);
    pass(hour);
    await deliveries.poke();
    expect((await log(registry, id))[0]).toMatchObject({
      state: 'failed',
      attempts: [{}, { error: 'The endpoint is disabled.' }],
    });
    await deleteWebhook(registry, 'acme', id, author);
    pass(hour);
    await publishVersion(registry, '2.0.0');
    await deliveries.poke();
    expect(receiver.received).toHaveLength(1);
    expect(await listWebhooks(registry, 'acme')).toEqual([]);
  });

  test('a damaged log of another organization holds nothing up', async () => {
    const { bucket, receiver, deliveries, another, pass } = await begin();
    await bucket.putIfAbsent(entryKey('@bad', 1), Buffer.from('not JSON'));
    await publishVersion(another(), '1.0.0');
    pass(500);
    await deliveries.poke();
    expect(subjects(receiver)).toEqual(['1.0.0']);
  });

  test('a damaged delivery holds up no other, and is logged once', async () => {
    const { registry, bucket, receiver, deliveries, pass, another, id, events } = await begin();
    receiver.answer = () => ({ status: 500 });
    await publishVersion(registry, '1.0.0');
    await deliveries.poke();
    await deliveries.close();
    const [delivery] = await log(registry, id);
    await bucket.putIfAbsent(
      `work/deliveries/acme/${id}/${delivery!.event.id}/999999999999000`,
      Buffer.from('no JSON'),
    );
    pass(minute);
    receiver.received.splice(0);
    await publishVersion(registry, '1.1.0');
    const next = deliver(another());
    await next.poke();
    pass(minute);
    await next.poke();
    expect(subjects(receiver)).toEqual(['1.1.0', '1.1.0']);
    expect(events.filter(({ event }) => event === 'delivery not tried')).toHaveLength(1);
  });

  test('a store that fails for a while delays, and loses nothing', async () => {
    const { registry, bucket, receiver, deliveries, pass } = await begin();
    let luck = 0;
    const when = (key: string) => /refs\/(?:deliveries|event-marks|webhook)/.test(key) && ++luck % 3 === 0;
    for (const method of ['get', 'list', 'putIfAbsent'] as const) bucket.fault(method, 'fail', { count: 60, when });
    for (let n = 0; n < 10; n++) await publishVersion(registry, `1.${n}.0`);
    for (let n = 0; n < 100; n++) {
      await deliveries.poke();
      pass(minute);
    }
    expect([...new Set(subjects(receiver))].sort()).toEqual(Array.from({ length: 10 }, (_, n) => `1.${n}.0`));
  });
});
