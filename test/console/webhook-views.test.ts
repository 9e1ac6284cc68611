import { expect, test } from 'vitest';
import { openDeliveries } from '../../src/events/deliveries.ts';
import { openReceiver } from '../servers/receiver.ts';
import { createTestRegistry, publishVersion } from '../server/registry.ts';
import { unlimited } from '../server/v1/api.ts';
import { openConsole } from './harness.ts';

test('the page of an endpoint says what it answered, how often it was tried, and why it is disabled', async () => {
  const registry = createTestRegistry({ ...unlimited, webhooks: { allowPrivateAddresses: true } });
  await using server = await openConsole(registry);
  const admin = await server.signIn();
  await using receiver = await openReceiver();
  const answers: number[] = [];
  receiver.answer = () => ({ status: answers.shift()! });
  await admin.send('/console/acme/webhooks/new', { '/url': receiver.url, '/events': 'version.published' });
  const [, at] = /href="(\/console\/acme\/webhooks\/(?!new)[^"]+)"/.exec(
    (await admin.get('/console/acme/webhooks')).text,
  )!;
  const deliveries = openDeliveries(registry, server.url);
  const words = async () => (await admin.get(at!)).text.replaceAll(/<[^>]*>|\s+/g, ' ').replaceAll(/ +/g, ' ');
  try {
    answers.push(500);
    await publishVersion(registry, '@acme/apis/pay', '1.0.0');
    await deliveries.poke();
    expect(await words()).toMatch(
      /pending next attempt \d{4}-\d\d-\d\d \d\d:\d\d UTC The endpoint answered 500 instead of 2xx\. Deliver again/,
    );
    const [redeliver] = /\/console\/acme\/webhooks\/[^"]+\/redeliver/.exec((await admin.get(at!)).text)!;
    answers.push(200);
    expect((await admin.send(redeliver)).status).toBe(303);
    await deliveries.poke();
    expect(await words()).toMatch(/delivered 200 attempt 2, \d{4}-\d\d-\d\d \d\d:\d\d UTC Deliver again/);

    answers.push(410);
    await admin.send(redeliver);
    await deliveries.poke();
    expect(await words()).toContain('State disabled The endpoint answered 410 Gone.');
    // It would be refused.
    expect((await admin.get(at!)).text).not.toContain('/redeliver');
  } finally {
    await deliveries.close();
  }
});
