import type { UserConfig } from '../../src/config.ts';
import { digestOf } from '../../src/model/digest.ts';
import { createKey, revokeKey } from '../../src/registry/keys/keys.ts';
import { createResource } from '../../src/registry/change-resource.ts';
import { createApp } from '../../src/server/app.ts';
import { listen } from '../../src/server/listen.ts';
import type { FaultyPorts } from '../faults/faulty-ports.ts';
import {
  createTestQueue,
  createTestRegistry,
  publishVersion,
  setStatus,
  toYaml,
  type TestRegistry,
} from './registry.ts';

/** A registry with something of everything, served. */
export interface Served extends AsyncDisposable {
  registry: TestRegistry;
  port: number;
  /** What scripts name: keys, digests. */
  values: Record<string, string>;
  setReady(isReady: boolean): void;
}

const author = { actor: 'operator:test', origin: null };
const when = '2026-03-01T12:00:00.000Z';

/** Under `url` (`http://registry.test`): the API pay in every state, a private one, one without versions, a schema, a ruleset. */
export async function openServed(
  user: UserConfig = {},
  { url = 'http://registry.test', ports, ...more }: { url?: string; pagePatience?: number; ports?: FaultyPorts } = {},
): Promise<Served> {
  const registry = createTestRegistry(user, ports);
  const values: Record<string, string> = {};
  await publishEverything(registry, values);
  await makeKeys(registry, values);
  let isReady = true;
  const queue = createTestQueue(registry);
  const app = createApp({ registry, queue, url, isReady: () => isReady, ...more });
  const listening = await listen(app, { host: '127.0.0.1', port: 0 });
  return {
    registry,
    port: listening.port,
    values,
    setReady: (ready) => void (isReady = ready),
    [Symbol.asyncDispose]: () => listening.close(1000),
  };
}

async function publishEverything(registry: TestRegistry, values: Record<string, string>): Promise<void> {
  const pay = '@acme/apis/pay';
  for (const label of ['1.0.0', '1.0.0+abc', '1.0.1', '1.0.2', '1.0.3']) await publishVersion(registry, pay, label);
  const { version, text } = await publishVersion(registry, pay, '1.1.0', { document: { tags: 'x'.repeat(2000) } });
  await publishVersion(registry, pay, '2.0.0-beta.1');
  values['json'] = `"${digestOf(text)}"`;
  values['yaml'] = `"${digestOf(toYaml(JSON.parse(text) as object))}"`;
  values['size'] = String(Buffer.byteLength(text));
  values['manifest'] = version.manifest;
  const sunset = '2027-01-01T00:00:00.000Z';
  await setStatus(registry, pay, '1.0.1', {
    state: 'deprecated',
    reason: 'old',
    replacement: '1.1.0',
    sunset,
    since: when,
  });
  await setStatus(registry, pay, '1.0.2', { state: 'yanked', reason: 'broken', since: when });
  await setStatus(registry, pay, '1.0.3', { state: 'withdrawn', reason: 'leaked a name', since: when });
  await publishVersion(registry, '@acme/apis/secret', '1.0.0', { visibility: 'private' });
  await publishVersion(registry, '@acme/apis/secret', '1.0.3', { visibility: 'private' });
  await setStatus(registry, '@acme/apis/secret', '1.0.3', { state: 'withdrawn', reason: 'hush', since: when });
  await publishVersion(registry, '@acme/schemas/order', '1.0.0');
  await publishVersion(registry, '@acme/rulesets/style', '1.0.0');
  await publishVersion(registry, '@hidden/apis/plan', '1.0.0', { visibility: 'private' });
  const empty = { org: 'acme', type: 'apis', slug: 'empty' } as const;
  await createResource(registry, empty, { name: 'Empty', visibility: 'public' }, author);
}

async function makeKeys(registry: TestRegistry, values: Record<string, string>): Promise<void> {
  const make = (org: string, more: object = {}) =>
    createKey(registry, { org, name: 'test', scopes: ['read'], ...more }, author);
  values['acme'] = (await make('acme')).text;
  values['narrow'] = (await make('acme', { resources: ['apis/pay*'] })).text;
  values['other'] = (await make('other')).text;
  values['expired'] = (await make('acme', { expiresAt: '2020-01-01T00:00:00.000Z' })).text;
  const revoked = await make('acme');
  await revokeKey(registry, 'acme', revoked.key.id, author);
  values['revoked'] = revoked.text;
  values['basic'] = Buffer.from(`anybody:${values['acme']}`).toString('base64');
  values['unbasic'] = Buffer.from(`anybody:${values['revoked']}`).toString('base64');
}
