import { createHmac } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { isHmacOf } from '../../../src/hosts/payload.ts';
import { outlineJson } from '../../../src/server/body/body-thread.ts';

const long = 'x'.repeat(1_200_000);

/** The outline of a JSON text, parsed. */
async function outlineOf(text: string | Uint8Array<ArrayBuffer>, isForm = false): Promise<unknown> {
  const bytes = typeof text === 'string' ? new TextEncoder().encode(text) : text;
  return JSON.parse(Buffer.from(await outlineJson(bytes, isForm)).toString());
}

/** The most milliseconds of processor time that this thread takes between two ticks of a timer, while the work is done. */
async function longestTurn(work: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let isOver = false;
  const watch = async () => {
    for (let before = process.threadCpuUsage(); !isOver;) {
      await wait(1);
      const now = process.threadCpuUsage();
      longest = Math.max(longest, (now.user + now.system - before.user - before.system) / 1000);
      before = now;
    }
  };
  const watching = watch();
  await work();
  isOver = true;
  await watching;
  return longest;
}

test('a payload of 12 MB is checked and parsed without a long turn of the event loop', async () => {
  const text = `{"repository":{"full_name":"acme/pay"},"files":[${'"src/a/b",'.repeat(900_000)}""]}`;
  const sent = Buffer.from(text.padEnd(12 * 1024 * 1024));
  const secrets = ['one', 'two'];
  const signature = createHmac('sha256', 'two').update(sent).digest('hex');
  let longest = Infinity;
  // A turn may also have to collect the garbage of other tests.
  for (let tries = 0; tries < 3 && longest >= 100; tries++) {
    const body = new Uint8Array(sent);
    longest = await longestTurn(async () => {
      expect(await isHmacOf(signature, body, secrets)).toBe(true);
      const found = await outlineOf(body);
      expect(found).toEqual({ repository: { full_name: 'acme/pay' }, files: Array(10).fill('src/a/b') });
    });
  }
  expect(longest).toBeLessThan(100);
});

test('others get their turn while a large body is hashed', async () => {
  let turns = 0;
  let isOver = false;
  const tick = (): void => {
    turns++;
    if (!isOver) setImmediate(tick);
  };
  setImmediate(tick);
  await isHmacOf('0'.repeat(64), new Uint8Array(4 * 1024 * 1024), ['one']);
  isOver = true;
  expect(turns).toBeGreaterThan(2);
});

test('of a large text, long lists, long texts and deep values are left out', async () => {
  const deep = `${'{"a":'.repeat(20)}1${'}'.repeat(20)}`;
  const found = await outlineOf(
    `{"number":7,"base":{"ref":"main"},"__proto__":{"b":1},"text":"${long}","deep":${deep}}`,
  );
  expect(JSON.stringify(found)).toBe(
    '{"number":7,"base":{"ref":"main"},"__proto__":{"b":1},"text":"","deep":{"a":{"a":{"a":{"a":{"a":{"a":{"a":null}}}}}}}}',
  );
});

test('a large form is read by its field payload', async () => {
  const payload = JSON.stringify({ ref: 'a+b&c', text: long });
  const form = new URLSearchParams({ other: '1', payload }).toString();
  expect(await outlineOf(form, true)).toEqual({ ref: 'a+b&c', text: '' });
});

test('a small text is returned as it is', async () => {
  const bytes = new Uint8Array(Buffer.from('{"a":'));
  expect(await outlineJson(bytes, false)).toBe(bytes);
});

test.each([
  ['not JSON', `{"a":"${long}"`, 'malformed'],
  ['not UTF-8', Buffer.concat([Buffer.from(`"${long}`), Buffer.from([0xff, 0x22])]), 'malformed'],
  ['of millions of values', `[${'[],'.repeat(2_000_000)}0]`, 'too_large'],
  ['a form without a payload', `other=${long}`, 'malformed'],
])('a large text that is %s is refused', async (why, text, code) => {
  await expect(outlineOf(new Uint8Array(Buffer.from(text)), why.includes('form'))).rejects.toMatchObject({ code });
});
