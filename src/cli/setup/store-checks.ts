import type { Config } from '../../config.ts';
import { listWebhooks } from '../../events/endpoints.ts';
import { readHealth } from '../../events/endpoint-health.ts';
import { reachEndpoint } from '../../events/send-event.ts';
import { openBucket, openRegistry } from '../../open.ts';
import { missingDefaults } from '../../registry/gate/ruleset-gate.ts';
import { listOrganizations } from '../../registry/maintenance/organizations.ts';
import type { Registry } from '../../registry/registry.ts';
import { hasFormat } from '../../store/format.ts';
import { holdsStore } from '../command-context.ts';
import { ok, problem, reasonOf, warning, type Check } from './check.ts';

/** The store as `/readyz` checks it, the logs as the start does, and webhook endpoints. Writes nothing where there is no store yet. */
export async function checkStore(config: Config): Promise<Check[]> {
  const { store } = config;
  const place = store.kind === 'fs' ? store.path : `bucket ${store.bucket}`;
  const none = ok('store', `${place}: none yet. The first start makes it.`);
  try {
    if (store.kind === 'fs' && !(await holdsStore(store.path))) return [none];
    if (!(await hasFormat(await openBucket(store)))) return [none];
    const registry = await openRegistry(config, () => undefined);
    try {
      await registry.bucket.check();
      const parts = [await checkLogs(registry), await checkRulesets(registry), await checkWebhooks(registry)];
      return [ok('store', `${place} takes writes`), ...parts.flat()];
    } finally {
      await registry.close();
    }
  } catch (error) {
    return [problem('store', reasonOf(error), `Check ${place}: the account of the server must read and write it.`)];
  }
}

async function checkLogs({ refs }: Registry): Promise<Check[]> {
  await refs.examine();
  return refs
    .damages()
    .map(({ log }) => problem('log', `the log ${log} is damaged`, 'Run stele fsck, and repair it from a backup.'));
}

async function checkRulesets(registry: Registry): Promise<Check[]> {
  const missing = await missingDefaults(registry);
  return missing.map(({ org, detail }) =>
    problem(
      'ruleset',
      `default of @${org}: ${detail.replace(/\.$/, '')}`,
      'Until then, no API of it can be published.',
    ),
  );
}

async function checkWebhooks(registry: Registry): Promise<Check[]> {
  const organizations = await listOrganizations(registry);
  const all = (await Promise.all(organizations.map((org) => listWebhooks(registry, org)))).flat();
  const active = all.map(({ value }) => value).filter(({ state }) => state === 'enabled');
  return Promise.all(
    active.map(async (webhook) => {
      const name = `webhook ${webhook.id}`;
      const where = `@${webhook.org} ${new URL(webhook.url).origin}`;
      const advice = `Look at its deliveries: GET /v1/webhooks/${webhook.id}/deliveries.`;
      const fault = await reachEndpoint(registry, webhook.url);
      if (fault !== null) return warning(name, `${where}: ${fault}`, advice);
      const failingSince = (await readHealth(registry, webhook))?.value.failingSince ?? null;
      return failingSince === null
        ? ok(name, `${where} accepts connections`)
        : warning(name, `${where}: deliveries fail since ${failingSince}`, advice);
    }),
  );
}
