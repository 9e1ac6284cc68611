import { expect, test } from 'vitest';
import { createWebhook } from '../../src/events/endpoints.ts';
import { openDeliveries } from '../../src/events/deliveries.ts';
import type { Hint } from '../../src/hosts/host.ts';
import { createPulls } from '../../src/pulls/pulls.ts';
import { openFollower } from '../../src/sites/registry/publish-site.ts';
import { openRenderAhead } from '../../src/site/render-ahead.ts';
import { createSyncQueue } from '../../src/sync/queue.ts';
import { openReconciler } from '../../src/sync/reconcile.ts';
import { receiveHook } from '../../src/sync/receive-hook.ts';
import { createFakeHost, api, id, seven, url } from '../pulls/pulls-scene.ts';
import { createWorld } from '../registry/world.ts';
import { createAnswerCache } from '../../src/registry/answer-cache.ts';
import { newId } from '../../src/registry/registry.ts';
import { createMemoryBucket } from '../memory-store.ts';
import { createRefs } from '../../src/store/refs.ts';
import { createFaultyPorts, unheardDuring, type FaultyPorts } from './faulty-ports.ts';

/**
 * A registry at work: start, pushes, hooks, a pull request, checks again, deliveries, stop. Each call of each port
 * rejects in turn. Nothing is rejected that nobody hears, everything closes, and the next sync of the same process succeeds.
 */
const rulesets = 'https://git.test/acme/rules.git';
const pushed: Hint = { kind: 'push', repository: 'acme/apis' };
const opened: Hint = { kind: 'pull', repository: 'acme/apis', pull: seven, isOpen: true };
const repeated = (commit: string): Hint => ({ kind: 'again', repository: 'acme/apis', commit });

async function work(ports: FaultyPorts, begin: () => void): Promise<string | null> {
  const host = createFakeHost();
  host.open = [seven];
  const config = {
    organizations: { acme: { repositories: [{ url, credential: 'git' }, { url: rulesets }] } },
    credentials: { git: { env: 'NOT_READ', organizations: ['acme'] } },
    url: 'https://r.test',
    sync: { interval: 0 },
    webhooks: { allowPrivateAddresses: true },
  };
  const bucket = ports.bucket(createMemoryBucket());
  const { registry, source } = createWorld(config, bucket, [ports.host(host)]);
  // Each read asks the bucket, so that each can fail.
  const refs = createRefs(bucket, { ...registry, uniqueId: () => newId(registry), maxAge: 0 });
  Object.assign(registry, {
    refs,
    answers: createAnswerCache(refs),
    source: ports.source(source),
    compiler: ports.compiler(registry.compiler),
    cache: ports.cache(registry.cache),
  });
  const author = { actor: 'operator:test', origin: null };
  const endpoint = { url: 'http://127.0.0.1:9/', description: '', events: [], resources: [] };
  await createWebhook(registry, 'acme', endpoint as never, author).catch(() => null);
  source.push(url, { 'a.yaml': api('1.0.0') });
  source.push(rulesets, { 'style.yaml': 'rules: {}\nx-title: style\n' });
  begin();
  const queue = createSyncQueue(registry, createPulls);
  const background = [openRenderAhead(registry), openFollower(registry), openDeliveries(registry, 'https://r.test')];
  const reconciler = await openReconciler(registry, queue).catch(() => null);
  await reconciler?.first.catch(() => null);
  const hook = (hint: Hint) => receiveHook(registry, queue, host, hint, null).catch(() => 0);
  source.push(url, { 'a.yaml': api('2.0.0'), 'b.yaml': api('1.0.0').replace('Pay', 'Ship') });
  await hook(pushed);
  const head = source.push(url, { 'a.yaml': api('3.0.0') }, { branch: 'refs/pull/7/head' });
  await hook(opened);
  await hook(repeated(head));
  await queue.reconcileHosts([]).catch(() => null);
  // Until nothing runs any more: also what nobody waited for.
  await queue.close();
  await reconciler?.close();
  for (const each of background) await each.close();
  ports.failAt(null, false);
  if (!ports.hasFailed() && host.told.length === 0) return 'The pull request was not checked.';
  const next = createSyncQueue(registry, createPulls);
  // A server that could not start is started again.
  if (reconciler === null) await (await openReconciler(registry, next)).close();
  const { state, detail } = await next.request('acme', id, 'manual').then(({ done }) => done);
  await next.close();
  return state === 'succeeded' ? null : detail;
}

const step = 2;

test.each([false, true])('bug: %s', async (isBug) => {
  const ports = createFaultyPorts();
  // From another one for each kind, so that both together see more.
  for (let call = isBug ? 2 : 1; ; call += step) {
    let detail: string | null = null;
    const unheard = await unheardDuring(async () => {
      detail = await work(ports, () => ports.failAt(call, isBug));
    });
    expect({ call, unheard, detail }).toEqual({ call, unheard: [], detail: null });
    if (ports.hasFailed()) continue;
    expect(call).toBeGreaterThan(100);
    return;
  }
});
