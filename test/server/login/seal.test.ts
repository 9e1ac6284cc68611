import { EncryptJWT, UnsecuredJWT } from 'jose';
import { describe, expect, test } from 'vitest';
import { createSessions, createSeal } from '../../../src/server/login/session.ts';
import { createTestRegistry } from '../registry.ts';

const secret = 'a secret of at least thirty-two xxx';
let time = Date.parse('2026-01-01T00:00:00Z');

process.env['SEAL_SECRET'] = secret;

function sealOf({ lines = secret, purpose = 'session' } = {}) {
  const registry = createTestRegistry();
  const config = { ...registry.config, secretKey: { env: 'SEAL_SECRET' } };
  process.env['SEAL_SECRET'] = lines;
  return createSeal({ ...registry, config, expiryTime: () => new Date(time) }, purpose);
}

function inSeconds(seconds: number): Date {
  return new Date(time + seconds * 1000);
}

describe('a sealed value', () => {
  test('is read back, until it ends', async () => {
    const text = sealOf().seal({ id: 1 }, inSeconds(60));
    for (const part of text.split('.')) expect(Buffer.from(part, 'base64url').toString('latin1')).not.toContain('"id"');
    expect(sealOf().open(text)).toEqual({ id: 1 });
    time += 59_000;
    expect(sealOf().open(text)).toEqual({ id: 1 });
    time += 1_000;
    expect(sealOf().open(text)).toBeNull();
  });

  test('belongs to one purpose, one registry and one secret', async () => {
    const text = sealOf().seal({ id: 1 }, inSeconds(60));
    expect(sealOf({ purpose: 'sign-in' }).open(text)).toBeNull();
    expect(sealOf({ purpose: 'session https://b.test' }).open(text)).toBeNull();
    expect(sealOf({ lines: secret.replace('a', 'b') }).open(text)).toBeNull();
  });

  test('outlives its secret while that is still named', async () => {
    const text = sealOf().seal({ id: 1 }, inSeconds(60));
    const next = secret.replaceAll('x', 'y');
    expect(sealOf({ lines: `${next}\n${secret}` }).open(text)).toEqual({ id: 1 });
    expect(sealOf({ lines: next }).open(text)).toBeNull();
    const renewed = sealOf({ lines: `${next}\n${secret}\n` }).seal({ id: 2 }, inSeconds(60));
    expect(sealOf({ lines: next }).open(renewed)).toEqual({ id: 2 });
  });

  test('changed at any place does not open', async () => {
    const text = sealOf().seal({ id: 1 }, inSeconds(60));
    for (let at = 0; at < text.length; at += 7) {
      const other = text[at] === 'A' ? 'Q' : 'A';
      expect(sealOf().open(text.slice(0, at) + other + text.slice(at + 1))).toBeNull();
    }
    expect(sealOf().open(text.slice(0, -1))).toBeNull();
    expect(sealOf().open(`${text}A`)).toBeNull();
  });

  test.each(['', '.', '....', 'a.b.c.d.e', 'é', '%00', '{}', '"'])('%j is none', async (text) => {
    expect(sealOf().open(text)).toBeNull();
  });

  test('cannot be made without the secret', async () => {
    const claims = { value: { id: 1 }, exp: Math.floor(time / 1000) + 60 };
    const password = new TextEncoder().encode(secret);
    const slow = new EncryptJWT(claims).setProtectedHeader({ alg: 'PBES2-HS256+A128KW', enc: 'A256GCM' });
    expect(sealOf().open(await slow.encrypt(password))).toBeNull();
    const direct = new EncryptJWT(claims).setProtectedHeader({ alg: 'dir', enc: 'A256GCM' });
    expect(sealOf().open(await direct.encrypt(password.slice(0, 32)))).toBeNull();
    expect(sealOf().open(new UnsecuredJWT(claims).encode())).toBeNull();
  });

  test.each(['', ' ', 'x'.repeat(31), `${'x'.repeat(40)}\nshort`])('a secret of %j is refused', (text) => {
    expect(() => sealOf({ lines: text }).seal({}, inSeconds(60))).toThrow(/at least 32 characters|is not set/);
  });
});

test('a session of an older version, which has no token, is none', async () => {
  const registry = createTestRegistry();
  const sessions = createSessions(registry, sealOf(), 60);
  const read = async (session: object) => {
    const text = sealOf().seal({ id: 'x', expiresAt: inSeconds(60).toISOString(), ...session }, inSeconds(60));
    return sessions.read({ headers: { cookie: `__Host-stele-session=${text}` } });
  };
  expect(await read({ token: 'abc' })).toMatchObject({ id: 'x', token: 'abc' });
  expect(await read({})).toBeNull();
});
