import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Webhook as Verifier } from 'standardwebhooks';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { runHere } from '../cli/in-process.ts';
import { openReceiver, type Receiver } from '../servers/receiver.ts';
import { runStele, serveStele, type Serving } from './stele.ts';

/** Events through the front door: the real command, a real receiver, and restarts between. */

let folder: string;
let receiver: Receiver;
let running: Serving | null = null;
let args: string[];
const env = { STELE_TEST_KEY: 'a secret key of more than 32 characters' };

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stele-events-'));
  receiver = await openReceiver();
  const config = { webhooks: { allowPrivateAddresses: true }, secretKey: { env: 'STELE_TEST_KEY' } };
  await writeFile(join(folder, 'registry.config.ts'), `export default ${JSON.stringify(config)};`);
  args = ['--config', join(folder, 'registry.config.ts'), '--data', join(folder, 'data')];
});

afterEach(async () => {
  await running?.stop('SIGKILL').catch(() => null);
  running = null;
  await receiver[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

async function serve(): Promise<Serving> {
  running = await serveStele(args, { cwd: folder, env });
  return running;
}

async function publishFile(version: string, ...more: string[]): Promise<void> {
  const file = join(folder, 'pay.yaml');
  await writeFile(file, `openapi: 3.1.0\ninfo: {title: Pay, version: "${version}"}\npaths: {}\n`);
  const { code, stderr } = await runHere(['publish', file, '@acme/apis/pay', ...more, ...args], { cwd: folder, env });
  expect({ code, stderr }).toMatchObject({ code: 0 });
}

test(`an endpoint gets what is published over HTTP, beside the server, and before a crash; its log and redelivery`, async () => {
  const made = await runHere(['keys', 'create', '--org', 'acme', '--name', 'ci', '--scope', 'admin', ...args], {
    cwd: folder,
    env,
  });
  const key = made.stdout.trim();
  let stele = await serve();
  const ask = async (method: string, path: string, body?: object) => {
    const response = await fetch(stele.url + path, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    return { status: response.status, json: (await response.json()) as Record<string, unknown> };
  };
  const created = await ask('POST', '/v1/webhooks', { url: receiver.url, events: ['version.published'] });
  expect(created.status).toBe(201);
  const { id, secret } = created.json as { id: string; secret: string };

  await ask('POST', '/v1/apis', { name: 'Pay', slug: 'pay' });
  const document = { openapi: '3.1.0', info: { title: 'Pay', version: '1.0.0' }, paths: {} };
  expect((await ask('POST', '/v1/apis/pay/spec', { document })).status).toBe(201);
  const [first] = await receiver.got(1);
  const verified = new Verifier(secret).verify(first!.body, first!.headers as Record<string, string>);
  expect(verified).toMatchObject({
    source: `${stele.url}/@acme`,
    type: 'dev.stele.version.published',
    data: { version: '1.0.0', url: `${stele.url}/@acme/apis/pay@1.0.0` },
  });

  const path = `/v1/webhooks/${id}`;
  const states = async () => {
    const { items } = (await ask('GET', `${path}/deliveries`)).json as { items: { state: string }[] };
    return items.map(({ state }) => state);
  };
  await expect.poll(states).toEqual(['delivered']);

  // Killed, and something is published meanwhile: the next process finds it.
  await stele.stop('SIGKILL');
  await publishFile('1.1.0');
  stele = await serve();
  await receiver.got(2);
  expect(receiver.received[1]!.event.subject).toBe('@acme/apis/pay@1.1.0');

  await expect.poll(states).toEqual(['delivered', 'delivered']);
  const again = await ask('POST', `${path}/deliveries/${first!.event.id}/redeliver`);
  expect(again.status).toBe(202);
  await receiver.got(3);
  expect(receiver.received[2]!.event).toEqual(first!.event);
  expect(await stele.stop()).toBe(0);
});

test('a secretKey that cannot be used is reported at the start', async () => {
  const ended = await runStele(['serve', '--port', '0', ...args], { cwd: folder, env: { STELE_TEST_KEY: 'short' } });
  expect(ended.code).toBe(2);
  expect(ended.stderr).toContain('Each line of secretKey must have at least 32 characters.');
});
