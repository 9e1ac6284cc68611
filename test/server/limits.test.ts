import type { IncomingMessage } from 'node:http';
import { describe, expect, test } from 'vitest';
import { createCount, leftOf, type Peers, clientAddress, limitedName } from '../../src/server/allowance.ts';

function createAllowance(
  kind: string,
  { limit, window }: { limit: number; window: number },
  among: Parameters<typeof createCount>[2],
) {
  const count = createCount(kind, window * 1000, among);
  return (name: string) => leftOf(limit, count(name));
}

const requestFrom = (remoteAddress: string, forwarded?: string) =>
  ({
    socket: { remoteAddress },
    headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded },
  }) as unknown as IncomingMessage;

describe('the client is', () => {
  test.each([
    ['who connects', undefined, 0, '10.0.0.1'],
    ['nobody that it says itself', '1.1.1.1', 0, '10.0.0.1'],
    ['whom our proxy names', '1.1.1.1', 1, '1.1.1.1'],
    ['whom our proxy names, not whom the client does', '6.6.6.6, 1.1.1.1', 1, '1.1.1.1'],
    ['whom the outer of two proxies names', '6.6.6.6, 1.1.1.1, 10.0.0.2', 2, '1.1.1.1'],
    ['the first that is named, where there are fewer', '1.1.1.1', 3, '1.1.1.1'],
    ['who connects, where none is named', undefined, 1, '10.0.0.1'],
    ['not an empty name', ' , ', 1, '10.0.0.1'],
  ])('%s', (_name, forwarded, proxies, expected) => {
    expect(clientAddress(requestFrom('10.0.0.1', forwarded), proxies)).toBe(expected);
  });

  test('one with its whole IPv6 network', () => {
    const name = (address: string) => limitedName(requestFrom(address), 0);
    expect(name('2001:db8:1:1::1')).toBe(name('2001:db8:1:1:ffff::2'));
    expect(name('2001:db8:1:1::1')).not.toBe(name('2001:db8:2:1::1'));
  });
});

test('an allowance is for each name and each window', () => {
  let time = 0;
  const allowance = createAllowance('a', { limit: 2, window: 10 }, { monotonic: () => time });
  expect(allowance('a')).toEqual({ remaining: 1, seconds: 10 });
  expect(allowance('a')).toEqual({ remaining: 0, seconds: 10 });
  time = 9_500;
  expect(allowance('a')).toEqual({ remaining: -1, seconds: 1 });
  expect(allowance('b')).toEqual({ remaining: 1, seconds: 1 });
  time = 10_000;
  expect(allowance('a')).toEqual({ remaining: 1, seconds: 10 });
});

test('processes that answer at one address count their requests together', () => {
  const heard: { kind: string; add: (name: string, uses: number) => void }[] = [];
  const peersOf = (self: number): Peers => ({
    send: (kind, name) => heard.forEach((other, at) => at !== self && other.kind === kind && other.add(name, 1)),
    listen: (kind, add) => void heard.push({ kind, add }),
  });
  const [first, second, other] = ['failures', 'failures', 'reads'].map((kind, at) =>
    createAllowance(kind, { limit: 3, window: 10 }, { monotonic: () => 0, peers: peersOf(at) }),
  );
  expect([first!('a'), second!('a'), first!('a'), second!('a')].map(({ remaining }) => remaining)).toEqual([
    2, 1, 0, -1,
  ]);
  expect(second!('b').remaining).toBe(2);
  expect(other!('a').remaining).toBe(2);
});
