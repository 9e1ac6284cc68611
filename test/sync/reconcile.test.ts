import { expect, test } from 'vitest';
import { repositoryId } from '../../src/model/connection.ts';
import { createPulls } from '../../src/pulls/pulls.ts';
import { createSyncQueue } from '../../src/sync/queue.ts';
import { followRulesets } from '../../src/sync/follow-rulesets.ts';
import { openReconciler } from '../../src/sync/reconcile.ts';
import { listReadable } from '../../src/registry/readable.ts';
import { createWorld } from '../registry/world.ts';

const operator = { kind: 'operator', id: 'test' } as const;

function api(version: string): string {
  return `openapi: 3.1.0\ninfo: {title: Quick, version: "${version}"}\n`;
}

test('a repository that has become slow keeps no other from being looked at by the timer', async () => {
  const slow = 'https://git.test/slow';
  const quick = 'https://git.test/quick';
  const { registry, source } = createWorld({
    organizations: { one: { repositories: [{ url: slow }] }, two: { repositories: [{ url: quick }] } },
    sync: { interval: 0.02 },
  });
  source.push(slow, {});
  source.push(quick, { 'a.yaml': api('1.0.0') });
  const queue = createSyncQueue(registry, createPulls);
  const reconciler = await openReconciler(registry, queue);
  await reconciler.first;
  const { tip } = source;
  source.tip = (remote, signal) =>
    remote.url === slow
      ? new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(new Error('Stopped.'))))
      : tip(remote, signal);
  source.push(quick, { 'a.yaml': api('2.0.0') });
  await expect.poll(async () => (await listReadable(registry, operator, { org: 'two' }))[0]?.latest).toBe('2.0.0');
  source.push(quick, { 'a.yaml': api('3.0.0') });
  await expect.poll(async () => (await listReadable(registry, operator, { org: 'two' }))[0]?.latest).toBe('3.0.0');
  await Promise.all([queue.close(), reconciler.close()]);
});

test('a ruleset that appears or changes checks again at once what was rejected for it', async () => {
  const apis = 'https://git.test/apis';
  const rules = 'https://git.test/rules';
  const { registry, source } = createWorld({
    organizations: {
      one: { repositories: [{ url: apis }, { url: rules }], defaults: { ruleset: '@one/rulesets/style' } },
    },
    sync: { interval: 0 },
  });
  source.push(apis, { 'a.yaml': `${api('1.0.0')}ok: true\n` });
  source.push(rules, {});
  const queue = createSyncQueue(registry, createPulls);
  const reconciler = await openReconciler(registry, queue);
  await reconciler.first;
  const published = async () =>
    (await listReadable(registry, operator, { org: 'one' })).map(({ type, latest }) => `${type} ${latest}`);
  expect(await published()).toEqual([]);
  source.push(rules, { 'style.yaml': 'rules: {}\nx-title: style\n' });
  await (
    await queue.request('one', repositoryId(rules, null), 'hook')
  ).done;
  await expect.poll(published).toEqual(expect.arrayContaining(['apis 1.0.0']));
  await Promise.all([queue.close(), reconciler.close()]);
});

test('a ruleset that another process changes checks again what was rejected for it', async () => {
  const apis = 'https://git.test/apis';
  const rules = 'https://git.test/rules';
  const { registry, source, another, pass } = createWorld({
    organizations: {
      one: { repositories: [{ url: apis }, { url: rules }], defaults: { ruleset: '@one/rulesets/style' } },
    },
    sync: { interval: 0 },
  });
  source.push(apis, { 'a.yaml': `${api('1.0.0')}ok: true\n` });
  source.push(rules, {});
  const queue = createSyncQueue(registry, createPulls);
  const reconciler = await openReconciler(registry, queue);
  await reconciler.first;
  const rulesets = followRulesets(registry, queue, 5);
  source.push(rules, { 'style.yaml': 'rules: {}\nx-title: style\n' });
  const other = createSyncQueue(another(), createPulls);
  await (
    await other.request('one', repositoryId(rules, null), 'hook')
  ).done;
  const published = async () => {
    pass(1_000);
    return (await listReadable(registry, operator, { org: 'one' })).map(({ type, latest }) => `${type} ${latest}`);
  };
  await expect.poll(published).toEqual(expect.arrayContaining(['apis 1.0.0']));
  await Promise.all([rulesets.close(), other.close(), queue.close(), reconciler.close()]);
});
