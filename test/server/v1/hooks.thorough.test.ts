import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { documentOf } from './api.ts';
import { secrets, open, push, send, published } from './hooks-world.ts';

const folder = new URL('../../../../shared/corpus/webhooks/', import.meta.url).pathname;
const isHere = existsSync(folder);
const where = isHere ? '' : ' (skipped: no ../shared/corpus)';

for (const [kind, secret] of Object.entries(secrets))
  process.env[`STELE_TEST_HOOK_${kind}`] = `${secret}\nthe-one-before`;

test('a large delivery is taken, as JSON and as a form', async () => {
  await using world = await open();
  const large = push.replace('{', `{"commits":[${'{"id":"a"},'.repeat(100_000)}{}],`);
  expect((await send(world.api, large)).json).toEqual({ repositories: 1 });
  const form = new URLSearchParams({ payload: large }).toString();
  const fields = { 'content-type': 'application/x-www-form-urlencoded' };
  expect((await send(world.api, form, fields)).json).toEqual({ repositories: 1 });
  expect((await send(world.api, large.slice(1))).status).toBe(400);
});

test('types, codings, sizes and methods that no hook has', async () => {
  await using world = await open();
  expect((await send(world.api, push, { 'content-type': 'text/plain' })).status).toBe(415);
  expect((await send(world.api, push, { 'content-encoding': 'gzip' })).status).toBe(415);
  expect((await send(world.api, 'x'.repeat(25 * 1024 * 1024 + 1))).status).toBe(413);
  const largest = `{"repository":{"full_name":"a/b"},"x":"${'x'.repeat(25 * 1024 * 1024 - 41)}"}`;
  expect(Buffer.byteLength(largest)).toBe(25 * 1024 * 1024);
  expect((await send(world.api, largest)).status).toBe(202);
  for (const method of ['GET', 'PUT', 'DELETE'])
    expect((await world.api.call(method, '/v1/hooks/github', { key: null })).status).toBe(405);
  for (const unknown of ['svn', 'gogs', 'constructor', '..%2fgithub', 'GitHub'])
    expect((await world.api.call('POST', `/v1/hooks/${unknown}`, { key: null, body: {} })).status, unknown).toBe(404);
  expect((await send(world.api, push, {}, '?connection=../..')).status).toBe(400);
});

test('genuine deliveries are never refused: at once, and after forged ones of the same address', async () => {
  await using world = await open({ rateLimit: { address: 5, key: 1_000_000, failures: 1_000_000 } });
  const genuine = async (count: number) => {
    const answers = await Promise.all(Array.from({ length: count }, () => send(world.api, push)));
    return answers.map(({ status }) => status);
  };
  expect(new Set(await genuine(200))).toEqual(new Set([202]));
  const forged: number[] = [];
  for (let count = 0; count < 8; count++)
    forged.push((await send(world.api, push, { 'x-hub-signature-256': 'sha256=0' })).status);
  expect(forged).toEqual([401, 401, 401, 401, 401, 429, 429, 429]);
  expect(new Set(await genuine(20))).toEqual(new Set([202]));
});

test('large forged deliveries that never end do not keep a genuine one waiting', async () => {
  await using world = await open({ proxies: 1 });
  const fields = ['Host: x', 'Content-Type: application/json', 'Content-Length: 20000000', 'Expect: 100-continue'];
  const head = ['POST /v1/hooks/github HTTP/1.1', ...fields].join('\r\n');
  const port = Number(new URL(world.api.url).port);
  const sockets = Array.from({ length: 8 }, () => connect(port, '127.0.0.1').on('error', () => undefined));
  const told: string[] = [];
  for (const socket of sockets) {
    socket.on('data', (text) => void told.push(String(text).slice(9, 12)));
    socket.write(`${head}\r\n\r\n`);
  }
  // Three are asked for their body: they have all places but the last, and send nothing.
  await expect.poll(() => told).toEqual(['100', '100', '100']);
  const large = push.replace('{', `{"x":"${'x'.repeat(2_000_000)}",`);
  const { status } = await send(world.api, large, { 'x-forwarded-for': '192.0.2.7' });
  // It did not wait until one of them was given up.
  expect([status, told]).toEqual([202, ['100', '100', '100']]);
  for (const socket of sockets) socket.destroy();
});

const { pick, all } = payloads();

/** GitHub's examples about the repository. */
function payloads() {
  const names = isHere ? readdirSync(join(folder, 'github')) : [];
  const read = (name: string) => ({
    event: name.split('.')[0]!,
    body: readFileSync(join(folder, 'github', name), 'utf8'),
  });
  const about = names.map(read).filter(({ body }) => body.includes('"full_name": "Codertocat/Hello-World"'));
  return { all: about, pick: (event: string) => about.find((each) => each.event === event)!.body };
}

test.skipIf(!isHere)(`real payloads: replayed, shuffled and lost, each commit is published once${where}`, async () => {
  await using world = await open();
  expect(all.length).toBeGreaterThan(80);
  const versions = ['1.0.0', '1.1.0', '1.2.0', '1.3.0'];
  const deliveries = [...all, ...all, ...all].map((delivery, index) => ({ delivery, place: (index * 7919) % 1009 }));
  const shuffled = deliveries.sort((a, b) => a.place - b.place).map(({ delivery }) => delivery);
  for (const [index, { event, body }] of shuffled.entries()) {
    const version = versions[Math.floor((index * versions.length) / shuffled.length)]!;
    const isNew =
      index === 0 || Math.floor(((index - 1) * versions.length) / shuffled.length) !== versions.indexOf(version);
    if (isNew) world.repository.commit({ 'pay.json': documentOf(version) });
    const { status } = await send(world.api, body, { 'x-github-event': event });
    expect([event, status]).toEqual([event, 202]);
    if (isNew) await send(world.api, pick('push'));
    if (isNew) await published(world.api, versions.indexOf(version) + 1);
  }
  // The hook of this commit is lost; that of the next brings what the branch has.
  world.repository.commit({ 'pay.json': documentOf('1.4.0') });
  world.repository.commit({ 'pay.json': documentOf('1.5.0') });
  await send(world.api, pick('push'));
  await published(world.api, 5);
  const labels = await published(world.api, 5);
  expect(labels.toSorted()).toEqual(['1.0.0', '1.1.0', '1.2.0', '1.3.0', '1.5.0']);
});

test.skipIf(!isHere)(`no URL of a payload is used${where}`, async () => {
  await using world = await open();
  world.repository.commit({ 'pay.json': documentOf('1.0.0') });
  const evil = pick('push').replaceAll(/"(?:https?|git|ssh):[^"]*"|"git@[^"]*"/g, '"https://evil.example/x.git"');
  expect(evil).toContain('evil.example');
  expect((await send(world.api, evil)).json).toEqual({ repositories: 1 });
  expect(await published(world.api, 1)).toEqual(['1.0.0']);
  expect(JSON.stringify(world.registry.logged)).not.toContain('evil.example');
});
