import { expect, test } from 'vitest';
import { Webhook as Verifier } from 'standardwebhooks';
import { openDeliveries } from '../../src/events/deliveries.ts';
import { createKey, revokeKey } from '../../src/registry/keys/keys.ts';
import type { Registry } from '../../src/registry/registry.ts';
import { openReceiver } from '../servers/receiver.ts';
import { createTestRegistry, publishVersion } from '../server/registry.ts';

const author = { actor: 'operator:test', origin: 'cli' };
const secret = `whsec_${Buffer.from('a secret of twenty-four!').toString('base64')}`;

async function deliver(...registries: Registry[]): Promise<void> {
  const all = registries.map((registry) => openDeliveries(registry, 'https://registry.test', { interval: 3_600_000 }));
  await Promise.all(all.map((each) => each.poke()));
  await Promise.all(all.map((each) => each.close()));
}

test("the operator's endpoint gets the audit trail of every organization, signed and once", async () => {
  await using receiver = await openReceiver();
  process.env['AUDIT_SECRET_OF_TEST'] = secret;
  const audit = { url: receiver.url, secret: { env: 'AUDIT_SECRET_OF_TEST' } };
  const registry = createTestRegistry({ webhooks: { allowPrivateAddresses: true, audit } });
  await publishVersion(registry, '@acme/apis/pay', '1.0.0');
  await publishVersion(registry, '@globex/apis/ship', '1.0.0');
  const { key } = await createKey(registry, { org: 'acme', name: 'ci', scopes: ['read'] }, author);
  await deliver(registry, registry);
  await revokeKey(registry, 'acme', key.id, author);
  await deliver(registry);
  await deliver(registry);

  const { received } = receiver;
  expect(new Set(received.map(({ event }) => event.id)).size).toBe(received.length);
  const said = received.map(({ event }) => [event.type, event.source, event.data['action'], event.subject]);
  for (const [org, action, subject] of [
    ['acme', 'publish 1.0.0', '@acme/apis/pay'],
    ['globex', 'publish 1.0.0', '@globex/apis/ship'],
    ['acme', 'create key', key.id],
    ['acme', 'revoke key', key.id],
  ] as const)
    expect(said).toContainEqual(['dev.stele.audit', `https://registry.test/@${org}`, action, subject]);
  const last = received.at(-1)!;
  expect(new Verifier(secret).verify(last.body, last.headers as Record<string, string>)).toEqual(last.event);
  expect(last.event.data).toMatchObject({ organization: 'acme', actor: author.actor, origin: 'cli' });
  expect(received.every(({ body }) => !body.includes(key.hash))).toBe(true);
});
