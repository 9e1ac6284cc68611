import { expect, test } from 'vitest';
import { authenticateKey, createKey, hashOfKey, knownPrincipal } from '../../src/registry/keys/keys.ts';
import { findPreview, keepPreview } from '../../src/store/previews.ts';
import type { Registry } from '../../src/registry/registry.ts';
import { createWorld } from './world.ts';

const author = { actor: 'operator:test', origin: null };
const hour = 3_600_000;

test('with the wall clock set back, what has expired stays so, and what is new lasts as long as ever', async () => {
  const world = createWorld();
  const { registry } = world;
  const lasting = (milliseconds: number) => new Date(registry.expiryTime().getTime() + milliseconds).toISOString();
  const make = (expiresAt: string) =>
    createKey(registry, { org: 'acme', name: 'ci', scopes: ['read'], expiresAt }, author);
  const known = await make(lasting(hour));
  const unknown = await make(lasting(hour));
  expect(await authenticateKey(registry, known.text)).not.toBeNull();
  const knownNow = () => knownPrincipal(registry, hashOfKey(known.text));
  expect(knownNow()).not.toBeNull();
  const { token } = await keepPreview(registry, 'acme', 1 / 24, Buffer.from('{}'));
  expect(await findPreview(registry, token)).not.toBeNull();

  world.pass(hour);
  world.step(-2 * hour);
  // The first brings what is at hand up to date.
  expect(await authenticateKey(registry, known.text)).toBeNull();
  expect(knownNow()).toBeNull();
  expect(await authenticateKey(registry, unknown.text)).toBeNull();
  expect(await findPreview(registry, token)).toBeNull();

  const young = await make(lasting(hour));
  world.pass(hour - 1);
  expect(await authenticateKey(registry, young.text)).not.toBeNull();
  world.pass(1);
  expect(await authenticateKey(registry, young.text)).toBeNull();
});

test('a clock that is set forward counts at once, and one that is set back is told once', () => {
  const { registry, step, pass, events } = createWorld();
  const begin = registry.expiryTime().getTime();
  step(hour);
  expect(registry.expiryTime().getTime()).toBe(begin + hour);
  step(-30_000);
  pass(10);
  expect(registry.expiryTime().getTime()).toBe(begin + hour + 10);
  expect(events).toEqual([]);
  step(-hour);
  for (let times = 0; times < 3; times++) registry.expiryTime();
  expect(registry.expiryTime().getTime()).toBe(begin + hour + 10);
  expect(events).toEqual([{ level: 'warn', event: 'clock set back', fields: { seconds: 3630 } }]);
  step(2 * hour);
  expect(registry.expiryTime().getTime()).toBe(begin + 2 * hour - 30_000 + 10);
});

test('with the wall clock set back over a restart, what has expired stays so', async () => {
  const world = createWorld();
  const { registry } = world;
  const expiresAt = new Date(registry.expiryTime().getTime() + hour).toISOString();
  const given = { org: 'acme', name: 'ci', scopes: ['read'] as const };
  const { text } = await createKey(registry, { ...given, scopes: ['read'], expiresAt }, author);
  const { text: lasting } = await createKey(registry, { ...given, scopes: ['read'], expiresAt: null }, author);
  world.pass(2 * hour);
  const write = (at: Registry) =>
    at.refs.update('organizations/acme', () => ({ value: {}, change: { ...author, action: 'change' } }));
  await write(registry);
  world.step(-1.5 * hour);
  const next = world.another();
  await next.refs.examine();
  expect(await authenticateKey(next, text)).toBeNull();
  expect(await authenticateKey(next, lasting)).not.toBeNull();
  expect(world.events).toEqual([{ level: 'warn', event: 'clock set back', fields: { seconds: 5400 } }]);
  // What this process writes with its own clock changes nothing.
  await write(next);
  world.pass(1000);
  expect(await authenticateKey(next, text)).toBeNull();
});

test('a clock that was ahead ends keys early until something is written with the right one', async () => {
  const world = createWorld();
  const write = (at: Registry) =>
    at.refs.update('organizations/acme', () => ({ value: {}, change: { ...author, action: 'change' } }));
  await write(world.registry);
  const right = world.registry.now().getTime();
  world.step(24 * hour);
  await write(world.registry);
  world.step(-24 * hour);
  const next = world.another();
  await next.refs.examine();
  expect(next.expiryTime().getTime()).toBe(right + 24 * hour);
  await write(next);
  const healed = world.another();
  await healed.refs.examine();
  expect(healed.expiryTime().getTime()).toBe(right);
});
